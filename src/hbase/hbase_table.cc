#include "hbase/hbase_table.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "hbase/hbase_client.h"
#include "hbase/row_codec.h"
#include "hbase/table_admin.h"
#include "hbase/table_descriptor.h"

namespace hourfold {
namespace {

constexpr std::size_t kMaxCallRows = 2'000;
constexpr std::size_t kMaxCallBytes = 4'000'000;
// The server drops the connection without a word when a frame passes 2 MiB.
constexpr std::size_t kMaxFramedCallBytes = 1'800'000;
constexpr std::size_t kMaxFramedRowBytes = 2 * 1024 * 1024 - 4096;
constexpr std::size_t kMaxKeyBytes = 32'767;
constexpr std::size_t kLookUpRows = 100;  // a contribution may have 1 MiB
constexpr std::int32_t kScanRows = 500;

std::string rows_text(std::size_t rows) { return std::to_string(rows) + (rows == 1 ? " row" : " rows"); }

std::optional<Endpoint> endpoint_of(const SinkConfig& config) {
  const std::size_t colon = config.address.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  Endpoint endpoint;
  endpoint.host = config.address.substr(0, colon);
  if (endpoint.host.size() > 2 && endpoint.host.front() == '[' && endpoint.host.back() == ']') {
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  }
  const char* end = config.address.data() + config.address.size();
  const auto [stop, error] = std::from_chars(config.address.data() + colon + 1, end, endpoint.port);
  if (error != std::errc() || stop != end || endpoint.port < 1 || endpoint.port > 65'535) return std::nullopt;
  endpoint.transport = config.transport;
  endpoint.protocol = config.protocol;
  endpoint.call_timeout_ms =
      static_cast<int>(std::clamp<std::int64_t>(config.timeout_ms, 1, std::numeric_limits<int>::max()));
  return endpoint;
}

std::optional<Error> bad_key(std::span<const std::string> keys) {
  for (const std::string& key : keys) {
    if (key.empty() || key.size() > kMaxKeyBytes) {
      return refused("a row key of " + std::to_string(key.size()) + " bytes, 1 to " +
                     std::to_string(kMaxKeyBytes) + " are possible");
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<HbaseTable>> HbaseTable::make(const SinkConfig& config,
                                                     std::function<void(std::string_view)> notice) {
  const std::optional<Endpoint> endpoint = endpoint_of(config);
  if (!endpoint)
    return fatal("sink.address is \"" + config.address + "\": write host:port of HBase's Thrift2 server");
  if (!legal_table_name(config.table)) {
    return fatal("sink.table is \"" + config.table +
                 "\": HBase allows letters, digits, '_', '-', '.', and one ':' behind a namespace");
  }
  auto client = std::make_unique<HbaseClient>(*endpoint, config.connections, config.table);
  if (!notice) notice = [](std::string_view) {};
  const bool framed = config.transport == ThriftTransport::kFramed;
  return std::unique_ptr<HbaseTable>(new HbaseTable(std::move(client), framed, std::move(notice)));
}

HbaseTable::HbaseTable(std::unique_ptr<HbaseClient> client, bool framed,
                       std::function<void(std::string_view)> notice)
    : client_(std::move(client)), framed_(framed), notice_(std::move(notice)) {}

HbaseTable::~HbaseTable() = default;

Result<void> HbaseTable::put(std::span<const RowPut> rows) {
  std::vector<const RowPut*> sorted;
  sorted.reserve(rows.size());
  for (const RowPut& row : rows) {
    if (auto why = why_unwritable(row)) return refused(client_->message("put", *why));
    if (framed_ && thrift_bytes(row) > kMaxFramedRowBytes) {
      return refused(client_->message(
          "put",
          "a row of " + std::to_string(thrift_bytes(row)) +
              " bytes does not fit into a frame of 2 MiB: use a Thrift2 server with buffered transport"));
    }
    sorted.push_back(&row);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const RowPut* a, const RowPut* b) { return a->key() < b->key(); });

  const std::size_t limit = framed_ ? kMaxFramedCallBytes : kMaxCallBytes;
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    std::size_t bytes = thrift_bytes(*sorted[end++]);
    while (end < sorted.size() && end - begin < kMaxCallRows && bytes + thrift_bytes(*sorted[end]) <= limit) {
      bytes += thrift_bytes(*sorted[end++]);
    }
    auto done = put_chunk(std::span(sorted).subspan(begin, end - begin));
    if (done) continue;
    // Earlier chunks have landed.
    if (begin > 0 && done.error().kind != ErrorKind::kFatal) return unknown(done.error().message);
    return done;
  }
  return {};
}

Result<void> HbaseTable::put_chunk(std::span<const RowPut* const> rows) {
  const std::string what = "put of " + rows_text(rows.size());
  if (rows.size() == 1) {
    const hbase_thrift::TPut put = thrift_put(*rows[0]);
    return client_->write(what, 1, [&](ThriftClient& thrift) { thrift.put(client_->table(), put); });
  }
  std::vector<hbase_thrift::TPut> puts;
  puts.reserve(rows.size());
  for (const RowPut* row : rows) puts.push_back(thrift_put(*row));
  return client_->write(what, rows.size(),
                        [&](ThriftClient& thrift) { thrift.putMultiple(client_->table(), puts); });
}

Result<std::vector<RowLookup>> HbaseTable::look_up(std::span<const std::string> keys,
                                                   std::string_view contribution) {
  if (auto error = bad_key(keys)) return *error;
  std::vector<RowLookup> rows(keys.size());
  const Columns column = {{'s', std::string(contribution)}};
  for (std::size_t begin = 0; begin < keys.size(); begin += kLookUpRows) {
    const std::size_t count = std::min(kLookUpRows, keys.size() - begin);
    auto got = get_multiple("look-up", keys.subspan(begin, count), column);
    if (!got) return got.error();
    for (std::size_t i = 0; i < count; ++i) {
      if (!(*got)[i].cells.empty()) rows[begin + i].contribution = std::move((*got)[i].cells.front());
    }
    auto found =
        find_rollups(keys.subspan(begin, count), contribution, std::span(rows).subspan(begin, count));
    if (!found) return found.error();
  }
  return rows;
}

Result<std::vector<StoredRow>> HbaseTable::read(std::span<const std::string> keys) {
  if (auto error = bad_key(keys)) return *error;
  std::vector<StoredRow> rows;
  rows.reserve(keys.size());
  for (std::size_t begin = 0; begin < keys.size(); begin += kLookUpRows) {
    const auto some = keys.subspan(begin, std::min(kLookUpRows, keys.size() - begin));
    auto got = get_multiple("get", some, {{'r', ""}, {'s', ""}});
    if (!got) return got.error();
    std::ranges::move(*got, std::back_inserter(rows));
  }
  return rows;
}

// One answer per key, in order.
Result<std::vector<StoredRow>> HbaseTable::get_multiple(std::string_view what,
                                                        std::span<const std::string> keys,
                                                        const Columns& columns) {
  std::vector<hbase_thrift::TGet> gets;
  gets.reserve(keys.size());
  for (const std::string& key : keys) gets.push_back(thrift_get(key, columns));
  std::vector<hbase_thrift::TResult> results;
  auto done = client_->read(std::string(what) + " of " + rows_text(keys.size()), [&](ThriftClient& thrift) {
    results.clear();
    thrift.getMultiple(results, client_->table(), gets);
  });
  if (!done) return done.error();
  if (results.size() != keys.size()) {
    return unavailable(
        client_->message(what, rows_text(results.size()) + " came back for " + std::to_string(keys.size())));
  }
  std::vector<StoredRow> rows;
  rows.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    rows.push_back(stored_row(std::move(results[i])));
    rows.back().key = keys[i];  // an empty result has none
  }
  return rows;
}

// Of the rows without the contribution, whether there are cells in `r`: a yes or a no, no data. Where there
// are, the row is read whole, at one moment: it may have been written between the two questions, also by an
// owner before us, and then the contribution is there now.
Result<void> HbaseTable::find_rollups(std::span<const std::string> keys, std::string_view contribution,
                                      std::span<RowLookup> rows) {
  std::vector<std::size_t> asked;
  std::vector<hbase_thrift::TGet> gets;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (rows[i].contribution) continue;
    asked.push_back(i);
    gets.push_back(thrift_get(keys[i], {{'r', ""}}));
  }
  if (gets.empty()) return {};
  std::vector<bool> answers;
  auto done = client_->read("existsAll of " + rows_text(gets.size()), [&](ThriftClient& thrift) {
    answers.clear();
    thrift.existsAll(answers, client_->table(), gets);
  });
  if (!done) return done;
  if (answers.size() != gets.size()) {
    return unavailable(client_->message(
        "existsAll", rows_text(answers.size()) + " came back for " + std::to_string(gets.size())));
  }
  std::vector<std::size_t> there;
  std::vector<std::string> there_keys;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!answers[i]) continue;
    there.push_back(asked[i]);
    there_keys.push_back(keys[asked[i]]);
  }
  auto whole = read(there_keys);
  if (!whole) return whole.error();
  for (std::size_t i = 0; i < there.size(); ++i) rows[there[i]] = look_up_in((*whole)[i], contribution);
  return {};
}

// A page is a scanner that the server opens and closes in one call: there is no scanner id that could expire
// while the reader is slow.
Result<void> HbaseTable::scan(const std::string& from, const std::string& to, bool all_families,
                              const std::function<bool(const StoredRow&)>& on_row) {
  if (!to.empty() && from >= to) return {};
  hbase_thrift::TScan scan;
  scan.__set_startRow(from);
  scan.__set_stopRow(to);
  scan.__set_caching(kScanRows);
  scan.__set_limit(kScanRows);
  scan.__set_cacheBlocks(false);
  if (!all_families) scan.__set_columns(thrift_columns({{'r', ""}}));
  while (true) {
    std::vector<hbase_thrift::TResult> page;
    auto done = client_->read("scan", [&](ThriftClient& thrift) {
      page.clear();
      thrift.getScannerResults(page, client_->table(), scan, kScanRows);
    });
    if (!done) return done;
    if (page.empty()) return {};
    scan.startRow = page.back().row + '\0';
    const bool last = page.size() < static_cast<std::size_t>(kScanRows);
    for (hbase_thrift::TResult& result : page) {
      if (!on_row(stored_row(std::move(result)))) return {};
    }
    if (last) return {};
  }
}

Result<std::optional<StoredRow>> HbaseTable::get(const std::string& key) {
  if (auto error = bad_key(std::span(&key, 1))) return *error;
  hbase_thrift::TResult result;
  auto done = client_->read("get", [&](ThriftClient& thrift) {
    result = {};
    thrift.get(result, client_->table(), thrift_get(key, {}));
  });
  if (!done) return done.error();
  StoredRow row = stored_row(std::move(result));
  if (row.cells.empty()) return std::optional<StoredRow>();
  return std::optional<StoredRow>(std::move(row));
}

Result<bool> HbaseTable::empty() {
  hbase_thrift::TScan scan;
  scan.__set_stopRow("\xff");
  scan.__set_limit(1);
  scan.__set_caching(1);
  scan.__set_columns(thrift_columns({{'r', ""}, {'s', ""}}));
  std::vector<hbase_thrift::TResult> page;
  auto done = client_->read("scan for a first row", [&](ThriftClient& thrift) {
    page.clear();
    thrift.getScannerResults(page, client_->table(), scan, 1);
  });
  if (!done) return done.error();
  return page.empty();
}

Result<void> HbaseTable::create(const TableSpec& spec) { return create_table(*client_, spec, notice_); }

Result<std::vector<TableFinding>> HbaseTable::check(const TableSpec& spec) {
  return check_table(*client_, spec);
}

}  // namespace hourfold
