// The documents of a record in JSON: one or several in a row, each on a line of its own or not, arrays of
// them.
//
// Broken grammar makes the whole record one malformed reading, unless it has several lines: then each line
// that is not blank stands alone. (A first line that ends in an opening bracket, or opens an array without
// closing it, belongs to one document over several lines.) A document that is sound JSON but no reading is
// malformed alone. What the documents mean is a derived class's business.
//
// Threads: one thread per parser. Ownership: the result lives until the next parse().
#pragma once

#include <string_view>
#include <vector>

#include "payload/arena.h"
#include "payload/json_tokens.h"
#include "payload/payload_parser.h"

namespace hourfold {

class JsonDocuments : public PayloadParser {
 public:
  const ParsedRecord& parse(const RecordView& record) override;

 protected:
  using Index = JsonTokens::Index;
  static constexpr Index kBroken = JsonTokens::kBroken;

  JsonDocuments() : tokens_(arena_) {}

  // The record's own fields; its documents follow.
  virtual void begin(const RecordView& record) = 0;
  // A document, or an element of an array that is one. Appends what it says, and nothing if it is broken.
  // Returns behind it, or kBroken.
  virtual Index read_object(Index i) = 0;
  // Each element stands alone.
  virtual Index read_array(Index i);

  // A document that is neither object nor array.
  virtual void read_scalar(Index) { add_malformed(Malformed::kNotAnObject); }

  void add_malformed(Malformed reason);

  // The text that tokens_ are of, if all of it was read in one go; else empty.
  std::string_view whole_text() const { return whole_text_; }
  void clear_record();

  Arena arena_;
  JsonTokens tokens_;
  ParsedRecord record_;

 private:
  std::string_view copy(std::string_view value);
  Malformed read_broken(std::string_view text, Malformed reason);
  Malformed read_lines(std::string_view text);
  Malformed read_text(std::string_view text);
  Malformed read_documents();
  void fail(Malformed reason);

  std::vector<char> buffer_;
  std::string_view whole_text_;
};

}  // namespace hourfold
