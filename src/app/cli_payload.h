// The command line of `payload try`.
#pragma once

#include "app/commands.h"

namespace CLI {
class App;
}  // namespace CLI

namespace hourfold {

// The command, below the program.
CLI::App* define_payload_try(CLI::App& program, PayloadTryOptions& options);

}  // namespace hourfold
