// A value, or the reason why there is none: the one answer of a function that can fail, outside
// storage/ (which has storage::Status). Result<void, E> has no value: all went well, or why it did
// not.
//
//     Result<Limit, RangeError> limit = make_limit(spec);
//     if (!limit) return limit.error();
//
// It must not be asked for what it does not hold: that is a bug and throws BrokenCheck.
//
// An error without members takes no room, and a Result is trivially copied if its value and its
// error are: then it costs what a std::optional costs, and small ones are returned in registers.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace weir {

// What a Result with a value keeps of its error.
template <class E>
class HeldError {
 public:
  HeldError() = default;
  explicit HeldError(E error) : error_(std::move(error)) {}
  const E& get() const { return *error_; }

 private:
  std::optional<E> error_;
};

// All that an error without members says is that there is no value.
template <class E>
requires(std::is_empty_v<E>) class HeldError<E> {
 public:
  HeldError() = default;
  explicit HeldError(E) {}
  const E& get() const { return error_; }

 private:
  [[no_unique_address]] E error_;
};

template <class T, class E>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(E error) : error_(std::move(error)) {}
  // So that a literal may be returned where the error is a string.
  template <class U>
  requires(std::is_convertible_v<U, E> && !std::is_convertible_v<U, T>) Result(U&& error)
      : error_(E(std::forward<U>(error))) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok()
  const T& value() const {
    WEIR_REQUIRE(ok());
    return *value_;
  }
  T& value() {
    WEIR_REQUIRE(ok());
    return *value_;
  }
  const T& operator*() const { return value(); }
  T& operator*() { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  // REQUIRES: !ok()
  const E& error() const {
    WEIR_REQUIRE(!ok());
    return error_.get();
  }

 private:
  // One of the two. A std::variant would say so itself, but costs every file that includes this
  // two thousand lines.
  std::optional<T> value_;
  [[no_unique_address]] HeldError<E> error_;
};

template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  Result() = default;
  Result(E error) : ok_(false), error_(std::move(error)) {}
  template <class U>
  requires(std::is_convertible_v<U, E>) Result(U&& error)
      : ok_(false), error_(E(std::forward<U>(error))) {}

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: !ok()
  const E& error() const {
    WEIR_REQUIRE(!ok());
    return error_.get();
  }

 private:
  bool ok_ = true;  // beside the error, so that one without members makes this as small as a bool
  [[no_unique_address]] HeldError<E> error_;
};

}  // namespace weir
