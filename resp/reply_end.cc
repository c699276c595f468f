#include "resp/reply_end.h"

#include "resp/numbers.h"

namespace weir::resp {

std::optional<ReplyEnd::Rest> ReplyEnd::rest_of(char type, std::string_view line) const {
  constexpr std::string_view kStrings = "$!=", kAggregates = "*~>%|", kScalars = "+-(:,#_";
  if (kScalars.find(type) != kScalars.npos) return Rest();
  const bool is_string = kStrings.find(type) != kStrings.npos;
  if (!is_string && kAggregates.find(type) == kAggregates.npos) return std::nullopt;
  const std::optional<int64_t> count = parse_int64(line);
  if (count == -1 && (type == '$' || type == '*')) return Rest();  // RESP2's nulls
  if (!count || *count < 0) return std::nullopt;
  if (is_string) {
    if (*count > limits_.bulk_bytes_max) return std::nullopt;
    return Rest{.bytes = static_cast<uint64_t>(*count) + 2};
  }
  const int64_t per_entry = type == '%' || type == '|' ? 2 : 1;
  if (*count > limits_.elements_max / per_entry) return std::nullopt;
  return Rest{.values = *count * per_entry};
}

DecodeStatus ReplyEnd::look(std::string_view reply) {
  const auto line_max = static_cast<size_t>(limits_.line_bytes_max);
  while (expected_ > 0) {
    const std::string_view left = reply.substr(position_);
    const size_t size = left.substr(0, line_max + 1).find('\r');
    if (size == left.npos)
      return left.size() > line_max ? DecodeStatus::kError : DecodeStatus::kNeedMore;
    if (size == 0) return DecodeStatus::kError;
    if (size + 1 == left.size()) return DecodeStatus::kNeedMore;
    if (left[size + 1] != '\n') return DecodeStatus::kError;
    const auto rest = rest_of(left[0], left.substr(1, size - 1));
    if (!rest || rest->values > values_left_) return DecodeStatus::kError;
    const size_t begin = size + 2;
    if (left.size() - begin < rest->bytes) return DecodeStatus::kNeedMore;
    position_ += begin + static_cast<size_t>(rest->bytes);
    values_left_ -= rest->values;
    expected_ += rest->values - (left[0] == '|' ? 0 : 1);  // attributes stand before a value
  }
  return DecodeStatus::kValue;
}

}  // namespace weir::resp
