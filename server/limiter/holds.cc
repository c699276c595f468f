#include "server/limiter/holds.h"

#include <algorithm>
#include <optional>
#include <span>

#include "algorithms/concurrency.h"
#include "algorithms/settle.h"
#include "server/limiter/limiters.h"
#include "server/limiter/remembered.h"
#include "server/limiter/request.h"
#include "storage/codec.h"
#include "storage/elements.h"

namespace weir::server {
namespace {

constexpr int kForgottenMax = 64;  // ended holds removed with each new one

void forget_ended(const Call& call, storage::Elements* holds) {
  for (int i = 0; i < kForgottenMax && !holds->empty(); ++i) {
    call.work().charge_entries(1);
    const storage::Element first = holds->at(0);
    if (storage::integer_of_order(first.order) > call.now_ns) return;
    holds->erase(first.member);
  }
}

// One limit of a hold. Its views are good as long as the hold is stored.
struct Part {
  int64_t charged = 0;
  std::string_view limit;
  std::string_view kept;
};

struct Hold {
  int64_t charged_at_ns = 0;
  std::vector<Part> parts;
};

// Nothing for bytes that make no sense.
std::optional<Hold> read_hold(std::string_view value) {
  storage::Reader reader(value);
  Hold hold{.charged_at_ns = static_cast<int64_t>(reader.varint()), .parts = {}};
  const uint64_t count = reader.varint();
  if (!reader.ok() || count < 1 || count > algorithms::kLimitsMax) return std::nullopt;
  if (hold.charged_at_ns < 0) return std::nullopt;
  for (uint64_t i = 0; i < count; ++i) {
    Part part;
    part.charged = static_cast<int64_t>(reader.varint());
    part.limit = reader.bytes(reader.varint());
    part.kept = reader.bytes(reader.varint());
    if (!reader.ok() || part.charged < 0 || part.charged > algorithms::kCostMax) {
      return std::nullopt;
    }
    hold.parts.push_back(part);
  }
  return hold;
}

// Finds the limits of a hold among the limiter's, each once: first those that are the same still,
// then those of the algorithm, whose parameters have changed since, where the kept state names the
// window of the charge. Null: it is gone, or it cannot be told from one that never had the charge.
std::vector<HeldLimit*> limits_of(Limiter& limiter, const std::vector<Part>& parts) {
  const std::span<HeldLimit> all = limiter.all();
  std::vector<std::string> texts;
  for (const HeldLimit& held : all) texts.push_back(algorithms::format_limit(held.limit));
  std::vector<HeldLimit*> found(parts.size());
  std::vector<bool> taken(all.size());
  const auto find = [&](size_t part, auto fits) {
    for (size_t i = 0; i < all.size() && found[part] == nullptr; ++i) {
      if (taken[i] || !fits(i)) continue;
      taken[i] = true;
      found[part] = &all[i];
    }
  };
  for (size_t part = 0; part < parts.size(); ++part) {
    find(part, [&](size_t i) { return texts[i] == parts[part].limit; });
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    const std::string_view name = parts[part].limit.substr(0, parts[part].limit.find(' '));
    find(part, [&](size_t i) {
      return all[i].limit.algorithm->settle != nullptr && all[i].limit.algorithm->name == name;
    });
  }
  return found;
}

// One limit of a hold that is being settled.
struct Settlement {
  HeldLimit* held = nullptr;
  algorithms::Settle settle;
  std::optional<algorithms::State> kept;

  algorithms::Verdict run(bool peek) {
    settle.kept = kept ? &*kept : nullptr;
    settle.peek = peek;
    return algorithms::settle(held->limit, held->state, settle);
  }
};

// A state that was charged under other parameters tells only in which window that was.
std::optional<algorithms::State> kept_of(const Part& part, const algorithms::Limit& limit) {
  if (limit.algorithm->settle == nullptr && algorithms::format_limit(limit) != part.limit) {
    return std::nullopt;
  }
  algorithms::Reader reader(part.kept);
  algorithms::State kept;
  if (!limit.algorithm->read_state(limit, reader, kept) || reader.left() != 0) return std::nullopt;
  return kept;
}

std::vector<Settlement> settlements_of(const Call& call, Limiter& limiter, const Hold& hold,
                                       const std::vector<int64_t>& used) {
  const std::vector<HeldLimit*> limits = limits_of(limiter, hold.parts);
  std::vector<Settlement> settlements;
  for (size_t i = 0; i < limits.size(); ++i) {
    if (limits[i] == nullptr || limits[i]->limit.algorithm->makes_leases) continue;
    const Part& part = hold.parts[i];
    settlements.push_back({.held = limits[i],
                           .settle = {.now_ns = call.now_ns,
                                      .charged_at_ns = hold.charged_at_ns,
                                      .charged = part.charged,
                                      .used = used.size() == 1 ? used[0] : used[i],
                                      .entries = limiter.entries_of(*limits[i]),
                                      .wall = &call.wall()},
                           .kept = kept_of(part, limits[i]->limit)});
  }
  return settlements;
}

void release(const Call& call, Limiter& limiter, int64_t id) {
  for (HeldLimit& held : limiter.all()) {
    if (!held.limit.algorithm->makes_leases) continue;
    algorithms::release_lease(held.state, *limiter.entries_of(held),
                              {.id = id, .now_ns = call.now_ns});
  }
}

Answer rest_of(const Call& call, Limiter& limiter) {
  Answer answer{.verdict = {}, .allowed = true};
  int64_t least = algorithms::kNever;
  for (size_t i = 0; i < limiter.all().size(); ++i) {
    const HeldLimit& held = limiter.all()[i];
    const algorithms::Request nothing{.now_ns = call.now_ns,
                                      .cost = 0,
                                      .entries = limiter.entries_of(held),
                                      .wall = &call.wall()};
    algorithms::Verdict verdict = algorithms::peek(held.limit, held.state, nothing);
    verdict.remaining -= algorithms::owed(held.limit, held.state, nothing);
    if (verdict.remaining >= least) continue;
    least = verdict.remaining;
    answer.verdict = verdict;
    answer.index = static_cast<int64_t>(i);
  }
  return answer;
}

Settled denied(std::vector<Settlement>& settlements, const algorithms::Verdict& verdict,
               const Settlement& by) {
  Answer answer{.verdict = verdict};
  answer.index = &by - settlements.data();
  return {.answer = answer};
}

// A token that no request can carry: it is longer than any.
std::string token_of(int64_t id) {
  return std::string(kIdBytesMax, '\0') + "settle " + std::to_string(id);
}

}  // namespace

Result<void, std::string> check_room_for_hold(Call& call, Limiter& limiter,
                                              const LimiterRequest& request) {
  if (!request.hold_ns || !limiter.has_holds()) return {};
  if (limiter.holds_not_ended() < static_cast<int64_t>(kHoldsMax)) return {};
  call.work().charge_entries(1);
  return "ERR the key has " + std::to_string(kHoldsMax) +
         " holds that have not ended yet, the most there may be";
}

void add_hold(Call& call, Limiter& limiter, int64_t id, int64_t duration_ns,
              const std::vector<HeldCharge>& charges) {
  storage::Elements* holds = limiter.holds();
  if (holds == nullptr) return;  // reading failed; the reply will be discarded
  forget_ended(call, holds);
  const auto limits = limiter.named();
  std::string value;
  storage::put_varint(&value, static_cast<uint64_t>(std::max<int64_t>(0, call.now_ns)));
  storage::put_varint(&value, limits.size());
  for (size_t i = 0; i < limits.size(); ++i) {
    storage::put_varint(&value, static_cast<uint64_t>(charges[i].permits));
    const std::string text =
        charges[i].charged ? algorithms::format_limit(limits[i].limit) : std::string();
    storage::put_varint(&value, text.size());
    value += text;
    char kept[algorithms::kStateBytesMax];
    algorithms::Writer writer(kept, sizeof kept);
    limits[i].limit.algorithm->write_state(limits[i].limit, charges[i].kept, writer);
    storage::put_varint(&value, writer.size());
    value.append(kept, writer.size());
  }
  holds->put(view(member_of_id(id)), storage::order_of_integer(call.now_ns + duration_ns), value);
}

Result<Settled, std::string> settle_hold(Call& call, Limiter& limiter, int64_t id,
                                         const std::vector<int64_t>& used) {
  const Settled none{.found = false, .answer = {}};
  storage::Elements* holds = limiter.has_holds() ? limiter.holds() : nullptr;
  if (holds == nullptr) return none;
  const IdMember member = member_of_id(id);
  const auto found = holds->find(view(member));
  if (!found || storage::integer_of_order(found->order) <= call.now_ns) return none;
  const auto hold = read_hold(found->value);
  if (!hold) return none;
  if (used.size() > 1 && used.size() != hold->parts.size()) {
    return "ERR cost must be one number, or one for each of the " +
           std::to_string(hold->parts.size()) + " limits that are held, got " +
           std::to_string(used.size());
  }
  std::vector<Settlement> settlements = settlements_of(call, limiter, *hold, used);
  Settled settled;
  for (Settlement& each : settlements) {
    const algorithms::Verdict verdict = each.run(true);
    if (!verdict.allowed) return denied(settlements, verdict, each);
    settled.given_back = std::max(settled.given_back, each.settle.charged - each.settle.used);
  }
  for (Settlement& each : settlements) each.run(false);
  release(call, limiter, id);
  holds->erase(view(member));
  settled.answer = rest_of(call, limiter);
  limiter.save();
  if (call.keys.failure().ok()) {
    call.host.notify(EventClass::kLimiter, "settled", call.database, limiter.key());
  }
  return settled;
}

void settle(Call& call, std::string_view key, int64_t id, const std::vector<int64_t>& used) {
  const std::string token = token_of(id);
  if (recalled(call, key, token, "ERR the hold was settled with another cost")) return;
  auto limiter = Limiter::read(call, key);
  if (!limiter) return;
  const auto settled = settle_hold(call, *limiter, id, used);
  if (!settled) return call.reply.error(settled.error());
  if (!settled->found) return call.reply.null_array();
  const size_t begin = call.reply.buffer()->size();
  write_figures(call.reply, settled->answer, false);
  if (settled->answer.allowed) remember(call, key, token, begin);
}

}  // namespace weir::server
