#include "server/limiter.h"

#include <array>
#include <string>

#include "algorithms/gcra.h"
#include "algorithms/limiter_record.h"
#include "resp/numbers.h"
#include "server/arguments.h"
#include "server/server.h"

namespace weir::server {
namespace {

using algorithms::Limit;
using algorithms::LimitState;
using algorithms::State;
using algorithms::Verdict;

constexpr size_t kForeignTatDigits = 19;

struct Loaded {
  State state;
  bool parameters_changed = false;
};

// A limiter under other parameters, or one of several limits: the first of the same algorithm goes
// on.
std::optional<Loaded> carry_over(Call& call, std::string_view record, const Limit& limit) {
  std::array<LimitState, algorithms::kLimitsMax> stored;
  const auto count = algorithms::read_record(record, stored);
  if (!count) {
    call.reply.error("ERR the limiter's record cannot be read: " +
                     std::string(algorithms::describe(count.error())));
    return std::nullopt;
  }
  for (size_t i = 0; i < *count; ++i) {
    if (stored[i].limit.algorithm != limit.algorithm) continue;
    return Loaded{.state = algorithms::carry_over(stored[i].limit, limit, stored[i].state,
                                                  algorithms::CarryOver::kAsIs, call.now_ns),
                  .parameters_changed = true};
  }
  return Loaded{.state = algorithms::fresh_state(limit, call.now_ns), .parameters_changed = true};
}

std::optional<Loaded> adopt(Call& call, std::string_view text) {
  const auto tat_ns = text.size() == kForeignTatDigits ? resp::parse_int64(text) : std::nullopt;
  const auto state =
      tat_ns ? algorithms::gcra_state_from_tat({.tat_ns = *tat_ns, .now_ns = call.now_ns})
             : std::nullopt;
  if (state) return Loaded{.state = *state, .parameters_changed = true};
  call.reply.error(kWrongType);
  return std::nullopt;
}

std::optional<Loaded> load(Call& call, const storage::Ref& ref, const Limit& limit) {
  Loaded loaded;
  if (!ref.exists()) {
    loaded.state = algorithms::fresh_state(limit, call.now_ns);
    return loaded;
  }
  if (ref.type() == storage::Type::kString) return adopt(call, ref.value());
  if (ref.type() != storage::Type::kLimiter) {
    call.reply.error(kWrongType);
    return std::nullopt;
  }
  if (algorithms::read_single(ref.value(), limit, loaded.state)) return loaded;
  return carry_over(call, ref.value(), limit);
}

void save(Call& call, storage::Ref* ref, const Limit& limit, const State& state,
          const Verdict& verdict) {
  if (verdict.reset_after_ns == 0) return call.keys.erase(ref);
  char record[algorithms::kLimiterRecordBytesMax];
  const size_t size = algorithms::write_single(limit, state, record);
  const int64_t expires_at_ms = algorithms::expires_at_ms(limit, state);
  call.keys.put(ref, storage::Type::kLimiter, {record, size},
                expires_at_ms == algorithms::kNever ? 0 : expires_at_ms);
}

}  // namespace

std::optional<Verdict> run_gcra(Call& call, std::string_view key, const Limit& limit,
                                int64_t quantity) {
  storage::Ref ref = call.look_up(key);
  auto loaded = load(call, ref, limit);
  if (!loaded) return std::nullopt;
  const Verdict verdict =
      algorithms::gcra_throttle(limit, loaded->state, {.now_ns = call.now_ns, .permits = quantity});
  if (verdict.changed || (loaded->parameters_changed && quantity != 0)) {
    save(call, &ref, limit, loaded->state, verdict);
  }
  if (quantity > 0) ++(verdict.allowed ? call.server.stats.allowed : call.server.stats.denied);
  return verdict;
}

}  // namespace weir::server
