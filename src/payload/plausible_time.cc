#include "payload/plausible_time.h"

#include "payload/event_time.h"

namespace hourfold {

std::optional<TextTime> plausible_text(std::string_view text) {
  if (const ParsedDouble number = parse_json_double(text); number.kind == NumberKind::kFinite) {
    const auto unit = plausible_unit(number.value);
    return unit ? std::optional(TextTime{*unit}) : std::nullopt;
  }
  const ParsedTime zoned = parse_rfc3339(text, std::nullopt);
  if (zoned.reason == Malformed::kNone)
    return is_plausible(zoned.ms) ? std::optional(TextTime{TimeUnit::kRfc3339}) : std::nullopt;
  const ParsedTime local = parse_rfc3339(text, 0);
  if (local.reason != Malformed::kNone || !is_plausible(local.ms)) return std::nullopt;
  return TextTime{TimeUnit::kRfc3339, false};
}

}  // namespace hourfold
