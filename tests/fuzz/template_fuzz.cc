// Records that follow one another, a line each: with templates as without.
#include <iterator>

#include "payload/json_parser.h"
#include "tests/fuzz/payloads.h"

namespace hourfold::fuzz {

void try_input(std::string_view bytes) {
  static const ReadingShape kShapes[] = {
      shape_of("{}"),
      shape_of(R"({"metrics":"","time_unit":"s"})"),
      shape_of(R"({"device":"/a/d","time":"/a/t","time_unit":"rfc3339","metrics":"/m"})"),
      shape_of(R"({"device":"key","time":"record","arrival":"/ts","numeric_strings":true,"booleans":true})"),
      shape_of(R"({"device":"/d","time":"/m/t","metrics":"/m"})"),
  };
  Input input(bytes);
  const ReadingShape& shape = kShapes[input.letter(std::size(kShapes))];
  JsonParser learning(shape, true);
  JsonParser plain(shape, false);
  while (!input.empty()) {
    const Exact value(input.line());
    const RecordView record{value.view(), "k1", 1'767'225'600'000};
    const std::string expected = told(plain.parse(record));
    require_equal(told(learning.parse(record)), expected, "the same with templates");
    // What was learned from it reads it, too.
    require_equal(told(learning.parse(record)), expected, "the same with its own template");
  }
}

}  // namespace hourfold::fuzz
