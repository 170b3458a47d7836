#include "payload/try_parse.h"

#include "payload/payload_parser.h"
#include "payload/plausible_time.h"

namespace hourfold {

Tried try_parse(const ReadingShape& shape, std::span<const RecordCopy> records) {
  constexpr EpochMs kSomeTime = 1'767'225'600'000;
  Tried tried;
  const auto parser = make_payload_parser(shape);
  for (const RecordCopy& record : records) {
    if (!record.value) continue;
    RecordView view = view_of(record);
    if (!view.key) view.key = "key";
    if (!is_plausible(view.timestamp_ms)) view.timestamp_ms = kSomeTime;
    for (const ParsedReading& reading : parser->parse(view).readings) {
      ++tried.readings;
      if (reading.malformed != Malformed::kNone || !is_plausible(reading.event_ms)) continue;
      ++tried.usable;
      tried.metrics += reading.metric_count;
    }
  }
  return tried;
}

}  // namespace hourfold
