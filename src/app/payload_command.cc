#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "app/commands.h"
#include "app/load_config.h"
#include "app/output.h"
#include "app/payload_print.h"
#include "app/payload_report.h"
#include "app/payload_samples.h"
#include "app/terminal.h"
#include "payload/propose.h"

namespace hourfold {
namespace {

constexpr std::size_t kWidestText = 110;

EpochMs now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

bool of_topic(const PayloadTryOptions& options) { return options.first > 0 || options.last > 0; }

std::optional<Error> check(const PayloadTryOptions& options) {
  if (options.first > 0 && options.last > 0) return refused("--first and --last exclude each other");
  const bool about_samples = !options.samples.empty() || options.lines || options.hex ||
                             options.key.has_value() || !options.headers.empty() || !options.arrival.empty();
  if (of_topic(options) && about_samples)
    return refused(
        std::string(options.last > 0 ? "--last" : "--first") +
        " reads records of the topic, which have their own key, headers and time; a SAMPLE, --lines, --hex, "
        "--key, --header and --arrival do not go with it");
  return std::nullopt;
}

// Whether somebody said how readings look.
bool says_reading(const PayloadTryOptions& options) {
  if (options.propose) return false;
  if (!options.config.file.empty()) return true;
  return std::any_of(
      options.config.overrides.begin(), options.config.overrides.end(),
      [](const std::string& text) { return text.starts_with("reading.") || text.starts_with("reading="); });
}

class Try {
 public:
  Try(const PayloadTryOptions& options, Config config, std::vector<PayloadSample> samples)
      : json_(options.format == "json"),
        given_(says_reading(options)),
        of_topic_(of_topic(options)),
        config_(std::move(config)),
        samples_(std::move(samples)) {
    style_.width = std::min(terminal_width(), kWidestText);
    style_.colour = has_colour();
  }

  int run() {
    if (given_) return show(nullptr);
    std::vector<RecordCopy> records;
    for (const PayloadSample& sample : samples_) records.push_back(sample.record);
    const Proposals proposals = propose(records);
    if (proposals.foreign) return refuse(*proposals.foreign);
    if (proposals.ranked.empty()) return show(nullptr);
    const Recognised recognised = recognise(proposals, records);
    config_.reading.shape = proposals.ranked.front().shape;
    return proposals.ranked.front().needs_schemas ? ask_for_schemas(recognised) : show(&recognised);
  }

 private:
  int print(const std::string& text, int code) const {
    TextOutput out(STDOUT_FILENO);
    out.write(text);
    return out.finish() ? code : kExitService;
  }

  int refuse(const ForeignSample& foreign) const {
    return print(json_ ? payload_json({nullptr, &foreign, nullptr, nullptr}) : foreign_text(foreign, style_),
                 kExitCheckFailed);
  }

  int ask_for_schemas(const Recognised& recognised) const {
    const ReadingShape& shape = config_.reading.shape;
    if (json_) return print(payload_json({&recognised, nullptr, &shape, nullptr}), kExitCheckFailed);
    return print(
        proposal_text(recognised, shape, style_) +
            "\nPut the address of your registry in. The fields are named by the schema; device, time and "
            "metrics\nare set as for JSON: try it with -c FILE.\n",
        kExitCheckFailed);
  }

  // recognised: null if nothing was proposed.
  int show(const Recognised* recognised) const {
    const PayloadReport report = report_of(config_, samples_, now_ms());
    const int code = report.folded == report.readings ? kExitDone : kExitCheckFailed;
    const ReadingShape& shape = config_.reading.shape;
    if (json_) return print(payload_json({recognised, nullptr, &shape, &report}), code);
    std::string text;
    if (recognised != nullptr) {
      text += proposal_text(*recognised, shape, style_) + "\n";
      if (!recognised->notes.empty()) text += notes_text(recognised->notes, style_) + "\n";
      text += std::string("What it makes of the ") + (of_topic_ ? "records" : "sample") + ":\n\n";
    } else if (!given_ && report.readings > 0) {
      text += "No configuration was found that reads this. With the defaults:\n\n";
    }
    text += report_text(report, style_);
    if (given_ && report.malformed > 0) text += "Add --propose to look for a section that reads more.\n";
    return print(text, code);
  }

  const bool json_;
  const bool given_;
  const bool of_topic_;
  Config config_;
  const std::vector<PayloadSample> samples_;
  PrintStyle style_;
};

}  // namespace

int payload_try_command(const PayloadTryOptions& options) {
  if (const auto wrong = check(options)) {
    print_error(wrong->message);
    return kExitUsage;
  }
  auto config = load_config(options.config, of_topic(options) ? NeedsKafka::kYes : NeedsKafka::kNo);
  if (!config) return kExitUsage;
  auto samples = of_topic(options) ? samples_of_topic(options, *config) : samples_of_files(options);
  if (!samples) {
    print_error(samples.error().message);
    return samples.error().retryable() ? kExitService : kExitUsage;
  }
  if (samples->empty()) {
    print_error("the topic " + config->kafka.topics.front() + " has no records");
    return kExitCheckFailed;
  }
  return Try(options, std::move(*config), std::move(*samples)).run();
}

}  // namespace hourfold
