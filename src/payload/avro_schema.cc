#include "payload/avro_schema.h"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace hourfold {
namespace {

using Json = nlohmann::json;
using Kind = AvroSchema::Kind;

const std::map<std::string, Kind> kPrimitives = {
    {"null", Kind::kNull},   {"boolean", Kind::kBoolean}, {"int", Kind::kInt},     {"long", Kind::kLong},
    {"float", Kind::kFloat}, {"double", Kind::kDouble},   {"bytes", Kind::kBytes}, {"string", Kind::kString}};

std::string text_at(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::optional<std::uint32_t> number_at(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number_unsigned()) return std::nullopt;
  const auto number = at->get<std::uint64_t>();
  if (number > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

std::string cut(const std::string& text) {
  constexpr std::size_t kShown = 60;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

// A logical type that does not fit its type is none, says the specification.
std::optional<std::uint32_t> decimal_scale(const Json& object) {
  if (text_at(object, "logicalType") != "decimal") return std::nullopt;
  const auto precision = number_at(object, "precision");
  const auto scale = object.contains("scale") ? number_at(object, "scale") : 0;
  if (!precision || *precision == 0 || !scale || *scale > *precision) return std::nullopt;
  // Digits that fit into kMaxDecimalBytes.
  constexpr std::uint32_t kMaxPrecision = 616;
  return *precision <= kMaxPrecision ? scale : std::nullopt;
}

}  // namespace

class AvroSchemaReader {
 public:
  using Index = AvroSchema::Index;

  explicit AvroSchemaReader(AvroSchema& schema) : schema_(schema) {}

  // Empty if it is broken: error() says why.
  std::optional<Index> read(const Json& json, const std::string& space);
  Error error() const { return refused(place_.empty() ? error_ : place_ + ": " + error_); }

 private:
  std::nullopt_t fail(std::string what) {
    error_ = std::move(what);
    return std::nullopt;
  }
  std::optional<Index> add(AvroSchema::Node node) {
    if (schema_.nodes_.size() == AvroSchema::kMaxNodes) return fail("the schema has too many types");
    schema_.nodes_.push_back(node);
    return static_cast<Index>(schema_.nodes_.size() - 1);
  }
  std::optional<Index> read_any(const Json& json, const std::string& space);
  std::optional<Index> read_name(const std::string& name, const std::string& space);
  std::optional<Index> read_object(const Json& object, const std::string& space);
  std::optional<Index> read_union(const Json& list, const std::string& space);
  std::optional<Index> read_items(const Json& object, Kind kind, const char* key, const std::string& space);
  std::optional<Index> read_named(const Json& object, const std::string& type, const std::string& outer);
  std::optional<Index> read_record(const Json& object, Index record, const std::string& space);
  bool read_fields(const Json& list, const std::string& space, std::vector<AvroSchema::Field>& fields);
  std::optional<Index> read_enum(const Json& object, Index index);
  std::optional<Index> read_fixed(const Json& object, Index index);

  AvroSchema& schema_;
  std::map<std::string, Index> named_;  // by full name
  std::size_t level_ = 0;
  std::string place_;  // of the innermost field that is being read
  std::string error_;
};

std::optional<AvroSchemaReader::Index> AvroSchemaReader::read(const Json& json, const std::string& space) {
  if (++level_ > AvroSchema::kMaxNesting) return fail("the schema is nested too deep");
  const auto index = read_any(json, space);
  --level_;
  return index;
}

std::optional<AvroSchemaReader::Index> AvroSchemaReader::read_any(const Json& json,
                                                                  const std::string& space) {
  if (json.is_string()) return read_name(json.get<std::string>(), space);
  if (json.is_array()) return read_union(json, space);
  if (json.is_object()) return read_object(json, space);
  return fail("a type is a name, an object or a list, not " + json.dump());
}

// A name without a dot belongs to the namespace around it; if there is none of it, to none, as in Java.
std::optional<AvroSchemaReader::Index> AvroSchemaReader::read_name(const std::string& name,
                                                                   const std::string& space) {
  if (const auto primitive = kPrimitives.find(name); primitive != kPrimitives.end())
    return add({primitive->second});
  if (name.find('.') == std::string::npos && !space.empty()) {
    if (const auto at = named_.find(space + "." + name); at != named_.end()) return at->second;
  }
  if (const auto at = named_.find(name); at != named_.end()) return at->second;
  return fail("\"" + cut(name) + "\" is no type, and none of that name is defined before");
}

std::optional<AvroSchemaReader::Index> AvroSchemaReader::read_object(const Json& object,
                                                                     const std::string& space) {
  const auto type = object.find("type");
  if (type == object.end()) return fail("a type without \"type\"");
  if (!type->is_string()) return read(*type, space);
  const std::string name = type->get<std::string>();
  if (name == "array") return read_items(object, Kind::kArray, "items", space);
  if (name == "map") return read_items(object, Kind::kMap, "values", space);
  if (name == "record" || name == "error" || name == "enum" || name == "fixed")
    return read_named(object, name, space);
  if (name == "bytes") {
    if (const auto scale = decimal_scale(object)) return add({.kind = Kind::kDecimal, .scale = *scale});
  }
  return read_name(name, space);
}

std::optional<AvroSchemaReader::Index> AvroSchemaReader::read_union(const Json& list,
                                                                    const std::string& space) {
  if (list.empty()) return fail("a union without a branch");
  std::vector<Index> branches;
  for (const Json& item : list) {
    if (item.is_array()) return fail("a union directly inside of a union");
    const auto branch = read(item, space);
    if (!branch) return std::nullopt;
    branches.push_back(*branch);
  }
  const auto first = static_cast<Index>(schema_.branches_.size());
  schema_.branches_.insert(schema_.branches_.end(), branches.begin(), branches.end());
  return add({.kind = Kind::kUnion, .first = first, .count = static_cast<std::uint32_t>(branches.size())});
}

std::optional<AvroSchemaReader::Index> AvroSchemaReader::read_items(const Json& object, Kind kind,
                                                                    const char* key,
                                                                    const std::string& space) {
  const auto items = object.find(key);
  if (items == object.end())
    return fail(std::string(kind == Kind::kArray ? "an array" : "a map") + " without \"" + key + "\"");
  const auto item = read(*items, space);
  if (!item) return std::nullopt;
  return add({.kind = kind, .first = *item});
}

// Known by its name before its fields are read, so that they can refer to it.
std::optional<AvroSchemaReader::Index> AvroSchemaReader::read_named(const Json& object,
                                                                    const std::string& type,
                                                                    const std::string& outer) {
  const std::string name = text_at(object, "name");
  if (name.empty()) return fail("a type \"" + type + "\" without a name");
  const std::size_t dot = name.rfind('.');
  std::string space = object.contains("namespace") ? text_at(object, "namespace") : outer;
  if (dot != std::string::npos) space = name.substr(0, dot);
  const std::string full = dot != std::string::npos || space.empty() ? name : space + "." + name;
  const auto index = add({Kind::kNull});
  if (!index) return std::nullopt;
  if (kPrimitives.contains(full)) return fail("\"" + full + "\" is the name of a type of Avro itself");
  if (!named_.emplace(full, *index).second) return fail("\"" + cut(full) + "\" is defined twice");
  const std::string place = std::exchange(place_, type + " " + cut(full));
  const auto read = type == "enum"
                        ? read_enum(object, *index)
                        : (type == "fixed" ? read_fixed(object, *index) : read_record(object, *index, space));
  if (read) place_ = place;
  return read;
}

std::optional<AvroSchemaReader::Index> AvroSchemaReader::read_record(const Json& object, Index record,
                                                                     const std::string& space) {
  const auto list = object.find("fields");
  if (list == object.end() || !list->is_array()) return fail("a record without a list of \"fields\"");
  std::vector<AvroSchema::Field> fields;
  if (!read_fields(*list, space, fields)) return std::nullopt;
  AvroSchema::Node& node = schema_.nodes_[record];
  node = {.kind = Kind::kRecord,
          .first = static_cast<Index>(schema_.fields_.size()),
          .count = static_cast<std::uint32_t>(fields.size())};
  for (AvroSchema::Field& field : fields) schema_.fields_.push_back(std::move(field));
  return record;
}

bool AvroSchemaReader::read_fields(const Json& list, const std::string& space,
                                   std::vector<AvroSchema::Field>& fields) {
  const std::string place = place_;
  std::set<std::string> names;
  for (const Json& item : list) {
    const std::string name = item.is_object() ? text_at(item, "name") : "";
    if (name.empty()) return fail("a field without a name"), false;
    place_ = place + ", field " + cut(name);
    if (!names.insert(name).second) return fail("there are two of that name"), false;
    if (!item.contains("type")) return fail("it has no \"type\""), false;
    const auto type = read(item["type"], space);
    if (!type) return false;
    fields.push_back({Json(name).dump() + ":", *type});
  }
  place_ = place;
  return true;
}

std::optional<AvroSchemaReader::Index> AvroSchemaReader::read_enum(const Json& object, Index index) {
  const auto list = object.find("symbols");
  if (list == object.end() || !list->is_array() || list->empty()) return fail("it has no \"symbols\"");
  AvroSchema::Node& node = schema_.nodes_[index];
  node = {.kind = Kind::kEnum,
          .first = static_cast<Index>(schema_.symbols_.size()),
          .count = static_cast<std::uint32_t>(list->size())};
  std::set<std::string> symbols;
  for (const Json& symbol : *list) {
    if (!symbol.is_string()) return fail("a symbol that is no text");
    if (!symbols.insert(symbol.get<std::string>()).second) return fail("two symbols " + symbol.dump());
    schema_.symbols_.push_back(symbol.dump());
  }
  return index;
}

std::optional<AvroSchemaReader::Index> AvroSchemaReader::read_fixed(const Json& object, Index index) {
  const auto size = number_at(object, "size");
  if (!size) return fail("its \"size\" is no whole number of bytes");
  AvroSchema::Node& node = schema_.nodes_[index];
  node = {.kind = Kind::kFixed, .size = *size};
  const auto scale = decimal_scale(object);
  if (scale && *size > 0 && *size <= AvroSchema::kMaxDecimalBytes) {
    node.kind = Kind::kFixedDecimal;
    node.scale = *scale;
  } else if (*size == 16 && text_at(object, "logicalType") == "uuid") {
    node.kind = Kind::kFixedUuid;
  }
  return index;
}

Result<std::shared_ptr<const AvroSchema>> AvroSchema::parse(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return refused("it is no JSON");
  auto schema = std::make_shared<AvroSchema>();
  AvroSchemaReader reader(*schema);
  const auto root = reader.read(json, "");
  if (!root) return reader.error();
  schema->root_ = *root;
  return std::shared_ptr<const AvroSchema>(std::move(schema));
}

}  // namespace hourfold
