#include "payload/field_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <span>

namespace hourfold {
namespace {

struct Word {
  std::string_view word;
  int points;
};

int points_in(std::span<const Word> words, std::string_view word) {
  const auto found =
      std::find_if(words.begin(), words.end(), [word](const Word& w) { return w.word == word; });
  return found == words.end() ? 0 : found->points;
}

constexpr Word kDevices[] = {
    {"device", 100},
    {"deviceid", 100},
    {"devicename", 85},
    {"deveui", 98},
    {"deviceeui", 98},
    {"devid", 95},
    {"dev", 90},
    {"iothubconnectiondeviceid", 105},
    {"connectiondeviceid", 105},
    {"thingname", 90},
    {"thing", 80},
    {"thingid", 90},
    {"sensorid", 88},
    {"sensor", 75},
    {"sensorname", 75},
    {"clientid", 70},
    {"nodeid", 75},
    {"node", 65},
    {"serial", 72},
    {"serialnumber", 78},
    {"sn", 65},
    {"mac", 65},
    {"macaddress", 68},
    {"imei", 78},
    {"eui", 75},
    {"meterid", 85},
    {"meter", 70},
    {"assetid", 75},
    {"asset", 65},
    {"stationid", 75},
    {"station", 60},
    {"machineid", 75},
    {"machine", 60},
    {"host", 65},
    {"hostname", 65},
    {"equipmentid", 75},
    {"equipment", 60},
    {"unitid", 60},
    {"vehicleid", 75},
    {"vin", 70},
    {"trackerid", 75},
    {"deviceserial", 90},
    {"deviceuid", 95},
    {"deviceuuid", 92},
    {"endpoint", 50},
    {"tag", 40},
    {"tagid", 60},
    {"uid", 50},
    {"id", 50},
    {"uuid", 40},
    {"source", 40},
    {"subject", 38},
    {"name", 35},
    {"gatewayid", 32},
    {"gateway", 30},
    {"devaddr", 30},
};
constexpr Word kTimes[] = {
    {"ts", 100},
    {"time", 90},
    {"timestamp", 100},
    {"eventtime", 110},
    {"eventtimestamp", 110},
    {"measuredat", 112},
    {"observedat", 110},
    {"phenomenontime", 112},
    {"sampledat", 112},
    {"recordedat", 105},
    {"at", 80},
    {"datetime", 95},
    {"date", 60},
    {"when", 80},
    {"epoch", 80},
    {"utc", 75},
    {"createdat", 72},
    {"publishedat", 70},
    {"receivedat", 70},
    {"enqueuedtime", 72},
    {"enqueuedtimeutc", 72},
    {"sentat", 72},
    {"t", 40},
    {"tst", 80},
    {"dt", 60},
    {"tm", 60},
    {"timems", 98},
    {"unixtime", 95},
    {"timestampms", 100},
    {"devicetime", 105},
    {"readat", 105},
    {"resulttime", 100},
};
constexpr Word kMetrics[] = {
    {"metrics", 42},       {"values", 40},   {"measurements", 40}, {"decodedpayload", 42}, {"object", 38},
    {"reported", 38},      {"readings", 38}, {"telemetry", 40},    {"fields", 38},         {"data", 32},
    {"payload", 28},       {"body", 28},     {"sensors", 34},      {"channels", 32},       {"measures", 36},
    {"payloadfields", 40}, {"d", 25},        {"properties", 15},   {"value", 20},          {"params", 25},
    {"observations", 34},  {"decoded", 30},  {"datapoints", 36},   {"state", 15},
};
constexpr Word kReadings[] = {
    {"readings", 35}, {"measurements", 35}, {"values", 28},    {"data", 28},         {"records", 30},
    {"samples", 35},  {"points", 30},       {"telemetry", 30}, {"events", 25},       {"messages", 25},
    {"items", 22},    {"metrics", 30},      {"sensors", 25},   {"body", 25},         {"payload", 25},
    {"devices", 25},  {"datapoints", 32},   {"series", 25},    {"observations", 30}, {"batch", 25},
};
constexpr Word kMetricNames[] = {
    {"metric", 20},
    {"metricname", 20},
    {"parameter", 20},
    {"param", 18},
    {"measure", 18},
    {"measurement", 18},
    {"quantity", 18},
    {"variable", 18},
    {"channel", 16},
    {"property", 16},
    {"field", 16},
    {"signal", 16},
    {"attribute", 16},
    {"datapoint", 16},
    {"name", 12},
    {"key", 12},
    {"type", 10},
    {"sensortype", 16},
    {"sensor", 8},
    {"tag", 8},
    {"n", 8},
    {"id", 4},
    {"observedproperty", 18},
    {"measurementtype", 18},
};
constexpr Word kValues[] = {{"value", 20}, {"val", 18},    {"v", 14},      {"reading", 14},
                            {"data", 10},  {"amount", 10}, {"result", 14}, {"numericvalue", 18}};
constexpr std::string_view kBookkeeping[] = {
    "fport",         "fcnt",
    "fcntup",        "seq",
    "sequence",      "sequencenumber",
    "version",       "dr",
    "adr",           "rssi",
    "snr",           "lorasnr",
    "frequency",     "channelindex",
    "fcntdown",      "index",
    "offset",        "partition",
    "schemaversion", "v",
    "msgid",         "messageid",
    "port",          "spreadingfactor",
    "bandwidth",     "qos",
    "retain",        "count",
    "crc",           "confirmed",
    "devaddr",       "channelrssi",
};
constexpr std::string_view kPlaces[] = {
    "tenant",   "customer", "country", "region", "city", "site", "plant",  "factory",
    "building", "floor",    "hall",    "line",   "zone", "area", "room",   "group",
    "station",  "cell",     "machine", "unit",   "rack", "slot", "module",
};

bool contains(std::string_view word, std::string_view part) {
  return word.find(part) != std::string_view::npos;
}

}  // namespace

std::string plain_word(std::string_view name) {
  std::string word;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) != 0) word += static_cast<char>(std::tolower(byte));
  }
  return word;
}

int device_points(std::string_view word) {
  if (const int points = points_in(kDevices, word); points > 0) return points;
  for (const std::string_view of_many : {"profile", "type", "class", "model", "group", "version"}) {
    if (contains(word, of_many)) return 0;
  }
  const bool is_id = word.ends_with("id") || word.ends_with("name") || word.ends_with("serial");
  if (contains(word, "device")) return is_id ? 70 : 45;
  if (contains(word, "sensor")) return is_id ? 60 : 35;
  return 0;
}

int time_points(std::string_view word) {
  if (const int points = points_in(kTimes, word); points > 0) return points;
  if (contains(word, "timestamp")) return 75;
  if (word.starts_with("time") || word.ends_with("time") || word.ends_with("ts")) return 60;
  if (word.ends_with("at") || contains(word, "date")) return 45;
  return 0;
}

int metrics_points(std::string_view word) { return points_in(kMetrics, word); }
int readings_points(std::string_view word) { return points_in(kReadings, word); }
int metric_name_points(std::string_view word) { return points_in(kMetricNames, word); }
int value_points(std::string_view word) { return points_in(kValues, word); }

bool is_bookkeeping(std::string_view word) {
  return std::find(std::begin(kBookkeeping), std::end(kBookkeeping), word) != std::end(kBookkeeping);
}

int place_rank(std::string_view word) {
  const auto* const found = std::find(std::begin(kPlaces), std::end(kPlaces), word);
  return found == std::end(kPlaces) ? 0 : static_cast<int>(found - std::begin(kPlaces)) + 1;
}

}  // namespace hourfold
