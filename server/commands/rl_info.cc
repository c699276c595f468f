// RL.INFO, RL.TOP: reading limiters.
#include <algorithm>
#include <string>

#include "algorithms/limit_text.h"
#include "algorithms/words.h"
#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/limiter/counts/top_windows.h"
#include "server/limiter/take/answer.h"
#include "server/limiter/take/bans.h"
#include "server/limiter/take/limiter.h"

namespace weir::server {
namespace {

constexpr size_t kTopDefault = 10;

// Answers 0 for an instant that was not.
int64_t milliseconds_since(const Call& call, int64_t at_ns) {
  return at_ns == 0 ? 0 : std::max<int64_t>(0, call.now_ns - at_ns) / kNsPerMs;
}

void info_of_reports(Call& call, const HeldLimit& held) {
  const algorithms::AdaptiveState& state = held.adaptive;
  const auto integer = [&](std::string_view name, int64_t value) {
    call.reply.bulk(name);
    call.reply.integer(value);
  };
  call.reply.bulk("adaptive");
  call.reply.map(7);
  integer("count", held.limit.count);
  integer("min", held.limit.adaptive.min);
  integer("max", held.limit.adaptive.max);
  call.reply.bulk("count_of");
  call.reply.bulk(state.is_shared ? "policy" : "key");
  call.reply.bulk("last_report");
  if (state.reported_ns == 0) {
    call.reply.null();
  } else {
    call.reply.bulk(state.last_failed ? "FAIL" : "OK");
  }
  call.reply.bulk("last_report_ms_ago");
  state.reported_ns == 0 ? call.reply.null()
                         : call.reply.integer(milliseconds_since(call, state.reported_ns));
  call.reply.bulk("last_latency_ms");
  state.latency_ns < 0 ? call.reply.null() : call.reply.integer(milliseconds_up(state.latency_ns));
}

void info_of_limit(Call& call, Limiter& limiter, HeldLimit& held) {
  const algorithms::Request nothing{
      .now_ns = call.now_ns, .cost = 0, .entries = limiter.entries_of(held), .wall = &call.wall()};
  auto verdict = algorithms::peek(held.limit, held.state, nothing);
  algorithms::show_debt(held.limit, held.state, nothing, verdict);
  const bool is_adaptive = held.limit.adaptive.is_set();
  call.reply.map(is_adaptive ? 6 : 5);
  call.reply.bulk("algorithm");
  call.reply.bulk(held.limit.algorithm->name);
  call.reply.bulk("parameters");
  call.reply.bulk(algorithms::format_with_ban(held.limit, algorithms::LimitStyle::kWhole));
  call.reply.bulk("limit");
  call.reply.integer(verdict.limit);
  call.reply.bulk("remaining");
  call.reply.integer(verdict.remaining);
  call.reply.bulk("reset_after_ms");
  call.reply.integer(milliseconds_up(verdict.reset_after_ns));
  if (is_adaptive) info_of_reports(call, held);
}

void rl_info(Call& call) {
  auto limiter = Limiter::read(call, call.args[1]);
  if (!limiter) return;
  if (!limiter->exists()) return call.reply.null();
  const auto& queue = server_of(call).waiting().queue(call.database, call.args[1]);
  const auto ban = running_ban(*limiter, call.now_ns);
  call.reply.map(6);
  call.reply.bulk("limits");
  call.reply.array(static_cast<int64_t>(limiter->all().size()));
  for (HeldLimit& held : limiter->all()) info_of_limit(call, *limiter, held);
  call.reply.bulk("named");
  call.reply.integer(static_cast<int64_t>(limiter->named().size()));
  call.reply.bulk("bookings");
  call.reply.integer(limiter->has_bookings() ? limiter->bookings_not_due() : 0);
  call.reply.bulk("waiting");
  call.reply.integer(static_cast<int64_t>(queue.size()));
  call.reply.bulk("holds");
  call.reply.integer(limiter->holds_not_ended());
  call.reply.bulk("banned_ms");
  call.reply.integer(ban ? milliseconds_up(ban->rest_ns) : 0);
}

struct TopOptions {
  TopWindows TopBoard::*kind = nullptr;
  std::optional<TopWindow> window;
  std::optional<size_t> count;
};

ErrorReplied refuse_top(Call& call, std::string_view word) {
  return reply_error(call,
                     "ERR RL.TOP takes DENIED, TAKEN or SHADOW, MINUTE, HOUR or DAY, and COUNT "
                     "with an integer " +
                         algorithms::between(1, kTopCountMax) + ", or RESET alone, got '" +
                         algorithms::shown(word) + "'");
}

template <auto kKind>
Result<void, ErrorReplied> take_kind(Call&, Args, TopOptions* options) {
  options->kind = kKind;
  return {};
}

template <TopWindow kWindow>
Result<void, ErrorReplied> take_window(Call&, Args, TopOptions* options) {
  options->window = kWindow;
  return {};
}

Result<void, ErrorReplied> take_count(Call& call, Args values, TopOptions* options) {
  const auto count = resp::parse_int64(values[0]);
  if (!count || *count < 1 || *count > kTopCountMax) return refuse_top(call, values[0]);
  options->count = static_cast<size_t>(*count);
  return {};
}

constexpr OptionRow<TopOptions> kTopOptions[] = {
    {.word = "DENIED", .take = take_kind<&TopBoard::denied>, .fits = without<&TopOptions::kind>},
    {.word = "TAKEN", .take = take_kind<&TopBoard::taken>, .fits = without<&TopOptions::kind>},
    {.word = "SHADOW", .take = take_kind<&TopBoard::shadow>, .fits = without<&TopOptions::kind>},
    {.word = "MINUTE",
     .take = take_window<TopWindow::kMinute>,
     .fits = without<&TopOptions::window>},
    {.word = "HOUR", .take = take_window<TopWindow::kHour>, .fits = without<&TopOptions::window>},
    {.word = "DAY", .take = take_window<TopWindow::kDay>, .fits = without<&TopOptions::window>},
    {.word = "COUNT", .values = 1, .take = take_count, .fits = without<&TopOptions::count>}};

Result<TopOptions, ErrorReplied> top_options(Call& call) {
  TopOptions options;
  const auto rest = read_leading_options(call, call.args.subspan(1), kTopOptions, &options);
  if (!rest) return rest.error();
  if (!rest->empty()) return refuse_top(call, rest->front());
  return options;
}

void reply_top(Call& call, const std::vector<TopKey>& keys, size_t count) {
  std::vector<const TopKey*> shown;
  for (const TopKey& key : keys) {
    if (shown.size() < count && key.database == call.database) shown.push_back(&key);
  }
  call.reply.array(static_cast<int64_t>(shown.size()));
  for (const TopKey* key : shown) {
    call.reply.array(3);
    call.reply.bulk(key->key);
    call.reply.integer(key->count);
    call.reply.integer(key->error);
  }
}

void rl_top(Call& call) {
  TopBoard& board = call.limiters.top;
  if (call.args.size() == 2 && equals_ignoring_case(call.args[1], "RESET")) {
    board.reset(board.denied.capacity());
    call.host.audit().note();
    return call.reply.status("OK");
  }
  const auto options = top_options(call);
  if (!options) return;
  TopWindows& windows = options->kind != nullptr ? board.*options->kind : board.denied;
  const TopWindow window = options->window.value_or(TopWindow::kHour);
  call.work().charge_entries(windows.size(window));
  reply_top(call, windows.top(window, call.now_ns).keys(), options->count.value_or(kTopDefault));
}

constexpr Command kRlInfoCommands[] = {
    {.name = "rl.info",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "ratelimit",
     .usage = "key",
     .summary = "Answers what a limiter holds: each limit, what is left of it, when it is full.",
     .since = "weir 0.1",
     .run = rl_info},
    {.name = "rl.top",
     .arity = -1,
     .flags = kReads,
     .audit = Audit::kIfNoted,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "[DENIED | TAKEN | SHADOW | RESET] [MINUTE | HOUR | DAY] [COUNT count]",
     .summary =
         "Answers the keys denied or taken from the most in the last hour: key, count, error "
         "bound.",
     .since = "weir 0.1",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special",
     .run = rl_top},
};

}  // namespace

Commands rl_info_commands() { return kRlInfoCommands; }

}  // namespace weir::server
