// Calls to one table, with what went wrong turned into the four kinds of errors.
//
// Of a failed write HBase says less than one would like: putMultiple never tells whether trying again makes
// sense, an unknown table is reported as nothing but its name, and a row that cannot be written looks like a
// fault of the Thrift server. So where the answer would be Refused (a reading is set aside for good), the
// table is first asked whether the fault is its own.
//
// Threads: every call from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "hbase/connection_pool.h"

namespace hourfold {

class HbaseClient {
 public:
  using Request = std::function<void(ThriftClient&)>;

  HbaseClient(Endpoint endpoint, std::uint32_t connections, std::string table);

  // what: "scan", for the message. Never Unknown, never Refused.
  Result<void> read(std::string_view what, const Request& request);
  // Refused only for a request that was not applied at all.
  Result<void> write(std::string_view what, std::size_t rows, const Request& request);

  Error read_error(std::string_view what, const CallFailure& failure);
  Error write_error(std::string_view what, std::size_t rows, const CallFailure& failure);
  // "HBase at host:port, table rollups: what: text".
  std::string message(std::string_view what, std::string_view text) const;

  ConnectionPool& pool() { return pool_; }
  const std::string& table() const { return table_; }

 private:
  struct TableState {
    bool known = false;                   // the server could be asked
    std::optional<std::string> obstacle;  // why no row can be read or written, and what to do
  };
  TableState table_state();
  std::optional<std::string> obstacle_in(const std::string& error) const;

  const std::string table_;
  ConnectionPool pool_;
};

}  // namespace hourfold
