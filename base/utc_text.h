// An instant of Unix time as text, in UTC.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace weir {

// `format` is strftime(3)'s, and makes at most 63 bytes.
inline std::string utc_text(int64_t unix_s, const char* format) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

}  // namespace weir
