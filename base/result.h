// A value, or the reason why there is none: the one answer of a function that can fail, outside
// storage/ (which has storage::Status). Result<void, E> has no value: all went well, or why it did
// not.
//
//     Result<Limit, RangeError> limit = make_limit(spec);
//     if (!limit) return limit.error();
//
// It must not be asked for what it does not hold: that is a bug and throws BrokenCheck.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace weir {

template <class T, class E>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(E error) : error_(std::move(error)) {}
  // So that a literal may be returned where the error is a string.
  template <class U>
  requires(std::is_convertible_v<U, E> && !std::is_convertible_v<U, T>) Result(U&& error)
      : error_(std::forward<U>(error)) {}

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
    return *error_;
  }

 private:
  // One of the two. A std::variant would say so itself, but costs every file that includes this
  // two thousand lines.
  std::optional<T> value_;
  std::optional<E> error_;
};

template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  Result() = default;
  Result(E error) : error_(std::move(error)) {}
  template <class U>
  requires(std::is_convertible_v<U, E>) Result(U&& error) : error_(std::forward<U>(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }

  // REQUIRES: !ok()
  const E& error() const {
    WEIR_REQUIRE(!ok());
    return *error_;
  }

 private:
  std::optional<E> error_;
};

}  // namespace weir
