#include "server/command/arguments.h"

#include <limits>

#include "base/time_units.h"
#include "resp/glob.h"
#include "resp/numbers.h"

namespace weir::server {
namespace {

ErrorReplied refuse_expire_time(Call& call) {
  return reply_error(call, expire_time_error(call.command));
}

// Answers the instant that a number means, in milliseconds.
Result<int64_t, ErrorReplied> instant_of(Call& call, const ExpireArgument& argument,
                                         int64_t number) {
  int64_t at_ms = number;
  if (argument.in_seconds && __builtin_mul_overflow(at_ms, kMsPerS, &at_ms))
    return refuse_expire_time(call);
  const int64_t base_ms = argument.absolute ? call.lead_ms() : call.now_ms();
  int64_t instant_ms = 0;
  if (!__builtin_add_overflow(at_ms, base_ms, &instant_ms)) return instant_ms;
  // The lead is negative where a shard's instants are behind this machine's clock.
  if (at_ms > 0) return refuse_expire_time(call);
  return std::numeric_limits<int64_t>::min();
}

}  // namespace

std::string expire_time_error(const Command& command) {
  return "ERR invalid expire time in '" + std::string(command.name) + "' command";
}

Result<int64_t, ErrorReplied> integer_argument(Call& call, std::string_view text) {
  const auto number = resp::parse_int64(text);
  if (!number) return reply_error(call, kNotAnInteger);
  return *number;
}

Result<int32_t, ErrorReplied> small_integer_argument(Call& call, std::string_view text) {
  const auto number = integer_argument(call, text);
  if (!number) return number.error();
  if (*number < INT32_MIN || *number > INT32_MAX) {
    return reply_error(call,
                       "ERR value is out of range, value must between -2147483648 and 2147483647");
  }
  return static_cast<int32_t>(*number);
}

Result<int64_t, ErrorReplied> count_argument(Call& call, std::string_view text) {
  const auto number = integer_argument(call, text);
  if (!number || *number != std::numeric_limits<int64_t>::min()) return number;
  return reply_error(call,
                     "ERR value is out of range, value must between -9223372036854775807 and "
                     "9223372036854775807");
}

Result<int64_t, ErrorReplied> positive_argument(Call& call, std::string_view text) {
  const auto number = resp::parse_int64(text);
  if (number && *number >= 0) return *number;
  return reply_error(call, "ERR value is out of range, must be positive");
}

Result<int64_t, ErrorReplied> limit_argument(Call& call, std::string_view text) {
  const auto limit = resp::parse_int64(text);
  if (limit && *limit >= 0) return *limit;
  return reply_error(call, "ERR LIMIT can't be negative");
}

Result<int, ErrorReplied> database_argument(Call& call, std::string_view text) {
  const auto number = small_integer_argument(call, text);
  if (!number) return number.error();
  if (*number < 0 || *number >= call.keys.options().databases) {
    return reply_error(call, kDatabaseOutOfRange);
  }
  return *number;
}

Result<int64_t, ErrorReplied> expire_at_argument(Call& call, const ExpireArgument& argument) {
  const auto number = integer_argument(call, argument.text);
  if (!number) return number;
  if (*number <= 0) return refuse_expire_time(call);
  return instant_of(call, argument, *number);
}

Result<int64_t, ErrorReplied> any_expire_at_argument(Call& call, const ExpireArgument& argument) {
  const auto number = integer_argument(call, argument.text);
  if (!number) return number;
  return instant_of(call, argument, *number);
}

Result<void, ErrorReplied> check_pattern(Call& call, std::string_view pattern) {
  if (pattern.size() <= kPatternBytesMax) return {};
  return reply_error(call, "ERR a pattern may have at most " + std::to_string(kPatternBytesMax) +
                               " bytes, got one of " + std::to_string(pattern.size()));
}

bool matches_pattern(const Call& call, std::string_view pattern, std::string_view name) {
  size_t steps = 0;
  const bool matches = resp::glob_match_counted(pattern, name, &steps);
  call.work().charge_steps(steps);
  return matches;
}

std::string_view up_to_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

std::string_view shown_part(std::string_view argument) {
  return up_to_nul(argument.substr(0, kShownBytesMax));
}

}  // namespace weir::server
