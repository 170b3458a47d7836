// Any bytes as a sample: a proposal is one that the configuration takes, and it reads what it says.
#include "core/config.h"
#include "core/reading_section.h"
#include "payload/propose.h"
#include "payload/recognise.h"
#include "tests/fuzz/fuzz.h"

namespace hourfold::fuzz {

void try_input(std::string_view bytes) {
  constexpr std::size_t kLongest = 2048;
  if (bytes.size() > kLongest) return;
  RecordCopy record;
  record.timestamp_ms = 1'767'225'600'000;
  record.value = std::string(bytes);
  const Proposals proposals = propose({&record, 1});
  if (proposals.ranked.empty()) return;
  (void)recognise(proposals, {&record, 1});
  const ReadingShape& best = proposals.ranked.front().shape;
  const std::string section = reading_section(best, SectionStyle::kOneLine);
  const auto config = parse_config("{\"reading\":" + section + "}", "proposal", {}, {}, false);
  require(static_cast<bool>(config), "a section that the configuration takes", section);
  require(config->reading.shape == best, "the shape that was proposed", section);
}

}  // namespace hourfold::fuzz
