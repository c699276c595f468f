#include "server/http/format/json_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.h"

namespace weir::server::http {
namespace {

// What has a short form, and that.
constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
constexpr std::string_view kEscapes = "\"\\bfnrt";

void write_text(std::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const size_t escaped = kEscaped.find(c);
    if (escaped != kEscaped.npos) {
      out->push_back('\\');
      out->push_back(kEscapes[escaped]);
    } else if (byte >= ' ') {
      out->push_back(c);
    } else {
      out->append("\\u00").push_back(kHexDigits[byte >> 4]);
      out->push_back(kHexDigits[byte & 15]);
    }
  }
  out->push_back('"');
}

template <typename Number>
void write_number(Number number, std::string* out) {
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof(digits), number);
  out->append(digits, written.ptr);
}

// JSON has no infinity, and nothing that is no number.
void write_real(double real, std::string* out) {
  if (!std::isfinite(real)) {
    out->append("null");
  } else {
    write_number(real, out);
  }
}

void write_elements(const Json& value, std::string* out) {
  const bool is_object = value.is(Json::Kind::kObject);
  out->push_back(is_object ? '{' : '[');
  for (size_t i = 0; i < value.elements.size(); ++i) {
    if (i > 0) out->push_back(',');
    if (is_object) {
      write_text(value.names[i], out);
      out->push_back(':');
    }
    write(value.elements[i], out);
  }
  out->push_back(is_object ? '}' : ']');
}

}  // namespace

Json Json::bytes(std::string_view value) {
  if (is_utf8(value)) return words(value);
  const auto* const data = reinterpret_cast<const uint8_t*>(value.data());
  Json hex = object();
  hex.add("hex", words(hex_text({data, value.size()})));
  return hex;
}

Json& Json::add(std::string_view name, Json value) {
  names.emplace_back(name);
  elements.push_back(std::move(value));
  return *this;
}

const Json* Json::find(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : &elements[static_cast<size_t>(found - names.begin())];
}

void write(const Json& value, std::string* out) {
  switch (value.kind) {
    case Json::Kind::kNull:
      out->append("null");
      return;
    case Json::Kind::kBoolean:
      out->append(value.integer != 0 ? "true" : "false");
      return;
    case Json::Kind::kInteger:
      return write_number(value.integer, out);
    case Json::Kind::kReal:
      return write_real(value.real, out);
    case Json::Kind::kText:
      return write_text(value.text, out);
    case Json::Kind::kArray:
    case Json::Kind::kObject:
      return write_elements(value, out);
  }
}

std::string text_of(const Json& value) {
  std::string text;
  write(value, &text);
  return text;
}

bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = at + text.size();
  while (at != end) {
    if (*at < 0x80) {
      ++at;
      continue;
    }
    const int more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : 1;
    if (*at < 0xc2 || *at > 0xf4 || end - at <= more) return false;
    const unsigned char low = *at == 0xe0 ? 0xa0 : *at == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = *at == 0xed ? 0x9f : *at == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high) return false;
    for (int i = 2; i <= more; ++i) {
      if (at[i] < 0x80 || at[i] > 0xbf) return false;
    }
    at += more + 1;
  }
  return true;
}

}  // namespace weir::server::http
