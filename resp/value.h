// Reads replies back: the client's side of the protocol, for tests, tools and scripts.
//
// It accepts RESP2 and RESP3 as servers send them and trusts nothing: depth, counts and lengths are
// bounded, and memory grows with the bytes received, never with what they declare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::resp {

// One decoded reply. Which members count depends on the type:
//   kStatus, kError, kBulk, kBigNumber  text (RESP3's two error forms are both kError)
//   kVerbatim                           text; format holds its three bytes
//   kInteger, kBoolean                  integer (0 or 1 for kBoolean)
//   kDouble                             real; text as it was spelt
//   kArray, kSet, kPush                 elements
//   kMap                                elements: key, value, key, value ...
//   kNull                               none, whatever spelling it had
// Attributes before a reply are read and dropped.
struct Value {
  enum class Type {
    kNull,
    kStatus,
    kError,
    kInteger,
    kBulk,
    kArray,
    kBoolean,
    kDouble,
    kBigNumber,
    kVerbatim,
    kMap,
    kSet,
    kPush,
  };

  Type type = Type::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::string format;
  std::vector<Value> elements;

  bool is_null() const { return type == Type::kNull; }
  bool is_error() const { return type == Type::kError; }

  // Doubles are equal if their values are; NaN equals NaN.
  friend bool operator==(const Value& a, const Value& b);
};

// One line for people: integers and doubles bare, strings quoted, errors as (error ...), arrays in
// [], sets in ~[], pushes in >[], maps in {k: v}.
std::string to_string(const Value& value);

enum class DecodeStatus { kNeedMore, kValue, kError };

struct DecodeLimits {
  int depth_max = 32;                  // aggregates inside aggregates
  int64_t bulk_bytes_max = 512 << 20;  // bytes of one string
  int64_t elements_max = 1 << 24;  // elements of one aggregate; a map's keys and values count apart
  int64_t line_bytes_max = 64 << 10;  // bytes of one line: a header, a status, an error
};

// Decodes the reply at the front of `bytes`.
// kValue:    *value holds it and *consumed the bytes it occupied.
// kNeedMore: nothing wrong so far; call again with more, all from the beginning.
// kError:    they can become no reply within the limits.
// Unless kValue, *value is unspecified and *consumed is 0.
DecodeStatus decode(std::string_view bytes, Value* value, size_t* consumed,
                    const DecodeLimits& limits = {});

}  // namespace weir::resp
