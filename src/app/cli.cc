#include "app/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string_view>
#include <vector>

#include "app/cli_completion.h"
#include "app/cli_options.h"
#include "app/cli_payload.h"
#include "app/cli_suggest.h"
#include "app/output.h"

namespace hourfold {
namespace {

class CommandLine {
 public:
  CommandLine();

  int run(int argc, const char* const* argv, const CommandTable& commands);

 private:
  void define_run();
  void define_demo();
  void define_fold();
  void define_query();
  void define_rebuild();
  void define_verify();
  void define_table();
  void define_completion();

  int dispatch(const CommandTable& commands);
  int print_completion() const;
  int explain(const CLI::ParseError& error) const;
  std::string what_is_wrong(const CLI::App& command, const CLI::ParseError& error) const;

  CLI::App app_{"Hourfold: a Kafka topic of device readings becomes exact hourly rollups in HBase.",
                "hourfold"};
  RunOptions run_;
  DemoOptions demo_;
  FoldOptions fold_;
  QueryOptions query_;
  RebuildOptions rebuild_;
  VerifyOptions verify_;
  TableOptions table_;
  PayloadTryOptions payload_try_;
  std::string shell_;

  CLI::App* run_command_ = nullptr;
  CLI::App* demo_command_ = nullptr;
  CLI::App* fold_command_ = nullptr;
  CLI::App* query_command_ = nullptr;
  CLI::App* rebuild_command_ = nullptr;
  CLI::App* verify_command_ = nullptr;
  CLI::App* create_command_ = nullptr;
  CLI::App* check_command_ = nullptr;
  CLI::App* payload_try_command_ = nullptr;
  CLI::App* completion_command_ = nullptr;
};

CommandLine::CommandLine() {
  app_.set_version_flag("--version", "hourfold " HOURFOLD_VERSION);
  app_.require_subcommand(1);
  app_.footer(
      "Start here:\n"
      "  hourfold demo                              the whole thing, no server to install\n"
      "  hourfold payload try sample.json           what your topic has, and the configuration that reads "
      "it\n"
      "  hourfold fold readings.jsonl               a file of readings to hourly rollups\n"
      "  hourfold table create -c hourfold.json     make the HBase table, then\n"
      "  hourfold run -c hourfold.json              the service\n"
      "\n"
      "hourfold COMMAND --help explains a command.\n"
      "Exit codes: 0 done, 1 the check failed, 2 wrong use or configuration, 3 a needed service refused or "
      "is missing.");
  define_run();
  define_demo();
  define_fold();
  define_query();
  define_rebuild();
  define_verify();
  define_table();
  payload_try_command_ = define_payload_try(app_, payload_try_);
  define_completion();
}

void CommandLine::define_run() {
  run_command_ =
      app_.add_subcommand("run", "Run the service: read the topic, fold its readings, keep the table right");
  add_config(*run_command_, run_.config);
  add_log_level(*run_command_, run_.log_level);
  run_command_->footer(
      "SIGTERM or Ctrl-C writes what is pending, commits and leaves; a second one leaves at once.\n"
      "Scale by starting more processes with the same configuration, up to the number of partitions.\n"
      "\n"
      "Examples:\n"
      "  hourfold run -c hourfold.json\n"
      "  hourfold run -c hourfold.json --set http.listen=0.0.0.0:9464 --set workers=4");
}

void CommandLine::define_demo() {
  demo_command_ = app_.add_subcommand(
      "demo", "Show it all in one process: broker, fleet, service, table, and a check of every cell");
  demo_command_->add_option("--devices", demo_.devices, "Devices of the simulated fleet")
      ->type_name("N")
      ->check(CLI::Range(1U, 1'000'000U).description(""))
      ->capture_default_str();
  demo_command_->add_option("--hours", demo_.hours, "Hours of readings that it sends")
      ->type_name("N")
      ->check(CLI::Range(1U, 720U).description(""))
      ->capture_default_str();
  demo_command_->add_option("--seed", demo_.seed, "The same seed gives the same readings")
      ->type_name("N")
      ->capture_default_str();
  demo_command_->add_option("--dir", demo_.dir, "Where rollups and state go; default: a temporary folder")
      ->type_name("DIR");
  add_overrides(*demo_command_, demo_.overrides);
  add_log_level(*demo_command_, demo_.log_level);
  demo_command_->footer(
      "Exit code 0 if every cell equals an independent recomputation, else 1.\n"
      "\n"
      "Examples:\n"
      "  hourfold demo\n"
      "  hourfold demo --devices 5000 --hours 48 --dir /tmp/fleet");
}

void CommandLine::define_fold() {
  fold_command_ =
      app_.add_subcommand("fold", "Fold lines of JSON into hourly rollups, by the same rules as the service");
  fold_command_
      ->add_option("FILE", fold_.files, "lines, one record each (of Avro in hex); none or -: standard input")
      ->type_name("FILE");
  choice(fold_command_->add_option("--format", fold_.format, "What is printed"), {"json", "csv"})
      ->capture_default_str();
  add_config(*fold_command_, fold_.config);
  fold_command_->footer(
      "Reads   {\"device\":\"dev-1\",\"ts\":1767225600123,\"metrics\":{\"temp_c\":21.5}}\n"
      "Prints  "
      "{\"device\":\"dev-1\",\"metric\":\"temp_c\",\"hour\":1767225600000,\"min\":21.5,\"max\":21.5,\"sum\":"
      "21.5,\"count\":1}\n"
      "\n"
      "A reading arrived at its \"arrival_ts\" (epoch milliseconds) if it has one, else at its event time.\n"
      "Rows are sorted by device, metric and hour; what became of the readings is told on standard error.\n"
      "A configuration is not needed; of one, only \"reading\" and \"policy\" are used.\n"
      "\n"
      "Examples:\n"
      "  gzip -dc readings.jsonl.gz | hourfold fold > rollups.jsonl\n"
      "  hourfold fold --format csv --set reading.deduplicate=false monday.jsonl tuesday.jsonl");
}

void CommandLine::define_query() {
  query_command_ =
      app_.add_subcommand("query", "Print or plot the rollups of a device, by hour, day or month");
  query_command_->add_option("-d,--device", query_.device, "Which device")->type_name("ID")->required();
  query_command_->add_option("-m,--metric", query_.metrics, "Only this metric; repeatable. Default: all")
      ->type_name("NAME")
      ->allow_extra_args(false);
  query_command_->add_option("--from", query_.from, "First time, see below")->type_name("TIME");
  query_command_
      ->add_option("--to", query_.to, "End, exclusive; a date or month counts whole. Default: no end")
      ->type_name("TIME");
  choice(query_command_->add_option("--by", query_.by, "Add up to (UTC)"), {"hour", "day", "month"})
      ->capture_default_str();
  choice(query_command_->add_option("--format", query_.format, "What is printed"), {"table", "csv", "json"})
      ->capture_default_str();
  query_command_->add_flag("--plot", query_.plot, "Draw min, max and average on the terminal instead");
  add_config(*query_command_, query_.config);
  query_command_->footer(
      "A TIME is 2026-01-31, 2026-01, 2026-01-31T06:00Z, 2026-01-31T06:00+01:00, epoch milliseconds, now,\n"
      "or -24h, -7d before now. The range is widened to whole hours, days or months, so that none lacks a "
      "part.\n"
      "Without --from, csv and json give everything; table and plot the newest 24 hours, 31 days or 12 "
      "months\n"
      "that there are (--from all: everything).\n"
      "The average of a day is the sum of its hours' sums over the sum of their counts.\n"
      "An embedded table may be queried while the service holds it.\n"
      "\n"
      "Examples:\n"
      "  hourfold query -c hourfold.json --device dev-00000042 --plot\n"
      "  hourfold query -c hourfold.json --device dev-00000042 --metric temp_c --by day --from 2026-01\n"
      "  hourfold query -c hourfold.json --device dev-00000042 --from -7d --format csv > week.csv");
}

void CommandLine::define_rebuild() {
  rebuild_command_ = app_.add_subcommand(
      "rebuild", "Compute the table anew from the topic, after a fixed parser or a changed policy");
  rebuild_command_
      ->add_option("--from", rebuild_.from, "earliest (default), or when the first record arrived")
      ->type_name("TIME");
  rebuild_command_->add_flag(
      "--follow", rebuild_.follow,
      "Write the next generation beside the live service, then take over and go on as it");
  rebuild_command_->add_option("--into", rebuild_.into, "Write another table, up to the end of the topic")
      ->type_name("TABLE");
  rebuild_command_->add_flag("--yes", rebuild_.yes, "Do not ask");
  add_config(*rebuild_command_, rebuild_.config);
  add_log_level(*rebuild_command_, rebuild_.log_level);
  rebuild_command_->footer(
      "Reads the topic to the end that it has now and writes nothing before it is there. Only hours that the "
      "topic has\n"
      "wholly are written; older rows keep what they have. It has a consumer group and a state of its own "
      "and may be\n"
      "stopped and started again at any time: the same command goes on where it was.\n"
      "\n"
      "  --follow      every cell outranks those of the generation before, also with lower totals\n"
      "  --into TABLE  the table must exist; a service of the group that is named can go on with it\n"
      "  neither       the generation that the table has: only what is missing comes back\n"
      "\n"
      "Examples:\n"
      "  hourfold rebuild -c hourfold.json --follow\n"
      "  hourfold table create -c hourfold.json --set sink.table=trial\n"
      "  hourfold rebuild -c hourfold.json --into trial --yes");
}

void CommandLine::define_verify() {
  verify_command_ = app_.add_subcommand(
      "verify", "Read the topic again and compare every cell of the table with what it must be");
  verify_command_->add_option("--from", verify_.from, "First hour, see below")->type_name("TIME");
  verify_command_->add_option("--to", verify_.to, "End, exclusive; a date or month counts whole")
      ->type_name("TIME");
  verify_command_->add_option("--devices", verify_.devices, "Only these, as in dev-1,dev-2 or 'site-a-*'")
      ->type_name("GLOB|LIST");
  verify_command_->add_option("--report", verify_.report, "Write all differences there, too")
      ->type_name("FILE");
  choice(verify_command_->add_option("--format", verify_.format, "What is printed and reported"),
         {"text", "json"})
      ->capture_default_str();
  verify_command_
      ->add_option("--max-differences", verify_.max_differences, "How many of them are printed; all count")
      ->type_name("N")
      ->check(CLI::Range(0U, 1'000'000'000U).description(""))
      ->capture_default_str();
  verify_command_
      ->add_option("--scratch", verify_.scratch,
                   "Where hours are kept while it runs; default: the temporary folder")
      ->type_name("DIR");
  verify_command_->add_flag("--quiet", verify_.quiet, "No progress on standard error");
  add_config(*verify_command_, verify_.config);
  verify_command_->footer(
      "Exit code 0 if nothing differs, else 1.\n"
      "\n"
      "Reads all partitions up to the offsets that kafka.group has committed, without joining the group, and "
      "may run\n"
      "beside the service: rows that hold newer readings are counted apart. Hours whose readings are no "
      "longer wholly\n"
      "in the topic cannot be compared; how many those are is said.\n"
      "Memory stays within state.memory; DIR takes about as much as the compared hours have in the state.\n"
      "A TIME is written as for `hourfold query`.\n"
      "\n"
      "Examples:\n"
      "  hourfold verify -c hourfold.json\n"
      "  hourfold verify -c hourfold.json --from -7d --to -2d --report differences.txt\n"
      "  hourfold verify -c hourfold.json --devices 'dev-0000*' --format json");
}

void CommandLine::define_table() {
  CLI::App* const table =
      app_.add_subcommand("table", "Create the table of rollups, or check that it is as it should be");
  table->require_subcommand(1);
  create_command_ = table->add_subcommand("create", "Create the table that the configuration names");
  add_config(*create_command_, table_.config);
  create_command_->footer(
      "HBase: families r, s and m, a region for every bucket, FAST_DIFF, the best compression that the "
      "servers can load.\n"
      "sink.buckets and sink.layout are fixed from then on. With sink.contribution_ttl \"auto\" the broker "
      "is asked for\n"
      "the retention of the topic.\n"
      "\n"
      "Examples:\n"
      "  hourfold table create -c hourfold.json\n"
      "  hourfold table create -c hourfold.json --set sink.layout=packed --set sink.buckets=64");
  check_command_ = table->add_subcommand("check", "Compare the table with the configuration");
  add_config(*check_command_, table_.config);
  check_command_->footer(
      "Prints what differs and what to do about it. Exit code 0 if nothing does, else 1.\n"
      "\n"
      "Example:\n"
      "  hourfold table check -c hourfold.json");
}

void CommandLine::define_completion() {
  completion_command_ = app_.add_subcommand("completion", "Print the completion script of a shell");
  choice(completion_command_->add_option("SHELL", shell_, "Which shell")->required(),
         {"bash", "zsh", "fish"});
  completion_command_->footer(
      "Examples:\n"
      "  source <(hourfold completion bash)\n"
      "  source <(hourfold completion zsh)\n"
      "  hourfold completion fish | source");
}

int CommandLine::run(int argc, const char* const* argv, const CommandTable& commands) {
  if (argc <= 1) {
    std::fputs(app_.help().c_str(), stderr);
    return kExitUsage;
  }
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are errors to the library, too.
    if (error.get_exit_code() == 0) return app_.exit(error);
    return explain(error);
  }
  return dispatch(commands);
}

int CommandLine::dispatch(const CommandTable& commands) {
  if (run_command_->parsed()) return commands.run(run_);
  if (demo_command_->parsed()) return commands.demo(demo_);
  if (fold_command_->parsed()) return commands.fold(fold_);
  if (query_command_->parsed()) return commands.query(query_);
  if (rebuild_command_->parsed()) return commands.rebuild(rebuild_);
  if (verify_command_->parsed()) return commands.verify(verify_);
  if (create_command_->parsed()) return commands.table_create(table_);
  if (check_command_->parsed()) return commands.table_check(table_);
  if (payload_try_command_->parsed()) return commands.payload_try(payload_try_);
  return print_completion();
}

int CommandLine::print_completion() const {
  const auto script = completion_script(app_, shell_);
  std::fputs(script.value_or("").c_str(), stdout);
  return kExitDone;
}

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string with_suggestion(std::string text, const std::string& suggestion) {
  if (!suggestion.empty()) text.append("; did you mean '").append(suggestion).append("'?");
  return text;
}

std::string CommandLine::what_is_wrong(const CLI::App& command, const CLI::ParseError& error) const {
  const std::vector<std::string> commands = command_names(command);
  const std::vector<std::string> extras = app_.remaining(true);
  if (extras.empty() && !commands.empty()) {
    std::string names;
    for (const std::string& name : commands) names += (names.empty() ? "" : ", ") + name;
    return "a command is missing: " + names;
  }
  if (extras.empty()) return error.what();
  const std::string word = extras.front().substr(
      0, extras.front().starts_with('-') ? extras.front().find('=') : std::string::npos);
  const std::string quoted = std::string("'").append(word).append("'");
  if (word.starts_with('-'))
    return with_suggestion("unknown option " + quoted, nearest(word, option_names(command)));
  if (!commands.empty()) return with_suggestion("unknown command " + quoted, nearest(word, commands));
  return "unexpected argument " + quoted;
}

int CommandLine::explain(const CLI::ParseError& error) const {
  const CLI::App* command = &app_;
  std::string path = app_.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += ' ' + command->get_name();
  }
  print_error(what_is_wrong(*command, error));
  std::fprintf(stderr, "Try '%s --help'.\n", path.c_str());
  return kExitUsage;
}

}  // namespace

int run_cli(int argc, const char* const* argv, const CommandTable& commands) {
  return CommandLine().run(argc, argv, commands);
}

int run_cli(int argc, char** argv) { return run_cli(argc, argv, CommandTable()); }

}  // namespace hourfold
