#include "app/payload_samples.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/line_reader.h"
#include "app/query_range.h"

namespace hourfold {
namespace {

constexpr std::string_view kWhatToDo =
    "a sample is missing. Name a file with one record, pipe one in, or read the topic:\n"
    "  hourfold payload try sample.json\n"
    "  mosquitto_sub -t 'sensors/#' -C 1 | hourfold payload try\n"
    "  hourfold payload try --last 5 --set kafka.brokers=localhost:9092 --set kafka.topics=telemetry";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> bytes_of_hex(std::string_view text, const std::string& name) {
  std::string bytes;
  int high = -1;
  for (const char c : text) {
    if (is_space(c)) continue;
    const int digit = digit_of(c);
    if (digit < 0) return refused(name + ": --hex wants hexadecimal digits alone, and there is '" + c + "'");
    if (high >= 0) bytes += static_cast<char>(high * 16 + digit);
    high = high >= 0 ? -1 : digit;
  }
  if (high >= 0) return refused(name + ": --hex wants two digits a byte, and one is left over");
  return bytes;
}

// What the options say of every record.
Result<RecordCopy> record_of(const PayloadTryOptions& options) {
  RecordCopy record;
  record.key = options.key;
  for (const std::string& header : options.headers) {
    const std::size_t equals = header.find('=');
    record.headers.push_back({header.substr(0, equals), header.substr(equals + 1)});
  }
  if (options.arrival.empty()) return record;
  using namespace std::chrono;
  const EpochMs now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  const auto arrival = parse_named_time(options.arrival, now);
  if (!arrival) return refused("--arrival: " + arrival.error().message);
  record.timestamp_ms = arrival->begin;
  return record;
}

Result<void> add_sample(const std::string& name, std::string_view text, bool hex, const RecordCopy& common,
                        std::vector<PayloadSample>& out) {
  PayloadSample sample{name, common};
  sample.record.value = std::string(text);
  if (hex) {
    auto bytes = bytes_of_hex(text, name);
    if (!bytes) return bytes.error();
    sample.record.value = std::move(*bytes);
  }
  out.push_back(std::move(sample));
  return {};
}

Result<void> add_lines(LineReader& reader, bool hex, const RecordCopy& common,
                       std::vector<PayloadSample>& out) {
  for (std::string_view line;;) {
    const auto more = reader.next(line);
    if (!more) return more.error();
    if (!*more) return {};
    if (std::all_of(line.begin(), line.end(), is_space)) continue;
    const std::string name = reader.name() + ", line " + std::to_string(reader.line_number());
    if (auto added = add_sample(name, line, hex, common, out); !added) return added;
  }
}

Result<void> add_file(const std::string& file, const PayloadTryOptions& options, const RecordCopy& common,
                      std::vector<PayloadSample>& out) {
  auto reader = LineReader::open(file);
  if (!reader) return reader.error();
  if (options.lines) return add_lines(*reader, options.hex, common, out);
  // Not by lines: a binary value may end in the byte of a newline.
  std::ifstream in(file == "-" ? "/dev/stdin" : file, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  return add_sample(reader->name(), whole, options.hex, common, out);
}

}  // namespace

Result<std::vector<PayloadSample>> samples_of_files(const PayloadTryOptions& options) {
  std::vector<std::string> files = options.samples;
  if (files.empty()) files.emplace_back("-");
  const bool from_terminal =
      std::find(files.begin(), files.end(), "-") != files.end() && ::isatty(STDIN_FILENO);
  if (from_terminal && options.samples.empty()) return refused(std::string(kWhatToDo));
  const auto common = record_of(options);
  if (!common) return common.error();
  std::vector<PayloadSample> samples;
  for (const std::string& file : files) {
    if (auto added = add_file(file, options, *common, samples); !added) return added.error();
  }
  if (samples.empty()) return refused("there is no line in the sample that is not blank");
  return samples;
}

}  // namespace hourfold
