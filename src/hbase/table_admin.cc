#include "hbase/table_admin.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/table_meta.h"
#include "hbase/row_codec.h"
#include "hbase/table_descriptor.h"

namespace hourfold {
namespace {

using hbase_thrift::TCompressionAlgorithm;
using hbase_thrift::TTableDescriptor;
using Clock = std::chrono::steady_clock;
using Kind = CallFailure::Kind;

constexpr auto kCreationWait = std::chrono::seconds(60);
constexpr auto kCreationPoll = std::chrono::milliseconds(500);

struct Codec {
  TCompressionAlgorithm::type algorithm;
  const char* name;
};
// The best first. Which of them the region servers can load is known only by trying.
constexpr Codec kCodecs[] = {{TCompressionAlgorithm::ZSTD, "ZSTD"},
                             {TCompressionAlgorithm::LZ4, "LZ4"},
                             {TCompressionAlgorithm::SNAPPY, "SNAPPY"},
                             {TCompressionAlgorithm::GZ, "GZ"},
                             {TCompressionAlgorithm::NONE, "no compression"}};

bool codec_refused(const CallFailure& failure) {
  if (failure.kind != Kind::kIoError || failure.can_retry == true) return false;
  const auto has = [&](const char* sign) { return failure.message.find(sign) != std::string::npos; };
  return has("ompression") || has("library not available") || has("UnsatisfiedLinkError");
}

// The master may go on after an answer was lost, or the Thrift server may have asked it twice.
bool perhaps_created(const CallFailure& failure) {
  return failure.kind == Kind::kNoAnswer || (failure.kind == Kind::kIoError && failure.can_retry != false);
}

Result<bool> exists(HbaseClient& client) {
  bool answer = false;
  auto done = client.read("tableExists", [&](ThriftClient& thrift) {
    answer = thrift.tableExists(thrift_table_name(client.table()));
  });
  if (!done) return done.error();
  return answer;
}

// All its regions are open.
bool available(HbaseClient& client) {
  bool answer = false;
  auto done = client.read("isTableAvailable", [&](ThriftClient& thrift) {
    answer = thrift.isTableAvailable(thrift_table_name(client.table()));
  });
  return done && answer;
}

Result<TTableDescriptor> descriptor(HbaseClient& client) {
  TTableDescriptor found;
  auto done = client.read("getTableDescriptor", [&](ThriftClient& thrift) {
    found = {};
    thrift.getTableDescriptor(found, thrift_table_name(client.table()));
  });
  if (!done) return done.error();
  return found;
}

Result<bool> has_meta_row(HbaseClient& client) {
  bool found = false;
  auto done = client.read("get of the meta row", [&](ThriftClient& thrift) {
    hbase_thrift::TResult row;
    thrift.get(row, client.table(), thrift_get(std::string(meta_row_key()), {{'m', ""}}));
    found = !row.columnValues.empty();
  });
  if (!done) return done.error();
  return found;
}

// The first finding that is not harmless; empty if there is none.
std::string first_serious(const std::vector<TableFinding>& findings) {
  for (const TableFinding& finding : findings) {
    if (!finding.harmless) return finding.message;
  }
  return "";
}

Result<void> write_meta_row(HbaseClient& client, const TableSpec& spec) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const RowPut row = new_meta_row({spec.buckets, spec.layout, kTableVersion}, now.count());
  return client.write("put of the meta row", 1,
                      [&](ThriftClient& thrift) { thrift.put(client.table(), thrift_put(row)); });
}

// Every creation ends here: the table must be what was asked for before it gets the row that says so.
Result<void> finish(HbaseClient& client, const TableSpec& spec) {
  auto found = descriptor(client);
  if (!found) return found.error();
  const std::string wrong = first_serious(compare(*found, spec));
  if (!wrong.empty())
    return fatal(client.message("createTable", "made a table that is not as asked for: " + wrong));
  return write_meta_row(client, spec);
}

Result<void> wait_until_created(HbaseClient& client, const TableSpec& spec, const Error& uncertain,
                                const Notice& notice) {
  notice("creation of table " + client.table() +
         " was not confirmed, waiting for the table: " + uncertain.message);
  for (const auto deadline = Clock::now() + kCreationWait; Clock::now() < deadline;
       std::this_thread::sleep_for(kCreationPoll)) {
    if (!available(client)) continue;
    auto finished = finish(client, spec);
    if (!finished && finished.error().retryable()) continue;
    return finished;
  }
  return uncertain;
}

Result<void> complete_or_refuse(HbaseClient& client, const TableSpec& spec, const Notice& notice) {
  auto found = descriptor(client);
  if (!found) return found.error();
  auto meta = has_meta_row(client);
  const bool ours = first_serious(compare(*found, spec)).empty();
  if (ours && meta && !*meta) {
    notice("table " + client.table() +
           " exists without its meta row: completing a creation that was interrupted");
    return write_meta_row(client, spec);
  }
  return fatal(client.message(
      "create",
      "the table exists already: check it with `hourfold table check`, or name another in sink.table"));
}

// Few regions, or regions that are not open just now, are worth a word and no more: the table is the right
// one.
void check_regions(HbaseClient& client, const TableSpec& spec, std::vector<TableFinding>& findings) {
  std::vector<hbase_thrift::THRegionLocation> regions;
  const auto located = client.read("getAllRegionLocations", [&](ThriftClient& thrift) {
    regions.clear();
    thrift.getAllRegionLocations(regions, client.table());
  });
  const std::string table = "table " + client.table();
  if (!located) {
    findings.push_back({true, table + " has regions that are not open: wait, or see the HBase master (" +
                                  located.error().message + ")"});
  } else if (regions.size() < spec.buckets) {
    findings.push_back({true, table + " has " + std::to_string(regions.size()) + " regions for " +
                                  std::to_string(spec.buckets) +
                                  " salts, so few servers share the load: split it in the HBase shell"});
  }
}

}  // namespace

Result<void> create_table(HbaseClient& client, const TableSpec& spec, const Notice& notice) {
  auto there = exists(client);
  if (!there) return there.error();
  if (*there) return complete_or_refuse(client, spec, notice);
  for (const Codec& codec : kCodecs) {
    const auto failure = client.pool().call_frame_per_write([&](ThriftClient& thrift) {
      thrift.createTable(make_descriptor(client.table(), spec, codec.algorithm), split_keys(spec.buckets));
    });
    if (!failure) {
      notice("table " + client.table() + " created with " + std::to_string(spec.buckets) + " regions and " +
             codec.name);
      return finish(client, spec);
    }
    if (codec_refused(*failure)) {
      notice(std::string(codec.name) + " cannot be loaded by the HBase servers, trying the next");
      continue;
    }
    if (failure->message.find("TableExistsException") != std::string::npos)
      return complete_or_refuse(client, spec, notice);
    const Error error = client.read_error("createTable", *failure);
    return perhaps_created(*failure) ? wait_until_created(client, spec, unknown(error.message), notice)
                                     : error;
  }
  return fatal(client.message(
      "createTable", "the HBase servers refuse every compression and a table without: see the master's log"));
}

Result<std::vector<TableFinding>> check_table(HbaseClient& client, const TableSpec& spec) {
  auto found = descriptor(client);
  if (!found) return found.error();
  std::vector<TableFinding> findings = compare(*found, spec);

  check_regions(client, spec, findings);

  const bool has_m = std::any_of(found->columns.begin(), found->columns.end(),
                                 [](const auto& family) { return family.name == "m"; });
  if (!has_m) return findings;
  auto meta = has_meta_row(client);
  if (!meta) return meta.error();
  if (!*meta) {
    findings.push_back({false, "table " + client.table() +
                                   " has no meta row, its creation was interrupted: run `hourfold table "
                                   "create` again to complete it"});
  }
  return findings;
}

}  // namespace hourfold
