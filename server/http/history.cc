#include "server/http/history.h"

#include <array>
#include <charconv>
#include <cmath>

namespace weir::server::http {
namespace {

constexpr int kDigits = 4;

void append_number(float value, std::string* out) {
  if (!std::isfinite(value)) {
    out->append("null");
    return;
  }
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::general, kDigits);
  out->append(text.data(), end.ptr);
}

}  // namespace

std::string history_json(const Minutes& minutes, int64_t after_s) {
  std::string out = "{\"every_s\":" + std::to_string(Minutes::kEveryNs / kNsPerS) + ",\"names\":[";
  for (const std::string_view name : Minute::kNames)
    out.append(out.back() == '[' ? "\"" : ",\"").append(name).append("\"");
  out.append("],\"rows\":[");
  for (const Minute& minute : minutes.all()) {
    if (minute.end_s <= after_s) continue;
    out.append(out.back() == '[' ? "[" : ",[").append(std::to_string(minute.end_s));
    for (const float value : minute.values) {
      out.push_back(',');
      append_number(value, &out);
    }
    out.push_back(']');
  }
  return out + "]}\n";
}

int64_t after_of(std::string_view target) {
  constexpr std::string_view kAfter = "?after=";
  const size_t begin = target.find(kAfter);
  if (begin == target.npos) return 0;
  const std::string_view digits = target.substr(begin + kAfter.size());
  int64_t after_s = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), after_s);
  return after_s;
}

}  // namespace weir::server::http
