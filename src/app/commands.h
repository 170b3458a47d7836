// The commands of the program. Each returns its exit code: 0 done, 1 the check failed, 2 wrong use or
// configuration, 3 a needed service refused or is missing. Errors go to stderr in one message: what was
// tried, what came back, what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hourfold {

inline constexpr int kExitDone = 0;
inline constexpr int kExitCheckFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitService = 3;

// -c FILE and --set KEY=VALUE, as every command takes them.
struct ConfigOptions {
  std::string file;
  std::vector<std::string> overrides;
};

struct RunOptions {
  ConfigOptions config;
  std::string log_level = "info";
};

struct DemoOptions {
  std::vector<std::string> overrides;
  // Where rollups and state go, and stay until the next demo; empty: hourfold-demo in the temporary
  // directory.
  std::string dir;
  std::uint32_t devices = 1000;
  std::uint32_t hours = 24;
  std::uint64_t seed = 1;
  std::string log_level = "warn";
};

struct FoldOptions {
  ConfigOptions config;            // file may be empty
  std::vector<std::string> files;  // none, or "-": standard input
  std::string format = "json";     // or csv
};

struct QueryOptions {
  ConfigOptions config;
  std::string device;
  std::vector<std::string> metrics;
  std::string from;
  std::string to;
  std::string by = "hour";       // day, month
  std::string format = "table";  // csv, json
  bool plot = false;
};

struct TableOptions {
  ConfigOptions config;
};

struct RebuildOptions {
  ConfigOptions config;
  std::string from;     // earliest, or a time
  std::string into;     // another table; empty: that of the configuration
  bool follow = false;  // the next generation, then the live service
  bool yes = false;
  std::string log_level = "info";
};

struct VerifyOptions {
  ConfigOptions config;
  std::string from;
  std::string to;
  std::string devices;                 // names and patterns, see device_filter.h; empty: all
  std::string report;                  // file; empty: none
  std::string format = "text";         // json
  std::string scratch;                 // folder; empty: the system's temporary one
  std::uint64_t max_differences = 20;  // that standard output gets
  bool quiet = false;
};

struct PayloadTryOptions {
  ConfigOptions config;              // file may be empty
  std::vector<std::string> samples;  // files; none, or "-": standard input
  bool lines = false;                // each line is a record
  bool hex = false;                  // samples are hexadecimal digits
  std::optional<std::string> key;
  std::vector<std::string> headers;  // NAME=VALUE
  std::string arrival;               // a time; empty: see the command's help
  std::uint32_t first = 0;           // that many records of the topic instead of samples
  std::uint32_t last = 0;
  bool propose = false;         // also where a configuration is given
  std::string format = "text";  // json
};

int run_command(const RunOptions& options);
int demo_command(const DemoOptions& options);
int fold_command(const FoldOptions& options);
int query_command(const QueryOptions& options);
int rebuild_command(const RebuildOptions& options);
int verify_command(const VerifyOptions& options);
int table_create_command(const TableOptions& options);
int table_check_command(const TableOptions& options);
int payload_try_command(const PayloadTryOptions& options);

// Everything main() does.
int run_cli(int argc, char** argv);

}  // namespace hourfold
