#include "app/cli_completion.h"

#include <CLI/CLI.hpp>
#include <vector>

namespace hourfold {
namespace {

struct Flag {
  std::vector<std::string> shorts;  // without dashes
  std::vector<std::string> longs;
  std::string description;
  std::string value;  // FILE, DIR, a|b or another name; empty: takes none

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const std::string& name : shorts) all.push_back("-" + name);
    for (const std::string& name : longs) all.push_back("--" + name);
    return all;
  }
  bool is_path() const { return value == "FILE" || value == "DIR"; }
  // "a b" of "a|b"; empty if the value is free.
  std::string choices() const {
    if (value.find('|') == std::string::npos) return "";
    std::string words = value;
    for (char& c : words) {
      if (c == '|') c = ' ';
    }
    return words;
  }
};

// A command and what may follow it.
struct Node {
  std::string path;  // "table create"; empty: the program
  std::vector<std::pair<std::string, std::string>> commands;
  std::vector<Flag> flags;
  std::string words;  // values of a positional argument
  bool takes_files = false;
};

// Without newlines, quotes and what shells expand.
std::string plain(const std::string& text) {
  std::string out = text.substr(0, text.find('\n'));
  std::erase_if(out, [](char c) { return c == '\'' || c == '"' || c == '`' || c == '$' || c == '\\'; });
  return out;
}

Flag flag_of(const CLI::Option& option) {
  Flag flag;
  flag.shorts = option.get_snames();
  flag.longs = option.get_lnames();
  flag.description = plain(option.get_description());
  if (option.get_items_expected_max() > 0) flag.value = option.get_type_name();
  return flag;
}

void collect(const CLI::App& app, const std::string& path, std::vector<Node>& nodes) {
  Node node;
  node.path = path;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* command : commands)
    node.commands.emplace_back(command->get_name(), plain(command->get_description()));
  for (const CLI::Option* option : app.get_options()) {
    Flag flag = flag_of(*option);
    if (!flag.names().empty()) {
      node.flags.push_back(std::move(flag));
    } else if (flag.is_path()) {
      node.takes_files = true;
    } else {
      node.words = flag.choices();
    }
  }
  nodes.push_back(std::move(node));
  for (const CLI::App* command : commands) {
    collect(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), nodes);
  }
}

// `fold:--format|fold:-f`, as shells match the command and the word before.
std::string pattern(const Node& node, const Flag& flag) {
  std::string out;
  for (const std::string& name : flag.names())
    out += (out.empty() ? "'" : "|'") + node.path + ":" + name + "'";
  return out;
}

// A case arm for every command word, which leads from one path to the next.
std::string walk(const std::vector<Node>& nodes) {
  std::string arms;
  for (const Node& node : nodes) {
    for (const auto& [name, description] : node.commands)
      arms += (arms.empty() ? "'" : "|'") + node.path + ":" + name + "'";
  }
  return arms;
}

std::string bash_script(const std::vector<Node>& nodes) {
  std::string out =
      "# bash completion for hourfold: source <(hourfold completion bash)\n"
      "_hourfold() {\n"
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" at='' words='' i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$at:${COMP_WORDS[i]}\" in\n      " +
      walk(nodes) +
      ") at=\"${at:+$at }${COMP_WORDS[i]}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  COMPREPLY=()\n"
      "  case \"$at:$prev\" in\n";
  for (const Node& node : nodes) {
    for (const Flag& flag : node.flags) {
      if (flag.value.empty()) continue;
      out += "    " + pattern(node, flag) + ") ";
      if (!flag.choices().empty()) out += "COMPREPLY=($(compgen -W '" + flag.choices() + "' -- \"$cur\")); ";
      out += "return ;;\n";
    }
  }
  out += "  esac\n  case \"$at\" in\n";
  for (const Node& node : nodes) {
    std::string words;
    for (const auto& [name, description] : node.commands) words += name + " ";
    if (!node.words.empty()) words += node.words + " ";
    std::string flags;
    for (const Flag& flag : node.flags) flags += flag.names().back() + " ";
    out += "    '" + node.path + "') ";
    out += node.takes_files ? "[[ $cur == -* ]] && words='" + flags + "' ;;\n"
                            : "words='" + words + flags + "' ;;\n";
  }
  return out +
         "  esac\n"
         "  [[ -n $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o default -F _hourfold hourfold\n";
}

std::string zsh_item(const std::string& name, const std::string& description) {
  std::string escaped;
  for (const char c : description) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
  return " '" + name + ":" + escaped + "'";
}

std::string zsh_script(const std::vector<Node>& nodes) {
  std::string out =
      "#compdef hourfold\n"
      "# zsh completion for hourfold: source <(hourfold completion zsh), or save it as _hourfold in a folder "
      "of $fpath\n"
      "_hourfold() {\n"
      "  local at='' i\n"
      "  local -a items\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    case \"$at:${words[i]}\" in\n      " +
      walk(nodes) +
      ") at=\"${at:+$at }${words[i]}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$at:${words[CURRENT-1]}\" in\n";
  for (const Node& node : nodes) {
    for (const Flag& flag : node.flags) {
      if (flag.value.empty()) continue;
      out += "    " + pattern(node, flag) + ") ";
      if (flag.is_path()) out += "_files; ";
      if (!flag.choices().empty()) out += "compadd -- " + flag.choices() + "; ";
      out += "return ;;\n";
    }
  }
  out += "  esac\n  case \"$at\" in\n";
  for (const Node& node : nodes) {
    out += "    '" + node.path + "') items=(";
    for (const auto& [name, description] : node.commands) out += zsh_item(name, description);
    for (const Flag& flag : node.flags) out += zsh_item(flag.names().back(), flag.description);
    out += ")";
    if (node.takes_files) out += "; [[ $PREFIX == -* ]] || { _files; return }";
    if (!node.words.empty()) out += "; compadd -- " + node.words;
    out += " ;;\n";
  }
  return out +
         "  esac\n"
         "  _describe hourfold items\n"
         "}\n"
         "if [[ $funcstack[1] == _hourfold ]]; then _hourfold \"$@\"; else compdef _hourfold hourfold; fi\n";
}

// When the words before name exactly this command.
std::string fish_condition(const Node& node) {
  std::string commands;
  for (const auto& [name, description] : node.commands) commands += " " + name;
  if (node.path.empty()) return "not __fish_seen_subcommand_from" + commands;
  std::string condition;
  for (std::size_t begin = 0; begin < node.path.size();) {
    const std::size_t end = std::min(node.path.find(' ', begin), node.path.size());
    condition += (condition.empty() ? "" : "; and ") +
                 ("__fish_seen_subcommand_from " + node.path.substr(begin, end - begin));
    begin = end + 1;
  }
  return commands.empty() ? condition : condition + "; and not __fish_seen_subcommand_from" + commands;
}

std::string fish_script(const std::vector<Node>& nodes) {
  std::string out = "# fish completion for hourfold: hourfold completion fish | source\n";
  for (const Node& node : nodes) {
    const std::string begin = "complete -c hourfold -n '" + fish_condition(node) + "'";
    if (!node.takes_files) out += begin + " -f\n";
    for (const auto& [name, description] : node.commands)
      out += begin + " -a " + name + " -d '" + description + "'\n";
    if (!node.words.empty()) out += begin + " -a '" + node.words + "'\n";
    for (const Flag& flag : node.flags) {
      out += begin;
      for (const std::string& name : flag.shorts) out += " -s " + name;
      for (const std::string& name : flag.longs) out += " -l " + name;
      if (!flag.value.empty()) out += flag.is_path() ? " -r -F" : " -x";
      if (!flag.choices().empty()) out += " -a '" + flag.choices() + "'";
      out += " -d '" + flag.description + "'\n";
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> completion_script(const CLI::App& program, std::string_view shell) {
  std::vector<Node> nodes;
  collect(program, "", nodes);
  if (shell == "bash") return bash_script(nodes);
  if (shell == "zsh") return zsh_script(nodes);
  if (shell == "fish") return fish_script(nodes);
  return std::nullopt;
}

}  // namespace hourfold
