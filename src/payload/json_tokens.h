// Where the tokens of a JSON text begin, found by simdjson's first stage, and a strict walk over them.
//
// Only the first stage is used (structure, strings, UTF-8, in vector instructions). On-Demand, the stage
// above it, is lazy where our rules are strict: it does not look at values that nobody asks for, nor behind
// the first document. Here every token is looked at once, and several documents in a row are one walk.
//
// An Index counts tokens. A walk that meets broken grammar answers kBroken. Looking at the first byte of the
// token behind the last one is allowed and shows a byte that begins no token.
//
// Threads: one thread per object. Ownership: views point into the tokenized text or into the arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/reading.h"
#include "payload/arena.h"

namespace hourfold {

class JsonTokens {
 public:
  using Index = std::uint32_t;
  static constexpr Index kBroken = 0;          // nothing that follows a token has this index
  static constexpr std::size_t kPadding = 64;  // bytes that must be readable behind a text

  explicit JsonTokens(Arena& arena);
  ~JsonTokens();
  JsonTokens(const JsonTokens&) = delete;
  JsonTokens& operator=(const JsonTokens&) = delete;

  static bool is_utf8(std::string_view text);

  // False if the text is broken, after which no other call is allowed. The text is neither empty nor white
  // space alone, and the byte behind it is NUL or white space. It must stay until the last use of a view.
  [[nodiscard]] bool tokenize(std::string_view text);

  Index size() const { return size_; }
  char first(Index i) const { return text_[starts_[i]]; }

  // Bytes of a token without the white space behind it.
  std::string_view bytes(Index i) const {
    const char* const begin = text_ + starts_[i];
    const char* end = text_ + starts_[i + 1];
    while (is_space(end[-1])) --end;
    return {begin, static_cast<std::size_t>(end - begin)};
  }

  // The unescaped string that token i is; false if it is no string or has a bad escape.
  bool string(Index i, std::string_view& out) {
    if (first(i) != '"') return false;
    out = bytes(i);
    out = out.substr(1, out.size() - 2);
    return plain_ || unescape(out);
  }

  // The same for a member's name, which takes tokens i and i + 1; its value begins at i + 2.
  bool name(Index i, std::string_view& out) { return string(i, out) && first(i + 1) == ':'; }

  // All bytes of a sound object or array.
  std::string_view container(Index i) {
    const char* const begin = text_ + starts_[i];
    const char* const last = text_ + starts_[skip(i).next - 1];
    return {begin, static_cast<std::size_t>(last - begin) + 1};
  }

  // Neither a backslash nor U+007F in the text: strings are as written and hold no control characters.
  bool plain() const { return plain_; }

  struct Skipped {
    Index next;         // behind the value
    std::size_t depth;  // of the objects and arrays in it: 0 for a scalar
  };
  // Walks over a value of any kind and validates it.
  Skipped skip(Index i) {
    if (first(i) == '{' || first(i) == '[') return skip_container(i);
    return {is_sound_scalar(i) ? i + 1 : kBroken, 0};
  }

  // The same where metrics may be: NaN, Infinity and -Infinity, which are no JSON, are passed over, too.
  Skipped skip_metrics(Index i) {
    const bool before = std::exchange(not_finite_passes_, true);
    const Skipped skipped = skip(i);
    not_finite_passes_ = before;
    return skipped;
  }

  // From now on they are passed over everywhere. For texts made of a format that has such numbers.
  void allow_not_finite() { not_finite_passes_ = true; }

  // From the opening bracket of an object to behind its closing one. read(name, value) answers behind the
  // value, or kBroken, which ends the walk.
  template <class Read>
  Index each_member(Index i, const Read& read) {
    ++i;
    for (bool more = first(i) != '}'; more;) {
      std::string_view member;
      if (!name(i, member)) return kBroken;
      i = read(member, i + 2);
      if (i == kBroken) return kBroken;
      more = first(i) == ',';
      if (more) ++i;
    }
    return first(i) == '}' ? i + 1 : kBroken;
  }
  // The same of an array; read(element).
  template <class Read>
  Index each_element(Index i, const Read& read) {
    ++i;
    if (first(i) == ']') return i + 1;
    for (;;) {
      i = read(i);
      if (i == kBroken) return kBroken;
      const char end = first(i++);
      if (end == ']') return i;
      if (end != ',') return kBroken;
    }
  }

  // A number, string or literal; no NaN or Infinity.
  bool is_sound_scalar(Index i) { return (plain_ && first(i) == '"') || is_sound_slowly(i); }

  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

 private:
  class Stage;

  void reserve(std::size_t text_size);
  bool unescape(std::string_view& text);
  bool is_sound_slowly(Index i);
  Skipped skip_container(Index i);
  Index skip_opening(Index i);
  Index skip_closing(Index i);

  Arena& arena_;
  std::unique_ptr<Stage> stage_;
  std::size_t capacity_ = 0;
  const char* text_ = nullptr;
  const std::uint32_t* starts_ = nullptr;  // size_ + 1 of them; the last one is the end of the text
  Index size_ = 0;
  bool plain_ = true;
  bool not_finite_passes_ = false;
  std::vector<char> open_;  // brackets of the value that skip() is in
};

}  // namespace hourfold
