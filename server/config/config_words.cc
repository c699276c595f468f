#include "server/config/config_words.h"

#include <array>

#include "base/ascii.h"
#include "resp/inline_arguments.h"
#include "resp/numbers.h"

namespace weir::server {
namespace {

std::string hex_escape(char c) { return "\\x" + hex_text({{static_cast<uint8_t>(c)}}); }

struct SizeUnit {
  std::string_view name;
  int64_t bytes;
};
constexpr std::array<SizeUnit, 7> kSizeUnits = {{{"gb", 1 << 30},
                                                 {"mb", 1 << 20},
                                                 {"kb", 1 << 10},
                                                 {"b", 1},
                                                 {"k", 1000},
                                                 {"m", 1000000},
                                                 {"g", 1000000000}}};

}  // namespace

std::optional<std::vector<std::string>> split_words(std::string_view line) {
  std::string storage;
  std::vector<std::string_view> words;
  if (!resp::split_arguments(line, &storage, &words)) return std::nullopt;
  return std::vector<std::string>(words.begin(), words.end());
}

std::vector<std::string> split_blanks(std::string_view text) {
  const std::vector<std::string_view> words = split_at_spaces(text);
  return {words.begin(), words.end()};
}

std::string quote_word(std::string_view text) {
  bool plain = !text.empty() && text.front() != '#';
  std::string quoted = "\"";
  for (char c : text) {
    plain = plain && !is_space(c) && !is_control(c) && c != '"' && c != '\'';
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += is_control(c) ? hex_escape(c) : std::string(1, c);
  }
  return plain ? std::string(text) : quoted + '"';
}

std::optional<int64_t> parse_size(std::string_view text) {
  size_t digits = text.find_first_not_of(kDigits);
  if (digits == std::string_view::npos) digits = text.size();
  int64_t scale = digits == text.size() ? 1 : 0;
  for (const SizeUnit& unit : kSizeUnits) {
    if (equals_ignoring_case(text.substr(digits), unit.name)) scale = unit.bytes;
  }
  auto count = resp::parse_int64(text.substr(0, digits));
  if (scale == 0 || !count || *count > INT64_MAX / scale) return std::nullopt;
  return *count * scale;
}

std::string format_size(int64_t bytes) {
  for (const SizeUnit& unit : kSizeUnits) {
    if (unit.bytes == 1 || bytes == 0) break;
    if (bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes) + std::string(unit.name);
  }
  return std::to_string(bytes);
}

std::string printable(std::string_view text) {
  constexpr size_t kShownMax = 64;
  std::string out = "'";
  for (char c : text.substr(0, kShownMax)) {
    out += is_control(c) ? hex_escape(c) : std::string(1, c);
  }
  return out + (text.size() > kShownMax ? "...'" : "'");
}

}  // namespace weir::server
