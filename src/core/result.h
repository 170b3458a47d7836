// The one way a fallible call answers: a value, or an Error whose kind says what the caller does next.
//
// Interface of std::expected (C++23), reduced to what is used. Bad input is a value with a reason, never an
// exception; exceptions of libraries end in the adapter that uses them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/check.h"

namespace hourfold {

enum class ErrorKind {
  kUnavailable,  // nothing happened: try again later
  kUnknown,      // it may have happened: try again, every write is absolute
  kRefused,      // this row, reading or request will never do: go on without it
  kFatal,        // stop this partition or the process and say what to do
};

constexpr std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kUnknown:
      return "unknown";
    case ErrorKind::kRefused:
      return "refused";
    case ErrorKind::kFatal:
      return "fatal";
  }
  return "?";
}

// What was tried, what came back and, where it is known, what to do.
struct Error {
  ErrorKind kind;
  std::string message;

  bool retryable() const { return kind == ErrorKind::kUnavailable || kind == ErrorKind::kUnknown; }
};

inline Error unavailable(std::string message) { return {ErrorKind::kUnavailable, std::move(message)}; }
inline Error unknown(std::string message) { return {ErrorKind::kUnknown, std::move(message)}; }
inline Error refused(std::string message) { return {ErrorKind::kRefused, std::move(message)}; }
inline Error fatal(std::string message) { return {ErrorKind::kFatal, std::move(message)}; }

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : content_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return content_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    HF_CHECK(has_value());
    return *std::get_if<0>(&content_);
  }
  const T& value() const& {
    HF_CHECK(has_value());
    return *std::get_if<0>(&content_);
  }
  T&& value() && {
    HF_CHECK(has_value());
    return std::move(*std::get_if<0>(&content_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    HF_CHECK(!has_value());
    return *std::get_if<1>(&content_);
  }

 private:
  std::variant<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error)
      : error_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return error_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  const Error& error() const {
    HF_CHECK(!has_value());
    return *std::get_if<1>(&error_);
  }

 private:
  std::variant<std::monostate, Error> error_;
};

}  // namespace hourfold
