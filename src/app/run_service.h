// A service from its start to its end as a process: signals, the HTTP server, writing what is pending.
#pragma once

#include <string>

#include "app/service.h"

namespace hourfold {

// From now on SIGTERM and SIGINT end the service that runs, or the next one at its start; the second one
// ends the process at once.
void catch_stop_signals();
bool stop_was_signalled();

enum class HttpAddress : bool {
  kRequired,
  kIfFree,  // another service of this host may have it: then there is no server
};

// Prints "hourfold <command>: <message>" and says how to exit.
int command_failed(const std::string& command, const Error& error);

// Exit code. A rebuild that was stopped before its end is kExitService.
int run_service(const std::string& command, ServiceParts parts, HttpAddress http);

}  // namespace hourfold
