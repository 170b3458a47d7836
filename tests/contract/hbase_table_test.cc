#include "hbase/hbase_table.h"

#include <algorithm>
#include <limits>

#include "hbase/table_descriptor.h"
#include "hbase/thrift_channel.h"
#include "hbase_fixture.h"

using namespace hourfold;
using namespace hourfold::contract;

namespace {

class HbaseUnderTest final : public TableUnderTest {
 public:
  HbaseUnderTest() : config_(hbase_config(new_table_name())) { HbaseUnderTest::reopen(); }
  RollupTable& table() override { return *table_; }
  void reopen() override { table_ = hbase_table(config_); }

 private:
  SinkConfig config_;
  std::unique_ptr<HbaseTable> table_;
};

std::string finding_about(const std::vector<TableFinding>& findings, const std::string& part, bool harmless) {
  for (const TableFinding& finding : findings) {
    if (finding.harmless == harmless && finding.message.find(part) != std::string::npos)
      return finding.message;
  }
  return "";
}

// Makes a table as somebody else might.
void create_raw(const SinkConfig& config, const hbase_thrift::TTableDescriptor& descriptor) {
  Endpoint endpoint;
  const std::size_t colon = config.address.rfind(':');
  endpoint.host = config.address.substr(0, colon);
  endpoint.port = std::stoi(config.address.substr(colon + 1));
  endpoint.transport = config.transport;
  endpoint.protocol = config.protocol;
  ThriftChannel channel(endpoint, Framing::kPerWrite);
  channel.open();
  channel.client().createTable(descriptor, {});
}

std::vector<TableFinding> checked(HbaseTable& table, const TableSpec& spec) {
  auto findings = table.check(spec);
  REQUIRE_MESSAGE(findings, findings.error().message);
  return *findings;
}

}  // namespace

TEST_CASE("hbase table: contract of rollup tables") {
  TableSuite suite;
  suite.make = [] { return std::make_unique<HbaseUnderTest>(); };
  suite.random_batches = 150;
  run_rollup_table_contract(suite);
}

TEST_CASE("case 34: hbase table: lifetimes shorter than asked for are findings, longer ones are harmless") {
  const SinkConfig config = hbase_config(new_table_name());
  const auto table = hbase_table(config);
  TableSpec spec = suite_spec();
  spec.rollup_ttl_s = 100 * 86'400;
  spec.contribution_ttl_s = 36 * 86'400;
  auto created = table->create(spec);
  REQUIRE_MESSAGE(created, created.error().message);
  CHECK(checked(*table, spec).empty());

  spec.rollup_ttl_s = 50 * 86'400;
  spec.contribution_ttl_s.reset();
  const std::vector<TableFinding> findings = checked(*table, spec);
  CHECK(findings.size() == 2);
  CHECK(finding_about(findings, "family r", true) != "");
  const std::string serious = finding_about(findings, "family s", false);
  CHECK_MESSAGE(serious.find("36 d") != std::string::npos, serious);
  CHECK_MESSAGE(serious.find("TTL => 'FOREVER'") != std::string::npos, serious);
}

TEST_CASE("hbase table: date-tiered and packed, in many regions") {
  std::string notices;
  const auto table = hbase_table(hbase_config(new_table_name()),
                                 [&](std::string_view notice) { notices.append(notice).append("\n"); });
  TableSpec spec;
  spec.buckets = 32;
  spec.layout = RowLayout::kPacked;
  spec.date_tiered = true;
  auto created = table->create(spec);
  REQUIRE_MESSAGE(created, created.error().message);
  CHECK_MESSAGE(notices.find("created with 32 regions and ") != std::string::npos, notices);
  CHECK(checked(*table, spec).empty());
  const RowPut row = one_row("\x1fk", 5, "v");
  CHECK(table->put(std::span(&row, 1)));
  spec.date_tiered = false;
  CHECK(finding_about(checked(*table, spec), "date-tiered", true) != "");
}

TEST_CASE("hbase table: a table of somebody else is not taken for ours") {
  const SinkConfig config = hbase_config(new_table_name());
  hbase_thrift::TTableDescriptor descriptor;
  descriptor.__set_tableName(thrift_table_name(config.table));
  descriptor.columns.emplace_back().__set_name("r");
  descriptor.__set_columns(descriptor.columns);
  create_raw(config, descriptor);

  const auto table = hbase_table(config);
  const std::vector<TableFinding> findings = checked(*table, suite_spec());
  CHECK(finding_about(findings, "attributes", false) != "");
  CHECK(finding_about(findings, "no family s", false) != "");
  CHECK(finding_about(findings, "no family m", false) != "");
  CHECK(finding_about(findings, "not compressed", true) != "");
  CHECK(finding_about(findings, "FAST_DIFF", true) != "");
  CHECK(finding_about(findings, "regions", true) != "");
  auto created = table->create(suite_spec());
  REQUIRE(!created);
  CHECK(created.error().kind == ErrorKind::kFatal);

  // The missing family is a fault of the table, not of the row.
  const RowPut rows[] = {one_row("\1k", 5, "v"), one_row("\2k", 5, "v")};
  auto one = table->put(std::span(rows, 1));
  REQUIRE(!one);
  CHECK_MESSAGE(one.error().kind == ErrorKind::kUnavailable, one.error().message);
  CHECK_MESSAGE(one.error().message.find("family") != std::string::npos, one.error().message);
  auto two = table->put(rows);
  REQUIRE(!two);
  CHECK_MESSAGE(two.error().retryable(), two.error().message);
  CHECK_MESSAGE(two.error().message.find("family") != std::string::npos, two.error().message);
  const std::string key = rows[0].key();
  auto found = table->look_up(std::span(&key, 1), "t/0");
  REQUIRE(!found);
  CHECK_MESSAGE(found.error().kind == ErrorKind::kUnavailable, found.error().message);
}

TEST_CASE("hbase table: a creation that was interrupted is noticed and completed") {
  const SinkConfig config = hbase_config(new_table_name());
  create_raw(config, make_descriptor(config.table, suite_spec(), hbase_thrift::TCompressionAlgorithm::GZ));
  const auto table = hbase_table(config);
  CHECK(finding_about(checked(*table, suite_spec()), "meta row", false) != "");
  auto completed = table->create(suite_spec());
  REQUIRE_MESSAGE(completed, completed.error().message);
  CHECK(finding_about(checked(*table, suite_spec()), "meta row", false) == "");
}

// The Thrift server answers such a row with "internal error" and nothing more.
TEST_CASE("case 21: hbase table: a row that only the server refuses, alone and in a batch") {
  const auto table = created_table(hbase_config(new_table_name()));
  const std::string huge(11 << 20, 'x');
  const RowPut rows[] = {one_row("\1good", 5, "v"), one_row("\1huge", 5, huge)};
  auto alone = table->put(std::span(rows).subspan(1));
  REQUIRE(!alone);
  CHECK_MESSAGE(alone.error().kind == ErrorKind::kRefused, alone.error().message);
  const auto good = table->put(std::span(rows, 1));
  CHECK(good);
}

TEST_CASE("hbase table: nonsense in the configuration is named") {
  SinkConfig config = hbase_config("t");
  for (const char* const address :
       {"", "localhost", ":9090", "localhost:", "localhost:x", "localhost:0", "localhost:65536"}) {
    config.address = address;
    auto made = HbaseTable::make(config, nullptr);
    REQUIRE(!made);
    CHECK(made.error().kind == ErrorKind::kFatal);
  }
  config = hbase_config("t");
  for (const char* const name : {"", "a b", ":t", "n:", "n:a:b", "-t", ".t", "t\xc3\xa4"}) {
    config.table = name;
    CHECK_FALSE(HbaseTable::make(config, nullptr));
  }
  config.table = "telemetry:rollups-2_v.1";
  CHECK(HbaseTable::make(config, nullptr));
}
