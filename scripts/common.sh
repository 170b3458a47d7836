# Sourced by the scripts beside it: messages, Debian packages, builds. Expects `set -euo pipefail` and the repository root as
# working directory.

say() { printf '%s\n' "$*"; }
fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 3; }

# step TITLE: announces a step and says how long the one before it took.
step_title='' step_began=0
step() {
  step_end
  step_title=$1 step_began=$SECONDS
  say "==> $1"
}
step_end() {
  if [ -n "$step_title" ]; then say "    $((SECONDS - step_began)) s"; fi
  step_title=''
}

# packages LIST...: the names in scripts/packages/LIST.txt.
packages() {
  local list
  for list in "$@"; do sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "scripts/packages/$list.txt"; done | sort -u
}

# missing_packages LIST...: those of them that dpkg does not know as installed.
missing_packages() {
  command -v dpkg-query >/dev/null || { packages "$@"; return; }
  comm -23 <(packages "$@") \
    <(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u)
}

debian_12() { (. /etc/os-release 2>/dev/null && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ]); }

# As root, by sudo if need be.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "installing packages needs root, and there is no sudo here; as root: apt-get install --no-install-recommends $(missing_packages build test | tr '\n' ' ')"
  fi
}

# install_packages LIST...: nothing but a look at dpkg when all are there, so that a second run needs neither network nor root.
install_packages() {
  local missing log=build/apt.log
  mapfile -t missing < <(missing_packages "$@")
  if [ ${#missing[@]} = 0 ]; then
    say "    all $(packages "$@" | wc -l) packages are installed"
    return
  fi
  if ! debian_12; then
    fail "this is not Debian 12 ($(. /etc/os-release 2>/dev/null && echo "${PRETTY_NAME:-unknown}")), so packages are not installed for you.
Needed are g++ 12, cmake 3.25, ninja, thrift 0.17 (compiler and library), boost headers, librdkafka 2.0, rocksdb 7.8, simdjson 3.0,
nlohmann-json 3.11, CLI11 2.1, spdlog 1.10, cpp-httplib 0.11, prometheus-cpp 1.0; for the tests also doctest 2.4, rapidcheck, clang-format 14,
clang-tidy 14, python 3.11, JDK 17, maven. Install them and add --no-install, or use the Dockerfile."
  fi
  say "    installing ${#missing[@]} packages and what they depend on (log: $log): ${missing[*]}"
  mkdir -p build
  export DEBIAN_FRONTEND=noninteractive
  # An index that cannot be fetched is no error yet: another one may have everything.
  as_root apt-get update > "$log" 2>&1 || true
  if ! as_root apt-get install --yes --no-install-recommends "${missing[@]}" >> "$log" 2>&1; then
    grep -E '^(E|W|Err):?' "$log" | tail -n 12 >&2 || true
    fail "apt-get could not install the packages (whole output: $log). They come from the main archive of Debian 12: check the network, a proxy
(http_proxy, or Acquire::http::Proxy in /etc/apt/apt.conf.d) and /etc/apt/sources.list, then run this again; it goes on where it stopped."
  fi
}

# One compiler a core, as far as memory goes: the largest files need about 1 GB each.
default_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  say $((memory < 1 ? 1 : memory < cores ? memory : cores))
}

# build PRESET FOLDER JOBS [--configure FLAG...] TARGET...: configures FOLDER as in CMakePresets.json and builds the targets.
build() {
  local preset=$1 folder=$2 jobs=$3 flags=() log
  shift 3
  while [ "${1:-}" = --configure ]; do flags+=("$2"); shift 2; done
  log=$folder/configure.log
  mkdir -p "$folder"
  if ! cmake --preset "$preset" -B "$folder" "${flags[@]}" > "$log" 2>&1; then
    tail -n 30 "$log" >&2
    fail "cmake could not configure $folder (whole output: $log)"
  fi
  cmake --build "$folder" --parallel "$jobs" --target "$@" || fail "the build in $folder failed; the first error is above"
}
