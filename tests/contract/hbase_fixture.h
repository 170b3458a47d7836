// The HBase under test: its address comes from the environment, and without one the tests fail.
//
//     HOURFOLD_TEST_HBASE            host:port of a Thrift2 server
//     HOURFOLD_TEST_HBASE_TRANSPORT  buffered (default) or framed
//     HOURFOLD_TEST_HBASE_PROTOCOL   binary (default) or compact
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "hbase/hbase_table.h"
#include "rollup_table_contract.h"

namespace hourfold::contract {

inline SinkConfig hbase_config(const std::string& table) {
  const auto variable = [](const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? otherwise : value);
  };
  SinkConfig config;
  config.address = variable("HOURFOLD_TEST_HBASE", "");
  if (config.address.empty())
    FAIL("HOURFOLD_TEST_HBASE is not set: these tests need host:port of a real HBase Thrift2 server");
  config.transport = variable("HOURFOLD_TEST_HBASE_TRANSPORT", "buffered") == "framed"
                         ? ThriftTransport::kFramed
                         : ThriftTransport::kBuffered;
  config.protocol = variable("HOURFOLD_TEST_HBASE_PROTOCOL", "binary") == "compact" ? ThriftProtocol::kCompact
                                                                                    : ThriftProtocol::kBinary;
  config.table = table;
  return config;
}

// Tables are not dropped afterwards: the server is one for tests, and this program cannot drop tables.
inline std::string new_table_name() {
  static int last = 0;
  return "contract_" + std::to_string(getpid()) + "_" + std::to_string(++last);
}

inline std::unique_ptr<HbaseTable> hbase_table(const SinkConfig& config,
                                               std::function<void(std::string_view)> notice = nullptr) {
  auto made = HbaseTable::make(config, std::move(notice));
  REQUIRE_MESSAGE(made, made.error().message);
  return std::move(*made);
}

// A table of its own, created.
inline std::unique_ptr<HbaseTable> created_table(const SinkConfig& config) {
  auto table = hbase_table(config);
  auto created = table->create(suite_spec());
  REQUIRE_MESSAGE(created, created.error().message);
  return table;
}

inline RowPut one_row(const std::string& key, std::int64_t timestamp, std::string_view value) {
  RowPut row(key, timestamp);
  row.add('r', "m:sum", value);
  row.add('s', "t/0", value);
  return row;
}

}  // namespace hourfold::contract
