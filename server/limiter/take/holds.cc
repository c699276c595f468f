#include "server/limiter/take/holds.h"

#include <algorithm>

#include "algorithms/concurrency.h"
#include "server/limiter/policy/request.h"
#include "server/limiter/take/limiters.h"
#include "server/limiter/take/look.h"
#include "storage/format/codec.h"
#include "storage/memtable/elements.h"

namespace weir::server {
namespace {

constexpr int kEndedForgottenMax = 64;        // ended holds removed with each new one
constexpr size_t kStoredMax = 2 * kHoldsMax;  // with those that have ended

void forget_ended(const Call& call, storage::Elements& holds) {
  for (int i = 0; i < kEndedForgottenMax && !holds.empty(); ++i) {
    call.work().charge_entries(1);
    const storage::Element first = holds.at(0);
    const int64_t end_ns = storage::integer_of_order(first.order);
    const int64_t kept_ns = holds.size() < kStoredMax ? kLateSettleNs : 0;
    if (end_ns + kept_ns > call.now_ns) return;
    holds.erase(first.member);
  }
}

struct Hold {
  Charge charge;
  std::string_view charge_bytes;
  int64_t end_ns = 0;
  int64_t duration_ns = 0;
};

// Its views are good as long as the bytes are. Nothing for bytes that make no sense.
std::optional<Hold> read_hold(std::string_view value, int64_t end_ns) {
  storage::Reader reader(value);
  const auto charge = read_charge(reader);
  if (!charge) return std::nullopt;
  Hold hold{.charge = *charge,
            .charge_bytes = value.substr(0, value.size() - reader.rest().size()),
            .end_ns = end_ns,
            .duration_ns = end_ns - charge->at_ns};
  if (reader.at_end()) return hold;
  const uint64_t duration_ns = reader.varint();
  if (!reader.ok() || !reader.at_end() || duration_ns - 1 >= kHoldNsMax) return std::nullopt;
  hold.duration_ns = static_cast<int64_t>(duration_ns);
  return hold;
}

// Answers the hold of this id, also one that has ended. Its views are good until the list changes.
std::optional<Hold> find_hold(const std::optional<storage::Elements>& holds,
                              const IdMember& member) {
  const auto found = holds ? holds->find(view(member)) : std::nullopt;
  if (!found) return std::nullopt;
  return read_hold(found->value, storage::integer_of_order(found->order));
}

Settled denied(const algorithms::Verdict& verdict, size_t index) {
  Answer answer{.verdict = verdict};
  answer.index = static_cast<int64_t>(index);
  return {.answer = answer};
}

}  // namespace

bool is_hold(std::string_view value) { return read_hold(value, 0).has_value(); }

Result<void, std::string> check_room_for_hold(Call& call, Limiter& limiter,
                                              const LimiterRequest& request) {
  if (!request.hold_ns || !limiter.has_holds()) return {};
  if (limiter.holds_not_ended() < static_cast<int64_t>(kHoldsMax)) return {};
  call.work().charge_entries(1);
  return "ERR the key has " + std::to_string(kHoldsMax) +
         " holds that have not ended yet, the most there may be";
}

void add_hold(Call& call, Limiter& limiter, int64_t id, int64_t duration_ns,
              std::span<const MadeCharge> charges) {
  auto holds = limiter.holds();
  if (!holds) return;  // reading failed; the reply will be discarded
  forget_ended(call, *holds);
  std::string value;
  append_charge(call, limiter, charges, &value);
  holds->put(view(member_of_id(id)), storage::order_of_integer(call.now_ns + duration_ns), value);
}

bool end_lease(const Call& call, Limiter& limiter, int64_t id) {
  bool was_leased = false;
  for (HeldLimit& held : limiter.all()) {
    if (!held.limit.algorithm->makes_leases) continue;
    was_leased |= algorithms::release_lease(held.state, *limiter.entries_of(held),
                                            {.id = id, .now_ns = call.now_ns}) > 0;
  }
  return was_leased;
}

bool drop_hold(Limiter& limiter, int64_t id) {
  auto holds = limiter.has_holds() ? limiter.holds() : std::nullopt;
  return holds && holds->erase(view(member_of_id(id)));
}

int64_t renew_hold(const Call& call, Limiter& limiter, int64_t id) {
  auto holds = limiter.has_holds() ? limiter.holds() : std::nullopt;
  const IdMember member = member_of_id(id);
  const auto hold = find_hold(holds, member);
  if (!hold || hold->end_ns <= call.now_ns) return 0;
  int64_t most = 0;
  for (const Charge::Part& part : hold->charge.all()) most = std::max(most, part.permits);
  std::string value(hold->charge_bytes);
  storage::put_varint(&value, static_cast<uint64_t>(hold->duration_ns));
  holds->put(view(member), storage::order_of_integer(call.now_ns + hold->duration_ns), value);
  return most;
}

Result<Settled, std::string> settle_hold(Call& call, Limiter& limiter, int64_t id,
                                         const std::vector<int64_t>& used) {
  const Settled none{.found = false, .answer = {}};
  auto holds = limiter.has_holds() ? limiter.holds() : std::nullopt;
  if (!holds) return none;
  const IdMember member = member_of_id(id);
  const auto hold = find_hold(holds, member);
  if (!hold || hold->end_ns + kLateSettleNs <= call.now_ns) return none;
  const bool late = hold->end_ns <= call.now_ns;
  const Charge* const charge = &hold->charge;
  if (used.size() > 1 && used.size() != charge->size) {
    return "ERR cost must be one number, or one for each of the " + std::to_string(charge->size) +
           " limits that are held, got " + std::to_string(used.size());
  }
  std::vector<SettledPart> parts = settlements_of(call, limiter, *charge);
  for (size_t i = 0; i < parts.size(); ++i) {
    auto& [part, settlement] = parts[i];
    const int64_t permits = used.size() == 1 ? used[0] : used[part];
    settlement.set_used(late ? std::max(permits, settlement.charged()) : permits);
    if (charge->change == 0) settlement.bound(0);  // what was in use since is not known
    const algorithms::Verdict verdict = settlement.peek();
    if (!verdict.allowed) return denied(verdict, i);
  }
  Settled settled;
  settled.late = late;
  for (auto& [part, settlement] : parts) {
    settled.given_back = std::max(settled.given_back, settlement.run());
  }
  settled.lease_ended = end_lease(call, limiter, id);
  holds->erase(view(member));
  settled.answer = look(call, limiter, limiter.all());
  limiter.save();
  if (call.keys.failure().ok()) {
    call.host.notify(EventClass::kLimiter, "settled", call.database, limiter.key());
  }
  return settled;
}

}  // namespace weir::server
