// Completion scripts for shells, made from the command line's own definition so that they cannot fall behind
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}  // namespace CLI

namespace hourfold {

// shell: bash, zsh or fish; empty for any other.
std::optional<std::string> completion_script(const CLI::App& program, std::string_view shell);

}  // namespace hourfold
