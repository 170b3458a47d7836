// Readings inside of another JSON document: as an object or array in it, or as a text that holds them, as it
// is or in base64. Other fields of the document may be the device, the time or the arrival of all of them.
//
// Threads, ownership, errors: as PayloadParser.
#pragma once

#include <memory>
#include <string>

#include "payload/device_parts.h"
#include "payload/json_documents.h"
#include "payload/json_fields.h"

namespace hourfold {

class EnvelopeParser final : public JsonDocuments {
 public:
  // inner reads what the body holds.
  EnvelopeParser(const ReadingShape& shape, std::unique_ptr<PayloadParser> inner);

 private:
  void begin(const RecordView& record) override;
  Index read_object(Index i) override;
  void read_scalar(Index i) override;

  void forget_fields();
  void read_body(Index i);
  bool find_text(std::string_view text, std::string_view& body);
  void take(const ParsedRecord& parsed);
  std::string_view kept(std::string_view text);

  const bool lines_;  // the body is lines, not JSON
  const bool whole_is_body_;
  std::unique_ptr<PayloadParser> inner_;
  DeviceParts device_;
  JsonFields fields_;
  RecordView outer_;
  EnvelopeFields envelope_;
  std::string decoded_;
};

}  // namespace hourfold
