// What every kind of side output must do. Each kind's own test gives the outputs and a way to read back what
// was written.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ports/side_output.h"

namespace hourfold::test {

inline SideRecord side_record(SideChannel channel, std::int64_t offset, std::uint32_t index) {
  SideRecord record;
  record.channel = channel;
  record.reason = "clock_in_future";
  record.detail = "event 9 after arrival 1";
  record.topic = "telemetry";
  record.partition = {3};
  record.position = {{offset}, index};
  record.timestamp_ms = 1'767'225'600'123;
  record.key = "dev-" + std::to_string(offset);
  record.value = "{\"device\":\"dev\",\"ts\":9}";
  return record;
}

// Sends, offering again what had no room or failed, until all are acknowledged. False: not within half a
// minute.
inline bool send_all(SideOutput& output, const std::vector<SideRecord>& records) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::vector<SideRecord> todo = records;
  SideOutcomes outcomes;
  auto& acknowledged = outcomes.acknowledged;
  while (acknowledged.size() < records.size() && std::chrono::steady_clock::now() < deadline) {
    std::vector<SideRecord> later;
    for (const auto& record : todo)
      if (!output.send(record)) later.push_back(record);
    output.take_outcomes(outcomes);
    for (const auto& position : std::exchange(outcomes.failed, {}))
      later.push_back(*std::ranges::find(records, position, &SideRecord::position));
    todo = std::move(later);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::ranges::sort(acknowledged);
  std::vector<Position> sent;
  for (const auto& record : records) sent.push_back(record.position);
  std::ranges::sort(sent);
  return acknowledged == sent;
}

inline void check_same(const SideRecord& found, const SideRecord& sent) {
  CHECK(found.channel == sent.channel);
  CHECK(found.reason == sent.reason);
  CHECK(found.detail == sent.detail);
  CHECK(found.topic == sent.topic);
  CHECK(found.partition == sent.partition);
  CHECK(found.position == sent.position);
  CHECK(found.timestamp_ms == sent.timestamp_ms);
  CHECK(found.key == sent.key);
  CHECK(found.value == sent.value);
  REQUIRE(found.headers.size() == sent.headers.size());
  for (std::size_t i = 0; i < sent.headers.size(); ++i) {
    CHECK(found.headers[i].name == sent.headers[i].name);
    CHECK(found.headers[i].value == sent.headers[i].value);
  }
}

// read_back: all records of the channel, in any order, their headers without those that the output adds.
inline void side_output_contract(SideOutputs& outputs,
                                 const std::function<std::vector<SideRecord>(SideChannel)>& read_back) {
  REQUIRE(outputs.check().has_value());
  const auto output = outputs.open({3});

  std::vector<SideRecord> sent;
  for (const auto channel : {SideChannel::kDeadLetter, SideChannel::kQuarantine, SideChannel::kArchive})
    for (std::int64_t i = 0; i < 200; ++i)
      sent.push_back(side_record(channel, 1'000 * static_cast<std::int64_t>(channel) + i,
                                 static_cast<std::uint32_t>(i % 3)));
  sent[0].headers = {
      {"trace", "1"}, {"trace", std::nullopt}, {"bytes", std::string("\0\xff\n", 3)}, {"", ""}};
  sent[1].key = std::nullopt;
  sent[2].value = std::nullopt;
  sent[3].value = "";
  sent[3].key = "";
  sent[4].value = std::string("\0\xff\"\\\n\r", 6);
  sent[5].detail = "";
  sent[6].value = std::string(300'000, 'x');
  REQUIRE(send_all(*output, sent));

  SideOutcomes again;
  output->take_outcomes(again);
  CHECK(again.acknowledged.empty());  // each outcome is told once
  CHECK(again.failed.empty());
  CHECK(again.refused.empty());

  std::vector<SideRecord> found;
  for (const auto channel : {SideChannel::kDeadLetter, SideChannel::kQuarantine, SideChannel::kArchive})
    for (auto& record : read_back(channel)) found.push_back(std::move(record));
  const auto by_position = [](const SideRecord& a, const SideRecord& b) { return a.position < b.position; };
  std::ranges::sort(found, by_position);
  std::ranges::sort(sent, by_position);
  REQUIRE(found.size() == sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) check_same(found[i], sent[i]);
}

}  // namespace hourfold::test
