#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.h"
#include "app/load_config.h"
#include "app/open_schemas.h"
#include "app/output.h"
#include "app/payload_print.h"
#include "app/payload_report.h"
#include "app/payload_samples.h"
#include "app/terminal.h"
#include "payload/avro_sample.h"
#include "payload/framed_parser.h"
#include "payload/propose.h"

namespace hourfold {
namespace {

constexpr std::size_t kWidestText = 110;

EpochMs now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

bool of_topic(const PayloadTryOptions& options) { return options.first > 0 || options.last > 0; }

std::optional<Error> check(const PayloadTryOptions& options) {
  if (options.first > 0 && options.last > 0) return refused("--first and --last exclude each other");
  const bool about_samples = !options.samples.empty() || options.lines || options.hex ||
                             options.key.has_value() || !options.headers.empty() || !options.arrival.empty();
  if (of_topic(options) && about_samples)
    return refused(
        std::string(options.last > 0 ? "--last" : "--first") +
        " reads records of the topic, which have their own key, headers and time; a SAMPLE, --lines, --hex, "
        "--key, --header and --arrival do not go with it");
  return std::nullopt;
}

// Whether somebody said how readings look.
bool says_reading(const PayloadTryOptions& options) {
  if (options.propose) return false;
  if (!options.config.file.empty()) return true;
  return std::any_of(
      options.config.overrides.begin(), options.config.overrides.end(),
      [](const std::string& text) { return text.starts_with("reading.") || text.starts_with("reading="); });
}

class Try {
 public:
  Try(const PayloadTryOptions& options, Config config, std::vector<PayloadSample> samples)
      : json_(options.format == "json"),
        given_(says_reading(options)),
        of_topic_(of_topic(options)),
        config_(std::move(config)),
        samples_(std::move(samples)) {
    style_.width = std::min(terminal_width(), kWidestText);
    style_.colour = has_colour();
  }

  int run() {
    if (const auto code = get_schemas()) return *code;
    if (given_) return show(nullptr);
    const ReadingShape asked = config_.reading.shape;
    const std::vector<RecordCopy> records = records_to_look_at();
    const Proposals proposals = propose(records);
    if (proposals.foreign) return refuse(*proposals.foreign);
    if (proposals.ranked.empty()) return show(nullptr);
    const Recognised recognised = recognise(proposals, records);
    config_.reading.shape = proposals.ranked.front().shape;
    if (schemas_) config_.reading.shape = avro_shape_of(config_.reading.shape, asked);
    return proposals.ranked.front().needs_schemas ? ask_for_schemas(recognised) : show(&recognised);
  }

 private:
  // Where the configuration is of Avro: what the sample needs, or the exit code.
  std::optional<int> get_schemas() {
    const ReadingShape& shape = config_.reading.shape;
    auto opened = open_schemas(shape, [](char, const std::string& text) { print_error(text); });
    if (!opened) {
      print_error(opened.error().message);
      return kExitUsage;
    }
    schemas_ = std::move(*opened);
    std::vector<std::int32_t> ids;
    for (const PayloadSample& sample : samples_) {
      const auto id = sample.record.value ? framed_schema_id(*sample.record.value) : std::nullopt;
      if (id) ids.push_back(*id);
    }
    auto known = wait_for_schemas(schemas_.get(), ids, [] { return false; });
    if (known) return std::nullopt;
    print_error(known.error().message);
    return kExitService;
  }

  // The samples; in JSON, where they are Avro.
  std::vector<RecordCopy> records_to_look_at() const {
    std::vector<RecordCopy> records;
    for (const PayloadSample& sample : samples_) {
      if (!schemas_) {
        records.push_back(sample.record);
      } else if (auto json = avro_sample_as_json(sample.record, config_.reading.shape, *schemas_)) {
        records.push_back(std::move(*json));
      }
    }
    return records;
  }

  int print(const std::string& text, int code) const {
    TextOutput out(STDOUT_FILENO);
    out.write(text);
    return out.finish() ? code : kExitService;
  }

  int refuse(const ForeignSample& foreign) const {
    return print(json_ ? payload_json({nullptr, &foreign, nullptr, nullptr}) : foreign_text(foreign, style_),
                 kExitCheckFailed);
  }

  int ask_for_schemas(const Recognised& recognised) const {
    const ReadingShape& shape = config_.reading.shape;
    if (json_) return print(payload_json({&recognised, nullptr, &shape, nullptr}), kExitCheckFailed);
    return print(
        proposal_text(recognised, shape, style_) +
            "\nPut the address of your registry in. The fields are named by the schema; device, time and "
            "metrics\nare set as for JSON: with -c FILE and --propose they are looked for, too.\n",
        kExitCheckFailed);
  }

  // recognised: null if nothing was proposed.
  int show(const Recognised* recognised) const {
    const PayloadReport report = report_of(config_, samples_, now_ms(), schemas_.get());
    const int code = report.folded == report.readings ? kExitDone : kExitCheckFailed;
    const ReadingShape& shape = config_.reading.shape;
    if (json_) return print(payload_json({recognised, nullptr, &shape, &report}), code);
    std::string text;
    if (recognised != nullptr) {
      text += proposal_text(*recognised, shape, style_) + "\n";
      if (!recognised->notes.empty()) text += notes_text(recognised->notes, style_) + "\n";
      text += std::string("What it makes of the ") + (of_topic_ ? "records" : "sample") + ":\n\n";
    } else if (!given_ && report.readings > 0) {
      text += "No configuration was found that reads this. With the defaults:\n\n";
    }
    text += report_text(report, style_);
    if (given_ && report.malformed > 0) text += "Add --propose to look for a section that reads more.\n";
    return print(text, code);
  }

  const bool json_;
  const bool given_;
  const bool of_topic_;
  Config config_;
  const std::vector<PayloadSample> samples_;
  PrintStyle style_;
  std::unique_ptr<AvroSchemas> schemas_;  // null: not Avro
};

}  // namespace

int payload_try_command(const PayloadTryOptions& options) {
  if (const auto wrong = check(options)) {
    print_error(wrong->message);
    return kExitUsage;
  }
  auto config = load_config(options.config, of_topic(options) ? NeedsKafka::kYes : NeedsKafka::kNo);
  if (!config) return kExitUsage;
  auto samples = of_topic(options) ? samples_of_topic(options, *config) : samples_of_files(options);
  if (!samples) {
    print_error(samples.error().message);
    return samples.error().retryable() ? kExitService : kExitUsage;
  }
  if (samples->empty()) {
    print_error("the topic " + config->kafka.topics.front() + " has no records");
    return kExitCheckFailed;
  }
  return Try(options, std::move(*config), std::move(*samples)).run();
}

}  // namespace hourfold
