#include "app/cli.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "app/cli_suggest.h"
#include "core/edit_distance.h"

namespace hourfold {
namespace {

// Notes what would have been done.
struct Recorder {
  std::string called;
  RunOptions run;
  DemoOptions demo;
  FoldOptions fold;
  QueryOptions query;
  RebuildOptions rebuild;
  VerifyOptions verify;
  TableOptions table;
  PayloadTryOptions payload_try;

  CommandTable commands() {
    CommandTable table_of;
    table_of.run = [this](const RunOptions& o) { return note("run", run, o); };
    table_of.demo = [this](const DemoOptions& o) { return note("demo", demo, o); };
    table_of.fold = [this](const FoldOptions& o) { return note("fold", fold, o); };
    table_of.query = [this](const QueryOptions& o) { return note("query", query, o); };
    table_of.rebuild = [this](const RebuildOptions& o) { return note("rebuild", rebuild, o); };
    table_of.verify = [this](const VerifyOptions& o) { return note("verify", verify, o); };
    table_of.table_create = [this](const TableOptions& o) { return note("table create", table, o); };
    table_of.table_check = [this](const TableOptions& o) { return note("table check", table, o); };
    table_of.payload_try = [this](const PayloadTryOptions& o) { return note("payload try", payload_try, o); };
    return table_of;
  }

 private:
  template <class Options>
  int note(const char* name, Options& kept, const Options& given) {
    called = name;
    kept = given;
    return 41;
  }
};

int run(Recorder& recorder, std::vector<const char*> words) {
  words.insert(words.begin(), "hourfold");
  return run_cli(static_cast<int>(words.size()), words.data(), recorder.commands());
}

TEST_CASE("cli: payload try") {
  Recorder r;
  CHECK(run(r, {"payload", "try", "a.json", "-", "--lines", "--hex", "--key", "", "--header", "device-id=d1",
                "--header", "x=", "--arrival", "now", "--format", "json", "--propose"}) == 41);
  CHECK(r.called == "payload try");
  CHECK(r.payload_try.samples == std::vector<std::string>{"a.json", "-"});
  CHECK((r.payload_try.lines && r.payload_try.hex && r.payload_try.propose));
  CHECK(r.payload_try.key == "");
  CHECK(r.payload_try.headers == std::vector<std::string>{"device-id=d1", "x="});
  CHECK(r.payload_try.arrival == "now");
  CHECK(run(r, {"payload", "try", "--last", "5"}) == 41);
  CHECK(r.payload_try.last == 5);
  CHECK(!r.payload_try.key.has_value());
  CHECK(run(r, {"payload"}) == kExitUsage);
  CHECK(run(r, {"payload", "try", "--last", "0"}) == kExitUsage);
  CHECK(run(r, {"payload", "try", "--header", "device-id"}) == kExitUsage);
}

TEST_CASE("cli: words reach their command, and its exit code comes back") {
  Recorder r;
  CHECK(run(r, {"fold", "a.jsonl", "-", "--format", "csv", "--set", "reading.deduplicate=false", "--set",
                "policy.max_age=1d"}) == 41);
  CHECK(r.called == "fold");
  CHECK(r.fold.files == std::vector<std::string>{"a.jsonl", "-"});
  CHECK(r.fold.format == "csv");
  CHECK(r.fold.config.overrides ==
        std::vector<std::string>{"reading.deduplicate=false", "policy.max_age=1d"});

  CHECK(run(r, {"run", "-c", "h.json", "--log-level=debug"}) == 41);
  CHECK(r.run.config.file == "h.json");
  CHECK(r.run.log_level == "debug");

  CHECK(run(r, {"query", "-d", "dev 1", "--metric", "a", "-m", "b", "--from", "-24h", "--by", "day",
                "--plot"}) == 41);
  CHECK(r.query.device == "dev 1");
  CHECK(r.query.metrics == std::vector<std::string>{"a", "b"});
  CHECK(r.query.from == "-24h");
  CHECK(r.query.by == "day");
  CHECK(r.query.plot);

  CHECK(run(r, {"table", "check", "--config", "h.json"}) == 41);
  CHECK(r.called == "table check");
  CHECK(r.table.config.file == "h.json");

  CHECK(run(r, {"rebuild", "-c", "h.json", "--from", "-7d", "--follow", "--yes", "--log-level", "warn"}) ==
        41);
  CHECK(r.called == "rebuild");
  CHECK(r.rebuild.from == "-7d");
  CHECK(r.rebuild.follow);
  CHECK(r.rebuild.yes);
  CHECK(r.rebuild.log_level == "warn");
  CHECK(run(r, {"rebuild", "--into", "trial"}) == 41);
  CHECK(r.rebuild.into == "trial");

  CHECK(run(r, {"verify", "-c", "h.json", "--from", "2026-01", "--to", "-1h", "--devices", "a,b*", "--report",
                "r.txt", "--format", "json", "--max-differences", "7", "--scratch", "s", "--quiet"}) == 41);
  CHECK(r.called == "verify");
  CHECK(r.verify.from == "2026-01");
  CHECK(r.verify.to == "-1h");
  CHECK(r.verify.devices == "a,b*");
  CHECK(r.verify.report == "r.txt");
  CHECK(r.verify.format == "json");
  CHECK(r.verify.max_differences == 7);
  CHECK(r.verify.scratch == "s");
  CHECK(r.verify.quiet);

  CHECK(run(r, {"demo", "--devices", "5", "--hours", "2", "--seed", "9", "--dir", "d"}) == 41);
  CHECK(r.demo.devices == 5);
}

TEST_CASE("cli: a value with brackets stays one value") {
  Recorder r;
  CHECK(run(r, {"run", "--set", R"(kafka.topics=["a","b"])"}) == 41);
  CHECK(r.run.config.overrides == std::vector<std::string>{R"(kafka.topics=["a","b"])"});
}

TEST_CASE("cli: wrong use is 2 and calls nothing") {
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{},
                                             {"tabel"},
                                             {"table"},
                                             {"table", "make"},
                                             {"fold", "--formt", "csv"},
                                             {"fold", "--format", "xml"},
                                             {"query"},
                                             {"query", "-d", "x", "--by", "week"},
                                             {"run", "extra"},
                                             {"run", "--set", "novalue"},
                                             {"demo", "--devices", "0"},
                                             {"completion"},
                                             {"completion", "tcsh"},
                                             {"rebuild", "--into"},
                                             {"rebuild", "--folow"},
                                             {"verify", "--format", "csv"},
                                             {"verify", "--max-differences", "-1"},
                                             {"state"},
                                             {"doctor"},
                                             {"size"}}) {
    Recorder r;
    CHECK(run(r, words) == kExitUsage);
    CHECK(r.called.empty());
  }
}

TEST_CASE("cli: the nearest word is what was meant, or nothing is") {
  const std::vector<std::string> known = {"run", "demo", "fold", "query", "table"};
  CHECK(nearest("tabel", known) == "table");
  CHECK(nearest("flod", known) == "fold");
  CHECK(nearest("quer", known) == "query");
  CHECK(nearest("qeury", known) == "query");
  CHECK(nearest("rn", known) == "run");
  CHECK(nearest("rebuild", known).empty());
  CHECK(nearest("x", known).empty());
  CHECK(edit_distance("ab", "ba") == 1);
  CHECK(edit_distance("", "abc") == 3);
}

}  // namespace
}  // namespace hourfold
