#include "server/command/arguments.h"

#include <limits>

#include "base/time_units.h"
#include "resp/glob.h"
#include "resp/numbers.h"

namespace weir::server {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::optional<int64_t> refuse_expire_time(Call& call) {
  call.reply.error(expire_time_error(call.command));
  return std::nullopt;
}

}  // namespace

std::string expire_time_error(const Command& command) {
  return "ERR invalid expire time in '" + std::string(command.name) + "' command";
}

std::optional<int64_t> integer_argument(Call& call, std::string_view text) {
  const auto number = resp::parse_int64(text);
  if (!number) call.reply.error(kNotAnInteger);
  return number;
}

std::optional<int32_t> small_integer_argument(Call& call, std::string_view text) {
  const auto number = integer_argument(call, text);
  if (!number) return std::nullopt;
  if (*number < INT32_MIN || *number > INT32_MAX) {
    call.reply.error("ERR value is out of range, value must between -2147483648 and 2147483647");
    return std::nullopt;
  }
  return static_cast<int32_t>(*number);
}

std::optional<int64_t> count_argument(Call& call, std::string_view text) {
  const auto number = integer_argument(call, text);
  if (!number || *number != std::numeric_limits<int64_t>::min()) return number;
  call.reply.error(
      "ERR value is out of range, value must between -9223372036854775807 and "
      "9223372036854775807");
  return std::nullopt;
}

std::optional<int64_t> positive_argument(Call& call, std::string_view text) {
  const auto number = resp::parse_int64(text);
  if (number && *number >= 0) return number;
  call.reply.error("ERR value is out of range, must be positive");
  return std::nullopt;
}

std::optional<int> database_argument(Call& call, std::string_view text) {
  const auto number = small_integer_argument(call, text);
  if (!number) return std::nullopt;
  if (*number < 0 || *number >= call.keys.options().databases) {
    call.reply.error(kDatabaseOutOfRange);
    return std::nullopt;
  }
  return *number;
}

std::optional<int64_t> expire_at_argument(Call& call, const ExpireArgument& argument) {
  const auto number = integer_argument(call, argument.text);
  if (!number) return std::nullopt;
  if (*number <= 0) return refuse_expire_time(call);
  return any_expire_at_argument(call, argument);
}

std::optional<int64_t> any_expire_at_argument(Call& call, const ExpireArgument& argument) {
  const auto number = integer_argument(call, argument.text);
  if (!number) return std::nullopt;
  int64_t at_ms = *number;
  if (argument.in_seconds && __builtin_mul_overflow(at_ms, kMsPerS, &at_ms))
    return refuse_expire_time(call);
  const int64_t base_ms = argument.absolute ? 0 : call.now_ms();
  if (at_ms > kMax - base_ms) return refuse_expire_time(call);
  return at_ms + base_ms;
}

bool pattern_fits(Call& call, std::string_view pattern) {
  if (pattern.size() <= kPatternBytesMax) return true;
  call.reply.error("ERR a pattern may have at most " + std::to_string(kPatternBytesMax) +
                   " bytes, got one of " + std::to_string(pattern.size()));
  return false;
}

bool matches_pattern(const Call& call, std::string_view pattern, std::string_view name) {
  size_t steps = 0;
  const bool matches = resp::glob_match_counted(pattern, name, &steps);
  call.work().charge_steps(steps);
  return matches;
}

std::string_view shown_part(std::string_view argument) {
  return argument.substr(0, argument.find('\0'));
}

}  // namespace weir::server
