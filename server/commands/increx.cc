// INCREX: a bounded counter with an expiry, in a plain string key, as Redis 8.8 has it.
//
//     INCREX key [BYINT n | BYFLOAT f] [LBOUND x] [UBOUND y] [SATURATE]
//                [EX s | PX ms | EXAT s | PXAT ms | PERSIST] [ENX] [NX | XX]
//
// Only the sum is compared with the bounds. A sum outside them changes nothing, unless SATURATE
// moves it to the bound.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "base/result.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/limiter/take/limiters.h"
#include "server/types/lookups.h"

namespace weir::server {
namespace {

struct Options {
  std::optional<std::string_view> increment, lower, upper;
  std::optional<ExpireArgument> expire;
  bool is_float = false;
  bool saturate = false;
  bool persist = false;
  bool enx = false;
  bool nx = false;
  bool xx = false;
};

// Every word may be given once; so may one of BYINT and BYFLOAT, and one of EX, PX, EXAT and PXAT.
using IncrexRow = OptionRow<Options>;

template <bool kInSeconds, bool kAbsolute>
constexpr IncrexRow expires_in(std::string_view word) {
  return {.word = word,
          .values = 1,
          .take = take_expire<&Options::expire, kInSeconds, kAbsolute>,
          .fits = without<&Options::expire>};
}

template <auto kMember>
constexpr IncrexRow word_row(std::string_view word) {
  return {.word = word, .values = 1, .take = take_word<kMember>, .fits = without<kMember>};
}

template <auto kMember>
constexpr IncrexRow flag_row(std::string_view word) {
  return {.word = word, .flag = kMember, .fits = without<kMember>};
}

constexpr IncrexRow kIncrexOptions[] = {word_row<&Options::increment>("BYINT"),
                                        {.word = "BYFLOAT",
                                         .values = 1,
                                         .flag = &Options::is_float,
                                         .take = take_word<&Options::increment>,
                                         .fits = without<&Options::increment>},
                                        word_row<&Options::lower>("LBOUND"),
                                        word_row<&Options::upper>("UBOUND"),
                                        expires_in<true, false>("EX"),
                                        expires_in<false, false>("PX"),
                                        expires_in<true, true>("EXAT"),
                                        expires_in<false, true>("PXAT"),
                                        flag_row<&Options::saturate>("SATURATE"),
                                        flag_row<&Options::persist>("PERSIST"),
                                        flag_row<&Options::enx>("ENX"),
                                        flag_row<&Options::nx>("NX"),
                                        flag_row<&Options::xx>("XX")};

Result<Options, ErrorReplied> parse_options(Call& call) {
  Options options;
  if (const auto done = read_options(call, 2, kIncrexOptions, &options); !done) return done.error();
  if ((options.persist && (options.expire || options.enx)) || (options.nx && options.xx))
    return reply_error(call, kSyntaxError);
  if (options.enx && !options.expire)
    return reply_error(call, "ERR ENX flag requires an expiration");
  return options;
}

// Whole numbers and floats differ in how they are read, added, bounded and written.
struct Whole {
  using Number = int64_t;
  static constexpr Number kLowest = std::numeric_limits<Number>::min();
  static constexpr Number kHighest = std::numeric_limits<Number>::max();
  static constexpr std::string_view kBadIncrement =
      "ERR Increment is not an integer or out of range";
  static constexpr std::string_view kBadBound = " is not an integer or out of range";
  static constexpr std::string_view kBadValue = kNotAnInteger;

  static std::optional<Number> parse(std::string_view text) { return resp::parse_int64(text); }
  static bool add(Number a, Number b, Number* sum) { return !__builtin_add_overflow(a, b, sum); }
  static bool subtract(Number a, Number b, Number* rest) {
    return !__builtin_sub_overflow(a, b, rest);
  }
  static std::string text(Number number) { return std::to_string(number); }
  static int64_t permits(Number applied) { return applied; }
  static void reply(Call& call, Number number) { call.reply.integer(number); }
};

struct Float {
  using Number = long double;
  static constexpr Number kLowest = std::numeric_limits<Number>::lowest();
  static constexpr Number kHighest = std::numeric_limits<Number>::max();
  static constexpr std::string_view kBadIncrement = "ERR Increment is not a valid float";
  static constexpr std::string_view kBadBound = " is not a valid float";
  static constexpr std::string_view kBadValue = kNotAFloat;

  static std::optional<Number> parse(std::string_view text) {
    return resp::parse_long_double(text);
  }
  static bool add(Number a, Number b, Number* sum) { return std::isfinite(*sum = a + b); }
  static bool subtract(Number a, Number b, Number* rest) { return std::isfinite(*rest = a - b); }
  static std::string text(Number number) { return resp::format_long_double_human(number); }
  // A part of a permit counts as a whole one, and so many that they have no number as the most.
  static int64_t permits(Number applied) {
    constexpr Number kMost = std::numeric_limits<int64_t>::max() / 2;
    return static_cast<int64_t>(std::ceil(std::clamp<Number>(applied, 0, kMost)));
  }
  // The text that is stored, so that who asks and who reads later have one number.
  static void reply(Call& call, Number number) { call.reply.real_text(text(number)); }
};

template <typename Kind>
struct Change {
  using Number = typename Kind::Number;
  Number increment = 1;
  Number lower = Kind::kLowest;
  Number upper = Kind::kHighest;
};

template <typename Kind>
Result<Change<Kind>, ErrorReplied> parse_change(Call& call, const Options& options) {
  Change<Kind> change;
  if (options.increment) {
    const auto increment = Kind::parse(*options.increment);
    if (!increment) return reply_error(call, Kind::kBadIncrement);
    change.increment = *increment;
    if constexpr (std::is_same_v<Kind, Float>) {
      if (!std::isfinite(*increment)) {
        return reply_error(call, "ERR BYFLOAT increment cannot be Infinity");
      }
    }
  }
  const auto bound = [&](const auto& text, std::string_view name,
                         auto* value) -> Result<void, ErrorReplied> {
    if (!text) return {};
    const auto number = Kind::parse(*text);
    if (!number)
      return reply_error(call, "ERR " + std::string(name) + std::string(Kind::kBadBound));
    *value = *number;
    return {};
  };
  if (const auto lower = bound(options.lower, "LBOUND", &change.lower); !lower)
    return lower.error();
  if (const auto upper = bound(options.upper, "UBOUND", &change.upper); !upper)
    return upper.error();
  if (change.lower > change.upper)
    return reply_error(call, "ERR LBOUND can't be greater than UBOUND");
  return change;
}

template <typename Number>
struct Sum {
  Number value{};
  Number applied{};
  bool refused = false;       // the sum is outside, and nothing changes
  bool unanswerable = false;  // the number that was added cannot be expressed
};

template <typename Kind>
Sum<typename Kind::Number> sum_of(typename Kind::Number current, const Change<Kind>& change,
                                  bool saturate) {
  Sum<typename Kind::Number> sum{.value = {}, .applied = change.increment};
  const bool fits = Kind::add(current, change.increment, &sum.value);
  if (!fits) sum.value = change.increment > 0 ? Kind::kHighest : Kind::kLowest;
  if (fits && sum.value >= change.lower && sum.value <= change.upper) return sum;
  sum.refused = !saturate;
  if (!saturate) return sum;
  sum.value = std::min(std::max(sum.value, change.lower), change.upper);
  sum.unanswerable = !Kind::subtract(sum.value, current, &sum.applied);
  return sum;
}

template <typename Kind>
void reply_pair(Call& call, typename Kind::Number value, typename Kind::Number applied) {
  call.reply.array(2);
  Kind::reply(call, value);
  Kind::reply(call, applied);
}

void store(Call& call, storage::Ref* ref, std::string_view text, const Options& options,
           int64_t expire_at_ms) {
  const bool had_ttl = ref->expire_at_ms() != 0;
  int64_t ends_at_ms = options.persist ? 0 : ref->expire_at_ms();
  const bool sets_end = options.expire && !(options.enx && had_ttl);
  if (sets_end) {
    if (expire_at_ms <= call.now_ms()) {
      if (!ref->exists()) return;
      call.keys.erase(ref);
      return call.notify(EventClass::kGeneric, "del", call.args[1]);
    }
    ends_at_ms = expire_at_ms;
  }
  call.keys.put(ref, storage::Type::kString, text, ends_at_ms);
  call.notify(EventClass::kString, options.is_float ? "incrbyfloat" : "incrby", call.args[1]);
  if (sets_end) call.notify(EventClass::kGeneric, "expire", call.args[1]);
  if (options.persist && had_ttl) call.notify(EventClass::kGeneric, "persist", call.args[1]);
}

template <typename Kind>
void run(Call& call, const Options& options) {
  const auto change = parse_change<Kind>(call, options);
  if (!change) return;
  int64_t expire_at_ms = 0;
  if (options.expire) {
    const auto at = expire_at_argument(call, *options.expire);
    if (!at) return;
    expire_at_ms = *at;
  }
  storage::Ref ref = call.look_up(call.args[1]);
  if (!check_string_or_absent(call, ref)) return;
  const auto current =
      ref.exists() ? Kind::parse(ref.value()) : std::optional<typename Kind::Number>(0);
  if (!current) return call.reply.error(Kind::kBadValue);
  if (ref.exists() ? options.nx : options.xx) return reply_pair<Kind>(call, *current, 0);
  const auto sum = sum_of<Kind>(*current, *change, options.saturate);
  if (sum.refused) return reply_pair<Kind>(call, *current, 0);
  if (sum.unanswerable) return call.reply.error("ERR applied increment would overflow");
  if (sum.applied < 0) {  // it gives back
    call.limiters.takings.make_strict();
    call.host.audit().note();
  }
  call.limiters.takings.count(Kind::permits(sum.applied));
  store(call, &ref, Kind::text(sum.value), options, expire_at_ms);
  reply_pair<Kind>(call, sum.value, sum.applied);
}

void increx(Call& call) {
  const auto options = parse_options(call);
  if (!options) return;
  options->is_float ? run<Float>(call, *options) : run<Whole>(call, *options);
}

// An increment below zero gives back. A request with more words than all options have repeats one,
// and is refused.
void use_of_increx(Args args, LimitUse* use) {
  use->is_inline = true;
  args = args.first(std::min(args.size(), 2 + 2 * std::size(kIncrexOptions)));
  for (size_t i = 2; i + 1 < args.size(); ++i) {
    if (equals_ignoring_case(args[i], "BYINT") || equals_ignoring_case(args[i], "BYFLOAT"))
      use->is_admins |= args[i + 1].starts_with('-');
  }
}

constexpr Command kIncrexCommands[] = {
    {.name = "increx",
     .arity = -2,
     .flags = kWrites | kFast | kDenyOom | kTakes,
     .keys = {1, 1, 1},
     .audit = Audit::kIfNoted,
     .group = "string",
     .categories = "string ratelimit",
     .usage = "key [BYINT increment | BYFLOAT increment] [LBOUND lower] [UBOUND upper] [SATURATE] "
              "[EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT "
              "unix-time-milliseconds | PERSIST] [ENX] [NX | XX]",
     .summary = "Adds to a counter that has bounds and an expiry: the new value, what was added.",
     .since = "8.8.0",
     .run = increx,
     .limit_use = use_of_increx},
};

}  // namespace

Commands increx_commands() { return kIncrexCommands; }

}  // namespace weir::server
