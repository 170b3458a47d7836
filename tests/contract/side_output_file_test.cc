#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "contract/side_output_contract.h"
#include "embedded/file_side_output.h"
#include "ports/side_router.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hourfold-side-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::optional<std::string> unbase64(const nlohmann::json& text) {
  if (text.is_null()) return std::nullopt;
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.get<std::string>()) {
    if (c == '=') break;
    bits = bits << 6U | static_cast<std::uint32_t>(alphabet.find(c));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> static_cast<unsigned>(count -= 8) & 255U);
  }
  return bytes;
}

std::vector<SideRecord> read_file(const std::string& path, SideChannel channel) {
  std::vector<SideRecord> records;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    const auto line = nlohmann::json::parse(text, nullptr, false);
    if (line.is_discarded()) continue;
    SideRecord record;
    CHECK(line["channel"] == to_string(channel));
    record.channel = channel;
    record.reason = line["reason"];
    record.detail = line["detail"];
    record.topic = line["topic"];
    record.partition = {line["partition"]};
    record.position = {{line["offset"]}, line["index"]};
    record.timestamp_ms = line["timestamp"].is_null() ? -1 : line["timestamp"].get<EpochMs>();
    record.key = unbase64(line["key"]);
    record.value = unbase64(line["value"]);
    for (const auto& header : line["headers"])
      record.headers.push_back({header["name"], unbase64(header["value"])});
    records.push_back(std::move(record));
  }
  return records;
}

std::string file_name(SideChannel channel) { return std::string(to_string(channel)) + "-telemetry-3.jsonl"; }

}  // namespace

TEST_CASE("side files keep the contract") {
  const Folder folder;
  const auto outputs = make_file_side_outputs(folder.path("a/b"));
  side_output_contract(*outputs, [&](SideChannel channel) {
    return read_file(folder.path("a/b/") + file_name(channel), channel);
  });
}

TEST_CASE("a router sends each channel to its own outputs") {
  const Folder folder;
  const std::shared_ptr<SideOutputs> one = make_file_side_outputs(folder.path("one"));
  const std::shared_ptr<SideOutputs> other = make_file_side_outputs(folder.path("other"));
  SideRouter router({one, other, one});
  side_output_contract(router, [&](SideChannel channel) {
    const auto name = channel == SideChannel::kQuarantine ? "other/" : "one/";
    return read_file(folder.path(name) + file_name(channel), channel);
  });
}

TEST_CASE("a side file that a crash cut off goes on in a new line") {
  const Folder folder;
  const auto outputs = make_file_side_outputs(folder.path(""));
  REQUIRE(outputs->check().has_value());
  const auto path = folder.path(file_name(SideChannel::kArchive));
  std::ofstream(path) << "{\"channel\":\"arch";
  auto record = side_record(SideChannel::kArchive, 7, 0);
  record.reason = "not \xff utf-8";
  record.timestamp_ms = -1;
  REQUIRE(send_all(*outputs->open({3}), {record}));
  REQUIRE(send_all(*outputs->open({3}), {side_record(SideChannel::kArchive, 8, 0)}));
  const auto found = read_file(path, SideChannel::kArchive);
  REQUIRE(found.size() == 2);
  CHECK(found[0].position == record.position);
  CHECK(found[0].timestamp_ms == -1);
  CHECK(found[0].reason == "not \xef\xbf\xbd utf-8");
}

TEST_CASE("a side file that cannot be written to: check() tells, and records are to be sent again") {
  const Folder folder;
  std::ofstream(folder.path("taken")) << "a file, not a folder";
  const auto outputs = make_file_side_outputs(folder.path("taken"));
  const auto checked = outputs->check();
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().kind == ErrorKind::kUnavailable);
  CHECK(checked.error().message.find("taken") != std::string::npos);
  const auto output = outputs->open({3});
  REQUIRE(output->send(side_record(SideChannel::kArchive, 7, 2)).has_value());
  SideOutcomes outcomes;
  output->take_outcomes(outcomes);
  CHECK(outcomes.acknowledged.empty());
  REQUIRE(outcomes.failed.size() == 1);
  CHECK(outcomes.failed[0] == Position{{7}, 2});
}
