#include "payload/payload_parser.h"

#include <utility>

#include "core/check.h"
#include "payload/avro_parser.h"
#include "payload/envelope_parser.h"
#include "payload/framed_parser.h"
#include "payload/influx_parser.h"
#include "payload/json_parser.h"
#include "payload/senml_parser.h"
#include "payload/thingsboard_parser.h"

namespace hourfold {
namespace {

std::unique_ptr<PayloadParser> parser_of_documents(const ReadingShape& shape) {
  switch (shape.format) {
    case PayloadFormat::kJson:
    case PayloadFormat::kAvro:
      return std::make_unique<JsonParser>(shape);
    case PayloadFormat::kSenml:
      return std::make_unique<SenmlParser>(shape);
    case PayloadFormat::kInflux:
      return std::make_unique<InfluxParser>(shape);
    case PayloadFormat::kThingsboard:
    case PayloadFormat::kThingsboardGateway:
      return std::make_unique<ThingsboardParser>(shape);
  }
  HF_CHECK(false);
}

}  // namespace

std::unique_ptr<PayloadParser> make_payload_parser(const ReadingShape& shape, AvroSchemas* schemas) {
  std::unique_ptr<PayloadParser> parser = parser_of_documents(shape);
  if (shape.body) parser = std::make_unique<EnvelopeParser>(shape, std::move(parser));
  if (shape.format == PayloadFormat::kAvro) {
    HF_CHECK(schemas != nullptr);
    return std::make_unique<AvroParser>(shape, *schemas, std::move(parser));
  }
  if (shape.framing == ValueFraming::kConfluent) parser = std::make_unique<FramedParser>(std::move(parser));
  return parser;
}

}  // namespace hourfold
