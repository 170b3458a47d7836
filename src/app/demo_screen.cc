#include "app/demo_screen.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "app/progress_line.h"

namespace hourfold {
namespace {

std::string clock_text(EpochMs time) {
  const auto minutes = time / 60'000 % (24 * 60);
  std::ostringstream text;
  text << std::setfill('0') << std::setw(2) << minutes / 60 << ':' << std::setw(2) << minutes % 60;
  return text.str();
}

std::string bar(double share, int width) {
  const int full = static_cast<int>(std::lround(share * width));
  std::string text;
  for (int i = 0; i < width; ++i) text += i < full ? "\u2588" : "\u2591";
  return text;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void DemoScreen::introduce(std::uint32_t devices, std::uint32_t hours, std::uint64_t readings,
                           const std::string& dir) {
  out_ << "A fleet of " << grouped(devices) << " devices, " << hours
       << " hours of it in about half a minute: some " << grouped(readings)
       << " readings,\nout of order, up to 12 hours late, sent twice, broken, and from clocks that are off.\n"
       << "Kafka runs inside this process, the rollups go to " << dir << "/rollups.\n\n"
       << std::flush;
}

void DemoScreen::show(const Service& service, EpochMs fleet_time) {
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < (terminal_ ? std::chrono::milliseconds(150) : std::chrono::milliseconds(5'000))) return;
  drawn_ = now;
  const CounterTotals totals = service.totals();
  const double share = std::clamp(
      static_cast<double>(fleet_time - begin_ms_) / static_cast<double>(end_ms_ - begin_ms_), 0.0, 1.0);
  std::ostringstream line;
  line << bar(share, 20) << "  fleet time " << clock_text(fleet_time) << "  " << grouped(totals.consumed)
       << " readings  " << grouped(totals.rows_put) << " rows written  " << grouped(totals.outbox)
       << " pending";
  if (terminal_) {
    out_ << "\r\x1b[K" << line.str() << std::flush;
    open_line_ = true;
  } else {
    out_ << line.str() << std::endl;
  }
}

void DemoScreen::end_progress() {
  if (open_line_) out_ << "\r\x1b[K" << std::flush;
  open_line_ = false;
}

void DemoScreen::summarise(const CounterTotals& totals, const DemoOracle& oracle,
                           const DemoOracle::Verdict& verdict, const std::string& config_file) {
  const auto line = [&](const char* what, std::uint64_t number, const char* remark) {
    out_ << "  " << std::left << std::setw(22) << what << std::right << std::setw(12) << grouped(number)
         << "  " << remark << '\n';
  };
  out_ << "Readings\n";
  line("consumed", totals.consumed, "");
  line("folded", totals.folded, "");
  line("duplicates", totals.duplicate, "the first one counts");
  line("quarantined", totals.quarantined, "a clock more than 5 minutes ahead");
  line("archived", totals.archived, "older than 29 days");
  line("malformed", totals.malformed, "kept with the reason in side/dead_letter-*.jsonl");
  out_ << "Rollups\n";
  line("device-hours", verdict.rows, "a row each");
  line("late readings", oracle.late_hours(),
       "came after their hour had long been written: the row was corrected");
  line("rows written", totals.rows_put, "absolute Puts, corrections included");
  line("look-ups", totals.look_ups, "of hours that had left the local state");
  out_ << "Compared with an independent recomputation\n";
  line("cells", verdict.cells, "");
  line("differ", verdict.differ, verdict.differ == 0 ? "every cell is right, bit for bit" : "");
  for (const std::string& example : verdict.examples) out_ << "    " << example << '\n';
  out_ << "\nDone in " << std::fixed << std::setprecision(1) << seconds_since(started_)
       << " s. The rollups stay; look at a device:\n"
       << "  hourfold query -c " << config_file << " --device dev-000007 --metric temp_c --plot\n";
}

}  // namespace hourfold
