// The fields RateLimit and RateLimit-Policy, read strictly: lists of structured fields (RFC 9651)
// whose items are strings, and whose parameters are what
// draft-ietf-httpapi-ratelimit-headers-11 says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/base64.h"

namespace weir::server {

// The items of a field, each with its parameters as they are written: {"api": {"r": "5"}}.
using RateLimitItems = std::map<std::string, std::map<std::string, std::string>>;

class RateLimitReader {
 public:
  explicit RateLimitReader(std::string_view text) : text_(text) {}

  // Nothing: a parser has to ignore the field.
  std::optional<RateLimitItems> read() {
    RateLimitItems items;
    do {
      while (takes(' ')) continue;
      const auto name = string();
      if (!name || items.contains(*name) || !parameters(&items[*name])) return std::nullopt;
      while (takes(' ')) continue;
    } while (takes(','));
    if (!text_.empty()) return std::nullopt;
    return items;
  }

 private:
  bool takes(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::optional<std::string> string() {
    if (!takes('"')) return std::nullopt;
    std::string value;
    while (!text_.empty() && !text_.starts_with('"')) {
      const bool escapes = takes('\\');
      if (text_.empty() || text_[0] < 0x20 || text_[0] > 0x7e) return std::nullopt;
      if (escapes && text_[0] != '"' && text_[0] != '\\') return std::nullopt;
      value += text_[0];
      text_.remove_prefix(1);
    }
    if (!takes('"')) return std::nullopt;
    return value;
  }

  std::optional<std::string> integer() {
    constexpr size_t kDigitsMax = 15;
    std::string digits;
    while (!text_.empty() && is_digit(text_[0])) {
      digits += text_[0];
      text_.remove_prefix(1);
    }
    if (digits.empty() || digits.size() > kDigitsMax) return std::nullopt;
    return digits;
  }

  std::optional<std::string> bytes() {
    if (!takes(':')) return std::nullopt;
    const size_t end = text_.find(':');
    if (end == text_.npos) return std::nullopt;
    const auto decoded = decode_base64(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return decoded;
  }

  std::optional<std::string> value_of(std::string_view key) {
    if (key == "pk") return bytes();
    if (key == "q" || key == "r" || key == "t" || key == "w") {
      auto number = integer();
      if (key == "w" && number && number->find_first_not_of('0') == number->npos) return {};
      return number;
    }
    if (key != "qu") return std::nullopt;
    const auto unit = string();
    static const std::set<std::string> kUnits = {"requests", "content-bytes",
                                                 "concurrent-requests"};
    return unit && kUnits.contains(*unit) ? unit : std::nullopt;
  }

  bool parameters(std::map<std::string, std::string>* found) {
    while (takes(';')) {
      while (takes(' ')) continue;
      const size_t equal = text_.find('=');
      if (equal == text_.npos) return false;
      const std::string key(text_.substr(0, equal));
      text_.remove_prefix(equal + 1);
      const auto value = value_of(key);
      if (!value || !found->emplace(key, *value).second) return false;
    }
    return found->contains("q") != found->contains("r");
  }

  std::string_view text_;
};

// REQUIRES: the field's value, without what a reply puts around it.
inline std::optional<RateLimitItems> read_rate_limit(std::string_view text) {
  return RateLimitReader(text).read();
}

// Tells whether a strict parser takes all fields of that kind in answers of HTTP, of which the last
// may not be whole.
inline bool has_strict_fields(std::string_view answers) {
  constexpr std::string_view kName = "\r\nRateLimit";
  for (size_t at = 0; (at = answers.find(kName, at)) != answers.npos; at += kName.size()) {
    const size_t end = answers.find("\r\n", at + 2);
    if (end == answers.npos) return true;
    const std::string_view line = answers.substr(at + 2, end - at - 2);
    if (!read_rate_limit(line.substr(line.find(':') + 2))) return false;
  }
  return true;
}

}  // namespace weir::server
