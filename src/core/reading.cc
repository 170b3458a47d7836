#include "core/reading.h"

namespace hourfold {

std::string_view to_string(Malformed reason) {
  switch (reason) {
    case Malformed::kNone:
      return "none";
    case Malformed::kEmptyValue:
      return "empty_value";
    case Malformed::kBadUtf8:
      return "bad_utf8";
    case Malformed::kBadJson:
      return "bad_json";
    case Malformed::kTooDeep:
      return "too_deep";
    case Malformed::kTooMany:
      return "too_many";
    case Malformed::kNotAnObject:
      return "not_an_object";
    case Malformed::kNoDevice:
      return "no_device";
    case Malformed::kBadDevice:
      return "bad_device";
    case Malformed::kNoTime:
      return "no_time";
    case Malformed::kBadTime:
      return "bad_time";
    case Malformed::kNoMetrics:
      return "no_metrics";
    case Malformed::kNoUsableMetric:
      return "no_usable_metric";
    case Malformed::kNoArrival:
      return "no_arrival";
    case Malformed::kCompressed:
      return "compressed";
    case Malformed::kFramed:
      return "framed";
    case Malformed::kNoFraming:
      return "no_framing";
    case Malformed::kUnknownSchema:
      return "unknown_schema";
    case Malformed::kBadAvro:
      return "bad_avro";
    case Malformed::kNoBody:
      return "no_body";
    case Malformed::kBadSenml:
      return "bad_senml";
    case Malformed::kBadLine:
      return "bad_line";
    case Malformed::kCount:
      break;
  }
  return "?";
}

std::string_view to_string(MetricReject reason) {
  switch (reason) {
    case MetricReject::kNotFinite:
      return "not_finite";
    case MetricReject::kOutOfRange:
      return "out_of_range";
    case MetricReject::kString:
      return "string";
    case MetricReject::kBoolean:
      return "boolean";
    case MetricReject::kArray:
      return "array";
    case MetricReject::kBadName:
      return "bad_name";
    case MetricReject::kCount:
      break;
  }
  return "?";
}

}  // namespace hourfold
