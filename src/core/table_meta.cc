#include "core/table_meta.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>

namespace hourfold {
namespace {

std::string utc_text(EpochMs time) {
  const std::chrono::sys_time<std::chrono::milliseconds> point{std::chrono::milliseconds(time)};
  const auto day = std::chrono::floor<std::chrono::days>(point);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(point - day));
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

std::optional<int> number(const std::map<std::string, std::string>& texts, const std::string& name) {
  const auto found = texts.find(name);
  if (found == texts.end()) return std::nullopt;
  const char* end = found->second.data() + found->second.size();
  int value = 0;
  const auto [stop, error] = std::from_chars(found->second.data(), end, value);
  if (error != std::errc() || stop != end || value < 1) return std::nullopt;
  return value;
}

}  // namespace

std::string_view to_string(RowLayout layout) { return layout == RowLayout::kWide ? "wide" : "packed"; }

std::map<std::string, std::string> describe(const TableMeta& meta) {
  return {{"buckets", std::to_string(meta.buckets)},
          {"layout", std::string(to_string(meta.layout))},
          {"version", std::to_string(meta.version)}};
}

std::optional<TableMeta> read_description(const std::map<std::string, std::string>& texts) {
  const std::optional<int> buckets = number(texts, "buckets");
  const std::optional<int> version = number(texts, "version");
  const auto layout = texts.find("layout");
  if (!buckets || *buckets > 128 || !version || layout == texts.end()) return std::nullopt;
  if (layout->second != "wide" && layout->second != "packed") return std::nullopt;
  return TableMeta{static_cast<std::uint32_t>(*buckets),
                   layout->second == "wide" ? RowLayout::kWide : RowLayout::kPacked, *version};
}

RowPut new_meta_row(const TableMeta& meta, EpochMs now) {
  RowPut row{std::string(meta_row_key()), now};
  for (const auto& [name, text] : describe(meta)) row.add('m', name, text);
  row.add('m', "created", utc_text(now));
  row.add('m', kGenerationCell, "0");
  return row;
}

RowPut generation_row(Generation generation, HourStart replaced_from, std::string_view owner,
                      EpochMs timestamp) {
  RowPut row{std::string(meta_row_key()), timestamp};
  row.add('m', kGenerationCell, std::to_string(generation.value));
  // Not before 1970: no reading is.
  row.add('m', kReplacedFromCell, std::to_string(std::max<EpochMs>(0, replaced_from.ms)));
  row.add('m', "owner", owner);
  row.add('m', "rebuilt", utc_text(timestamp));
  return row;
}

RowPut partitions_row(std::string_view topic, std::int32_t partitions, bool several, EpochMs timestamp) {
  RowPut row{std::string(meta_row_key()), timestamp};
  row.add('m', std::string(kPartitionsCell) + std::string(topic), std::to_string(partitions));
  if (several) row.add('m', kContributionsCell, kSeveral);
  return row;
}

}  // namespace hourfold
