// JSON (RFC 8259) as a tree, and its text: without the library that parses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server::http {

// A value of JSON. Which members count depends on the kind:
//   kBoolean    integer, 0 or 1
//   kInteger    integer
//   kReal       real: it has a fraction or an exponent, or does not fit into int64_t
//   kText       text, which is UTF-8
//   kArray      elements
//   kObject     names and elements, as many of both
struct Json {
  enum class Kind : uint8_t { kNull, kBoolean, kInteger, kReal, kText, kArray, kObject };

  Kind kind = Kind::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string text = {};
  std::vector<std::string> names = {};
  std::vector<Json> elements = {};

  static Json boolean(bool value) { return {.kind = Kind::kBoolean, .integer = value ? 1 : 0}; }
  static Json number(int64_t value) { return {.kind = Kind::kInteger, .integer = value}; }
  // REQUIRES: UTF-8.
  static Json words(std::string_view value) {
    return {.kind = Kind::kText, .text = std::string(value)};
  }
  // Any bytes: those that are no UTF-8 are {"hex": "..."}.
  static Json bytes(std::string_view value);
  static Json array(std::vector<Json> values = {}) {
    return {.kind = Kind::kArray, .elements = std::move(values)};
  }
  static Json object() { return {.kind = Kind::kObject}; }

  bool is(Kind other) const { return kind == other; }
  bool is_true() const { return kind == Kind::kBoolean && integer != 0; }
  // Adds a member to an object, which has none of that name; answers the object.
  Json& add(std::string_view name, Json value);
  // The member of that name; null if there is none.
  const Json* find(std::string_view name) const;
};

// Appends the text of a value, without blanks and without a line's end.
void write(const Json& value, std::string* out);
std::string text_of(const Json& value);

// Tells whether all of it is UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

}  // namespace weir::server::http
