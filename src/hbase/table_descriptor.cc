#include "hbase/table_descriptor.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "core/table_meta.h"

namespace hourfold {
namespace {

using hbase_thrift::TBloomFilterType;
using hbase_thrift::TColumnFamilyDescriptor;
using hbase_thrift::TCompressionAlgorithm;
using hbase_thrift::TDataBlockEncoding;
using hbase_thrift::TTableDescriptor;

constexpr std::int32_t kForever = std::numeric_limits<std::int32_t>::max();
constexpr const char* kAttributePrefix = "hourfold.";
constexpr const char* kEngineKey = "hbase.hstore.engine.class";
constexpr const char* kDateTieredEngine = "org.apache.hadoop.hbase.regionserver.DateTieredStoreEngine";
constexpr const char* kBlockingFilesKey = "hbase.hstore.blockingStoreFiles";
constexpr const char* kBlockingFiles =
    "50";  // tiers keep more files than the default of 16, at which writes would stop

std::int32_t ttl_of(const TableSpec& spec, char family) {
  const std::optional<std::int64_t> ttl = family == 'r'   ? spec.rollup_ttl_s
                                          : family == 's' ? spec.contribution_ttl_s
                                                          : std::optional<std::int64_t>();
  return static_cast<std::int32_t>(std::min<std::int64_t>(ttl.value_or(kForever), kForever));
}

std::string ttl_text(std::int32_t seconds) {
  if (seconds == kForever) return "forever";
  if (seconds % 86'400 == 0) return std::to_string(seconds / 86'400) + " d";
  return std::to_string(seconds) + " s";
}

std::string alter(const std::string& table, char family, const std::string& setting) {
  return "alter '" + table + "', {NAME => '" + family + "', " + setting + "} in the HBase shell";
}

TColumnFamilyDescriptor make_family(char family, const TableSpec& spec,
                                    TCompressionAlgorithm::type compression) {
  TColumnFamilyDescriptor made;
  made.__set_name(std::string(1, family));
  made.__set_bloomnFilterType(TBloomFilterType::ROW);
  made.__set_compressionType(compression);
  made.__set_dataBlockEncoding(TDataBlockEncoding::FAST_DIFF);
  made.__set_maxVersions(1);
  made.__set_timeToLive(ttl_of(spec, family));
  if (spec.date_tiered && family != 'm') {
    made.__set_configuration({{kEngineKey, kDateTieredEngine}, {kBlockingFilesKey, kBlockingFiles}});
  }
  return made;
}

class Comparison {
 public:
  Comparison(const TTableDescriptor& found, const TableSpec& spec)
      : found_(found), spec_(spec), name_(found.tableName.qualifier) {
    if (!found.tableName.ns.empty() && found.tableName.ns != "default")
      name_ = found.tableName.ns + ":" + name_;
  }

  std::vector<TableFinding> run() {
    attributes();
    for (const char name : {'r', 's', 'm'}) {
      const auto family =
          std::find_if(found_.columns.begin(), found_.columns.end(),
                       [&](const TColumnFamilyDescriptor& f) { return f.name == std::string(1, name); });
      if (family == found_.columns.end()) {
        serious("table " + name_ + " has no family " + name +
                ": it was not made by `hourfold table create`; name another table in sink.table, or add the "
                "family in the HBase shell");
        continue;
      }
      lifetime(*family, name);
      storage(*family, name);
    }
    return std::move(findings_);
  }

 private:
  void serious(std::string message) { findings_.push_back({false, std::move(message)}); }
  void harmless(std::string message) { findings_.push_back({true, std::move(message)}); }

  void attributes() {
    const std::string prefix = kAttributePrefix;
    std::map<std::string, std::string> texts;
    for (const auto& [key, value] : found_.attributes) {
      if (key.starts_with(prefix)) texts[key.substr(prefix.size())] = value;
    }
    const std::optional<TableMeta> meta = read_description(texts);
    if (!meta) {
      serious("table " + name_ +
              " lacks the attributes hourfold.buckets, hourfold.layout and hourfold.version: it was not made "
              "by `hourfold table create`; "
              "name another table in sink.table");
      return;
    }
    if (meta->version > kTableVersion) {
      serious("table " + name_ + " has format version " + std::to_string(meta->version) +
              ", this program knows " + std::to_string(kTableVersion) + ": run a newer hourfold");
    }
    if (meta->buckets != spec_.buckets) {
      serious("table " + name_ + " has " + std::to_string(meta->buckets) +
              " buckets, the configuration says " + std::to_string(spec_.buckets) + ": set sink.buckets to " +
              std::to_string(meta->buckets) + ", it is fixed when the table is created");
    }
    if (meta->layout != spec_.layout) {
      const std::string layout(to_string(meta->layout));
      serious("table " + name_ + " has the layout " + layout + ", the configuration says " +
              std::string(to_string(spec_.layout)) + ": set sink.layout to \"" + layout +
              "\", it is fixed when the table is created");
    }
  }

  void lifetime(const TColumnFamilyDescriptor& family, char name) {
    const std::int32_t wanted = ttl_of(spec_, name);
    const std::int32_t ttl = family.__isset.timeToLive ? family.timeToLive : kForever;
    if (ttl == wanted) return;
    const std::string seen =
        std::string("family ") + name + " of table " + name_ + " keeps cells for " + ttl_text(ttl);
    if (ttl > wanted)
      return harmless(seen + ", the configuration asks for " + ttl_text(wanted) +
                      ": nothing is lost, more is stored");
    const std::string shell_ttl = wanted == kForever ? "'FOREVER'" : std::to_string(wanted);
    serious(seen + ", " + (name == 's' ? "late readings need " : "expected are ") + ttl_text(wanted) + ": " +
            alter(name_, name, "TTL => " + shell_ttl));
  }

  void storage(const TColumnFamilyDescriptor& family, char name) {
    const std::string seen = std::string("family ") + name + " of table " + name_;
    if (family.compressionType == TCompressionAlgorithm::NONE) {
      harmless(seen + " is not compressed: give the region servers a codec, then " +
               alter(name_, name, "COMPRESSION => 'ZSTD'"));
    }
    if (family.dataBlockEncoding != TDataBlockEncoding::FAST_DIFF) {
      harmless(seen + " has no FAST_DIFF encoding and takes more room: " +
               alter(name_, name, "DATA_BLOCK_ENCODING => 'FAST_DIFF'"));
    }
    if (family.bloomnFilterType == TBloomFilterType::NONE) {
      harmless(seen + " has no Bloom filter, which makes look-ups slow: " +
               alter(name_, name, "BLOOMFILTER => 'ROW'"));
    }
    if (family.maxVersions > 1) {
      harmless(seen + " keeps " + std::to_string(family.maxVersions) +
               " versions where one is read: " + alter(name_, name, "VERSIONS => 1"));
    }
    const auto engine = family.configuration.find(kEngineKey);
    const bool tiered = engine != family.configuration.end() && engine->second == kDateTieredEngine;
    if (name != 'm' && tiered != spec_.date_tiered) {
      harmless(
          seen + (tiered ? " is date-tiered" : " is not date-tiered") +
          ", the configuration says the opposite: set sink.date_tiered, or " +
          alter(name_, name,
                std::string("CONFIGURATION => {'") + kEngineKey + "' => '" +
                    (tiered ? "org.apache.hadoop.hbase.regionserver.DefaultStoreEngine" : kDateTieredEngine) +
                    "'}"));
    }
  }

  const TTableDescriptor& found_;
  const TableSpec& spec_;
  std::string name_;
  std::vector<TableFinding> findings_;
};

}  // namespace

hbase_thrift::TTableName thrift_table_name(const std::string& table) {
  hbase_thrift::TTableName name;
  const std::size_t colon = table.find(':');
  if (colon != std::string::npos) name.__set_ns(table.substr(0, colon));
  name.__set_qualifier(colon == std::string::npos ? table : table.substr(colon + 1));
  return name;
}

bool legal_table_name(const std::string& table) {
  const auto legal = [](std::string_view part, std::string_view extra) {
    return !part.empty() && part[0] != '.' && part[0] != '-' &&
           std::all_of(part.begin(), part.end(), [&](char c) {
             return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    extra.find(c) != std::string_view::npos;
           });
  };
  const std::size_t colon = table.find(':');
  if (colon == std::string::npos) return legal(table, "_.-");
  return legal(std::string_view(table).substr(0, colon), "_") &&
         legal(std::string_view(table).substr(colon + 1), "_.-");
}

TTableDescriptor make_descriptor(const std::string& table, const TableSpec& spec,
                                 TCompressionAlgorithm::type compression) {
  TTableDescriptor made;
  made.__set_tableName(thrift_table_name(table));
  made.__set_columns({make_family('r', spec, compression), make_family('s', spec, compression),
                      make_family('m', spec, compression)});
  std::map<std::string, std::string> attributes;
  for (const auto& [name, text] : describe({spec.buckets, spec.layout, kTableVersion}))
    attributes[kAttributePrefix + name] = text;
  made.__set_attributes(attributes);
  return made;
}

std::vector<std::string> split_keys(std::uint32_t buckets) {
  std::vector<std::string> keys;
  for (std::uint32_t salt = 1; salt < buckets; ++salt) keys.emplace_back(1, static_cast<char>(salt));
  return keys;
}

std::vector<TableFinding> compare(const TTableDescriptor& found, const TableSpec& spec) {
  return Comparison(found, spec).run();
}

}  // namespace hourfold
