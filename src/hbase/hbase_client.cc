#include "hbase/hbase_client.h"

#include <utility>

#include "hbase/table_descriptor.h"

namespace hourfold {
namespace {

using Kind = CallFailure::Kind;

constexpr std::size_t kMaxErrorText = 400;

// HBase sends its stack traces along.
std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (line.size() > kMaxErrorText) line = line.substr(0, kMaxErrorText) + " ...";
  return line.empty() ? "an error without a text" : line;
}

// What HBase names in its text when the fault is of the table or of our rights, not of one row.
struct TableFault {
  const char* sign;
  const char* what_to_do;
};
constexpr TableFault kTableFaults[] = {
    {"TableNotFoundException", "the table does not exist: run `hourfold table create`"},
    {"NamespaceNotFoundException",
     "the namespace does not exist: create it in the HBase shell (create_namespace)"},
    {"NoSuchColumnFamilyException", "the table lacks a family: run `hourfold table check`"},
    {"TableNotEnabledException", "the table is disabled: enable it in the HBase shell"},
    {"is disabled", "the table is disabled: enable it in the HBase shell"},
    {"AccessDeniedException", "grant the Thrift server's user RW on the table"},
    {"Insufficient permissions", "grant the Thrift server's user RW on the table"},
    {"Read-only mode", "the Thrift server is read-only: set hbase.thrift.readonly to false"},
    {"is read only", "the table is read-only: alter it with READONLY => 'false' in the HBase shell"},
    {"SpaceLimitingException", "a space quota of HBase is used up: raise it or remove data"},
    {"QuotaExceededException", "a quota of HBase is used up: raise it or remove data"},
};

}  // namespace

HbaseClient::HbaseClient(Endpoint endpoint, std::uint32_t connections, std::string table)
    : table_(std::move(table)), pool_(std::move(endpoint), connections) {}

Result<void> HbaseClient::read(std::string_view what, const Request& request) {
  if (const auto failure = pool_.call(request)) return read_error(what, *failure);
  return {};
}

Result<void> HbaseClient::write(std::string_view what, std::size_t rows, const Request& request) {
  if (const auto failure = pool_.call(request)) return write_error(what, rows, *failure);
  return {};
}

Error HbaseClient::read_error(std::string_view what, const CallFailure& failure) {
  const std::string text = first_line(failure.message);
  if (failure.kind == Kind::kWrongServer) return fatal(message(what, text));
  if (failure.kind != Kind::kIoError) return unavailable(message(what, text));
  if (const auto obstacle = obstacle_in(failure.message))
    return unavailable(message(what, *obstacle + " (" + text + ")"));
  if (failure.can_retry == false) {
    if (const auto obstacle = table_state().obstacle) return unavailable(message(what, *obstacle));
  }
  return unavailable(message(what, text));
}

Error HbaseClient::write_error(std::string_view what, std::size_t rows, const CallFailure& failure) {
  const std::string text = message(what, first_line(failure.message));
  switch (failure.kind) {
    case Kind::kNotSent:
      return unavailable(text);
    case Kind::kWrongServer:
      return fatal(text);
    case Kind::kNoAnswer:
      return unknown(text);
    case Kind::kIoError:
    case Kind::kServerFault:
      break;
  }
  const bool one = rows <= 1;
  const bool final = failure.kind == Kind::kServerFault || (one && failure.can_retry == false);
  std::optional<std::string> obstacle = obstacle_in(failure.message);
  // A batch against a missing table says so only by its name, as single rows do.
  const bool says_nothing = failure.message.find("Exception") == std::string::npos;
  bool asked = false;
  if (!obstacle && (final || says_nothing)) {
    TableState state = table_state();
    obstacle = std::move(state.obstacle);
    asked = state.known;
  }
  if (obstacle) {
    const std::string advice = message(what, *obstacle) + " (" + first_line(failure.message) + ")";
    return final ? unavailable(advice) : unknown(advice);
  }
  return final && asked ? refused(text) : unknown(text);
}

HbaseClient::TableState HbaseClient::table_state() {
  bool exists = false;
  bool enabled = false;
  const auto failure = pool_.call([&](ThriftClient& client) {
    exists = client.tableExists(thrift_table_name(table_));
    enabled = exists && client.isTableEnabled(thrift_table_name(table_));
  });
  if (failure) return {};
  if (!exists) return {true, "table " + table_ + " does not exist: run `hourfold table create`"};
  if (!enabled) return {true, "table " + table_ + " is disabled: enable '" + table_ + "' in the HBase shell"};
  return {true, std::nullopt};
}

std::optional<std::string> HbaseClient::obstacle_in(const std::string& error) const {
  for (const TableFault& fault : kTableFaults) {
    if (error.find(fault.sign) != std::string::npos) return fault.what_to_do;
  }
  return std::nullopt;
}

std::string HbaseClient::message(std::string_view what, std::string_view text) const {
  std::string out = "HBase at " + pool_.endpoint().address() + ", table " + table_ + ": ";
  return out.append(what).append(": ").append(text);
}

}  // namespace hourfold
