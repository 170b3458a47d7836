#include "app/cli_payload.h"

#include <CLI/CLI.hpp>

#include "app/cli_options.h"

namespace hourfold {
namespace {

void add_record_options(CLI::App& command, PayloadTryOptions& options) {
  command.add_flag("--lines", options.lines, "Each line is a record of its own");
  command.add_flag("--hex", options.hex, "The sample is in hexadecimal digits, as of xxd -p");
  command.add_option("--key", options.key, "The record's key")->type_name("TEXT");
  command.add_option("--header", options.headers, "A header of the record; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check([](const std::string& given) {
        const bool sound = given.find('=') != std::string::npos && given.front() != '=';
        return sound ? std::string() : "'" + given + "' is no NAME=VALUE, as in device-id=dev-1";
      });
  command
      .add_option("--arrival", options.arrival,
                  "When it arrived, as 2026-01-31T06:00Z. Default: with its newest event")
      ->type_name("TIME");
}

void add_topic_option(CLI::App& command, const char* name, const char* text, std::uint32_t& count) {
  command.add_option(name, count, text)->type_name("N")->check(CLI::Range(1U, 10'000U).description(""));
}

}  // namespace

CLI::App* define_payload_try(CLI::App& program, PayloadTryOptions& options) {
  CLI::App* const payload = program.add_subcommand("payload", "Find out how to read what is in a topic");
  payload->require_subcommand(1);
  CLI::App* const command =
      payload->add_subcommand("try", "Show what becomes of a sample; without a configuration, propose one");
  command->add_option("SAMPLE", options.samples, "Files, a record each; none or -: standard input")
      ->type_name("FILE");
  add_record_options(*command, options);
  add_topic_option(*command, "--last", "Instead of a SAMPLE, the last N records of the topic", options.last);
  add_topic_option(*command, "--first", "Instead of a SAMPLE, the first N records of the topic",
                   options.first);
  command->add_flag("--propose", options.propose, "Propose a section, whatever the configuration says");
  choice(command->add_option("--format", options.format, "What is printed"), {"text", "json"})
      ->capture_default_str();
  add_config(*command, options.config);
  command->footer(
      "Without -c and without --set reading...: what the sample looks like, the \"reading\" section for it, "
      "and\n"
      "what that makes of it. With one of them: what that configuration makes of the sample, and for all "
      "that is\n"
      "not read the reason and what to do.\n"
      "Only --last and --first need a broker (kafka.brokers, kafka.topics). No group is joined, nothing is "
      "written.\n"
      "A TIME may be epoch milliseconds, now or -2h, too.\n"
      "Exit code 0 if every reading is folded, else 1. Single values that are no numbers do not count.\n"
      "\n"
      "Examples:\n"
      "  hourfold payload try sample.json\n"
      "  mosquitto_sub -t 'sensors/#' -C 1 | hourfold payload try --key dev-1\n"
      "  hourfold payload try --last 20 --set kafka.brokers=localhost:9092 --set kafka.topics=telemetry\n"
      "  hourfold payload try -c hourfold.json --lines readings.jsonl\n"
      "  hourfold payload try --set reading.device=/id --set reading.metrics= sample.json");
  return command;
}

}  // namespace hourfold
