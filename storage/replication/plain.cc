#include "storage/replication/plain.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/ascii.h"

namespace weir::storage::replication {
namespace {

bool is_of(std::string_view text, std::string_view marks) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || marks.find(c) != std::string_view::npos;
  });
}

}  // namespace

bool is_plain_name(std::string_view text) {
  return text.size() <= kPlainNameBytesMax && is_of(text, "-_.");
}

bool is_plain_address(std::string_view text) {
  if (text.empty()) return true;
  const size_t colon = text.rfind(':');
  if (text.size() > kPlainAddressBytesMax || colon == std::string_view::npos || colon == 0)
    return false;
  const std::string_view digits = text.substr(colon + 1);
  uint16_t port = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, port);
  const bool is_port = error == std::errc() && stop == end && digits[0] != '0';
  return is_port && is_of(text.substr(0, colon), "-_.:[]%");
}

}  // namespace weir::storage::replication
