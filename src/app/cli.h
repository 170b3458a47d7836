// The definition of the command line. main() needs run_cli() of app/commands.h only; this is for completion
// and tests.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/commands.h"

namespace CLI {
class App;
}  // namespace CLI

namespace hourfold {

// What the commands do; tests put their own in.
struct CommandTable {
  std::function<int(const RunOptions&)> run = run_command;
  std::function<int(const DemoOptions&)> demo = demo_command;
  std::function<int(const FoldOptions&)> fold = fold_command;
  std::function<int(const QueryOptions&)> query = query_command;
  std::function<int(const RebuildOptions&)> rebuild = rebuild_command;
  std::function<int(const VerifyOptions&)> verify = verify_command;
  std::function<int(const TableOptions&)> table_create = table_create_command;
  std::function<int(const TableOptions&)> table_check = table_check_command;
  std::function<int(const PayloadTryOptions&)> payload_try = payload_try_command;
};

int run_cli(int argc, const char* const* argv, const CommandTable& commands);

}  // namespace hourfold
