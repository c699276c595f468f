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
#include <utility>
#include <variant>

#include "base/check.h"

namespace weir {

template <class T, class E>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(E error) : held_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return held_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok()
  const T& value() const {
    WEIR_REQUIRE(ok());
    return *std::get_if<0>(&held_);
  }
  T& value() {
    WEIR_REQUIRE(ok());
    return *std::get_if<0>(&held_);
  }
  const T& operator*() const { return value(); }
  T& operator*() { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  // REQUIRES: !ok()
  const E& error() const {
    WEIR_REQUIRE(!ok());
    return *std::get_if<1>(&held_);
  }

 private:
  std::variant<T, E> held_;
};

template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  Result() = default;
  Result(E error) : error_(std::move(error)) {}

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
