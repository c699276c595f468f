#include "server/limiter/later/bookings.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "algorithms/limit_text.h"
#include "algorithms/take_all.h"
#include "algorithms/wide.h"
#include "server/limiter/take/limiters.h"
#include "server/limiter/take/record.h"
#include "server/limiter/take/remembered.h"
#include "storage/format/codec.h"
#include "storage/memtable/elements.h"

namespace weir::server {
namespace {

constexpr int kDueForgottenMax = 64;  // due bookings removed with each new one
constexpr size_t kBookingUnits = 2;   // of work: one is found, read and put in order
constexpr uint64_t kWithInstant = 0;  // in the place of n, which is never 0
constexpr uint64_t kWithCharge = 0;   // likewise, after the instant

uint64_t read_count = 0;

// A booking's value. Only its instant is read at first. REQUIRES: the bytes outlive it.
class Booking {
 public:
  explicit Booking(std::string_view value) : reader_(value) {
    ++read_count;
    parts_ = reader_.varint();
    if (parts_ != kWithInstant) return;
    booked_ns_ = static_cast<int64_t>(reader_.varint());
    parts_ = reader_.varint();
  }

  int64_t booked_ns() const { return booked_ns_; }
  // What follows the charge. REQUIRES: that was read.
  std::string_view token() const { return reader_.ok() ? reader_.rest() : std::string_view(); }
  // Nothing if the bytes make no sense. REQUIRES: not called before.
  std::optional<Charge> read() {
    return parts_ == kWithCharge ? read_charge(reader_) : read_parts();
  }

 private:
  // As older versions wrote them.
  std::optional<Charge> read_parts() {
    Charge charge{.at_ns = booked_ns_, .size = parts_};
    if (charge.size < 1 || charge.size > charge.parts.size()) return std::nullopt;
    for (Charge::Part& part : std::span(charge.parts).first(charge.size)) {
      part.permits = static_cast<int64_t>(reader_.varint());
      part.limit = reader_.sized_bytes();
      if (part.permits < 0 || part.permits > algorithms::kCostMax) return std::nullopt;
    }
    return reader_.ok() ? std::optional(charge) : std::nullopt;
  }

  storage::Reader reader_;
  int64_t booked_ns_ = 0;
  uint64_t parts_ = 0;
};

void forget_due(const Call& call, storage::Elements& bookings) {
  for (int i = 0; i < kDueForgottenMax && !bookings.empty(); ++i) {
    call.work().charge_entries(1);
    const storage::Element first = bookings.at(0);
    if (storage::integer_of_order(first.order) > call.now_ns) return;
    bookings.erase(first.member);
  }
}

// Stores a booking under an id that was drawn. An error: there is no room.
Result<void, std::string> store_booking(Call& call, Limiter& limiter, int64_t id,
                                        std::span<const MadeCharge> made, int64_t wait_ns,
                                        std::string_view token = {}) {
  auto bookings = limiter.bookings();
  if (!bookings) return {};  // reading failed; the reply will be discarded
  forget_due(call, *bookings);
  const size_t due = bookings->lower_bound(storage::order_of_integer(call.now_ns + 1));
  if (bookings->size() - due >= kBookingsMax) {
    return "ERR the key has " + std::to_string(kBookingsMax) +
           " bookings that are not due yet, the most there may be";
  }
  std::string value;
  const int64_t booked_ns = call.limiters.ids.unique_ns(call.now_ns);
  storage::put_varint(&value, kWithInstant);
  storage::put_varint(&value, static_cast<uint64_t>(booked_ns));
  storage::put_varint(&value, kWithCharge);
  append_charge(call, limiter, made, &value);
  value += token;
  const int64_t due_ns = call.now_ns + wait_ns;
  bookings->put(view(member_of_id(id)), storage::order_of_integer(due_ns), value);
  call.limiters.ages.add(
      bookings->id(),
      {.age = {.booked_ns = booked_ns, .id = id}, .due_ns = due_ns, .turn = call.keys.turn()});
  return {};
}

// Nothing: there is no such booking, or it is due.
std::optional<storage::Element> find_booking(Limiter& limiter, int64_t id, int64_t now_ns) {
  const auto bookings = limiter.has_bookings() ? limiter.bookings() : std::nullopt;
  if (!bookings) return std::nullopt;
  auto found = bookings->find(view(member_of_id(id)));
  if (found && storage::integer_of_order(found->order) <= now_ns) return std::nullopt;
  return found;
}

// Finds the limits that bookings name by their texts. The texts of many bookings are the same few.
class LimitsByText {
 public:
  explicit LimitsByText(Limiter& limiter) : limits_(limiter.all()) {
    for (const HeldLimit& held : limits_) texts_.push_back(algorithms::format_limit(held.limit));
  }

  // Null: the limiter holds no such limit any more.
  HeldLimit* find(std::string_view text) const {
    for (size_t i = 0; i < limits_.size(); ++i) {
      if (texts_[i] == text) return &limits_[i];
    }
    const std::string_view name = text.substr(0, text.find(' '));
    for (HeldLimit& held : limits_) {
      if (held.limit.algorithm->name == name) return &held;  // its parameters have changed since
    }
    return nullptr;
  }

 private:
  std::span<HeldLimit> limits_;
  std::vector<std::string> texts_;
};

// One part of the booking that is cancelled: its cost, less what was booked later.
struct Refund {
  Settlement settlement;
  int64_t owed = 0;  // booked later, and not due either

  bool can_be_owed() const { return algorithms::can_reserve(settlement.held()->limit); }
  int64_t permits() const { return std::max<int64_t>(settlement.charged() - owed, 0); }
  bool owes_all() const { return permits() == 0 || !can_be_owed(); }
};

// What of a booking without a charge was in use of its limit ever since (bookings.h).
int64_t waiting_of(const Call& call, const Charge& charge, int64_t due_ns,
                   const algorithms::Limit& limit) {
  if (charge.size > 1) return 0;
  if (!limit.algorithm->queues) return charge.parts[0].permits;
  const auto units = algorithms::int128{due_ns - call.now_ns} * limit.rate_count;
  return static_cast<int64_t>(
      std::min<algorithms::int128>(units / limit.rate_period_ns, charge.parts[0].permits));
}

std::vector<Refund> refunds_of(const Call& call, Limiter& limiter, const Charge& charge,
                               int64_t due_ns) {
  std::vector<Refund> refunds;
  for (const SettledPart& each : settlements_of(call, limiter, charge)) {
    Refund& refund = refunds.emplace_back(Refund{each.settlement});
    if (charge.change != 0) continue;
    const algorithms::Limit& limit = refund.settlement.held()->limit;
    refund.settlement.bound(waiting_of(call, charge, due_ns, limit));
  }
  return refunds;
}

bool owes_all(const std::vector<Refund>& refunds) {
  return std::ranges::all_of(refunds, [](const Refund& refund) { return refund.owes_all(); });
}

// Reads the ages of all bookings that are not due.
void learn_ages(Call& call, const storage::Elements& bookings) {
  std::vector<BookingAges::Slot> slots;
  const size_t first = bookings.lower_bound(storage::order_of_integer(call.now_ns + 1));
  slots.reserve(bookings.size() - first);
  call.work().charge_entries(kBookingUnits * (bookings.size() - first));
  bookings.walk(first, [&](const storage::Element& element) {
    slots.push_back({.age = {Booking(element.value).booked_ns(), id_of_member(element.member)},
                     .due_ns = storage::integer_of_order(element.order),
                     .turn = call.keys.turn()});
    return true;
  });
  call.limiters.ages.learn(bookings.id(), std::move(slots), call.keys.turn());
}

// Adds to `owed` what was booked later, the youngest first, until nothing is left to give back.
void add_owed(Call& call, const storage::Elements& bookings, const LimitsByText& limits,
              const Age& age, std::vector<Refund>* refunds) {
  if (owes_all(*refunds)) return;
  using Seen = BookingAges::Seen;
  const auto add = [&](const BookingAges::Slot& slot) {
    call.work().charge_probes(kBookingUnits);
    if (slot.due_ns <= call.now_ns) return Seen::kDrop;
    const auto found = bookings.find(view(member_of_id(slot.age.id)));
    if (!found) return call.keys.turn() > slot.turn ? Seen::kDrop : Seen::kKeep;
    const auto charge = Booking(found->value).read();
    if (!charge) return Seen::kKeep;
    for (const Charge::Part& part : charge->all()) {
      const HeldLimit* held = limits.find(part.limit);
      for (Refund& refund : *refunds) {
        if (refund.settlement.held() == held && refund.can_be_owed()) refund.owed += part.permits;
      }
    }
    return owes_all(*refunds) ? Seen::kStop : Seen::kKeep;
  };
  call.limiters.ages.visit_younger(bookings.id(), age, add);
}

std::vector<MadeCharge> made_charges(std::span<const HeldLimit> limits,
                                     const LimiterRequest& charged,
                                     std::span<const algorithms::State> after) {
  std::vector<MadeCharge> made;
  for (size_t i = 0; i < limits.size(); ++i) {
    made.push_back({.permits = charged.cost(i),
                    .kept = algorithms::kept_state(limits[i].limit, limits[i].state, after[i])});
  }
  return made;
}

struct TakenInShadow {
  bool charged = false;
  const algorithms::Algorithm* refused_by = nullptr;  // of the limit that decided; null: none
};

// Takes from `states`, one for each named limit, what limits in shadow have of them, all or none.
// If none, their costs in the request are 0.
TakenInShadow take_in_shadow(Call& call, Limiter& limiter, LimiterRequest* request,
                             std::span<algorithms::State> states) {
  using algorithms::Mode;
  const auto limits = limiter.named();
  std::vector<algorithms::Guard> guards;
  for (size_t i = 0; i < limits.size(); ++i) {
    if (limits[i].mode == Mode::kEnforced) continue;
    guards.push_back({.limit = &limits[i].limit,
                      .state = &states[i],
                      .entries = limiter.entries_of(limits[i]),
                      .cost = request->cost(i)});
  }
  if (guards.empty()) return {};
  const auto verdict = algorithms::take_all(guards, {.now_ns = call.now_ns, .wall = &call.wall()});
  if (verdict.allowed) return {.charged = true};
  std::vector<int64_t> costs;
  for (size_t i = 0; i < limits.size(); ++i) {
    costs.push_back(limits[i].mode == Mode::kEnforced ? request->cost(i) : 0);
  }
  request->costs = std::move(costs);
  return {.refused_by = guards[verdict.deciding].limit->algorithm};
}

}  // namespace

bool is_booking(std::string_view value) {
  Booking booking(value);
  return booking.booked_ns() >= 0 && booking.read().has_value();
}

uint64_t bookings_read() { return read_count; }

Result<Booked, std::string> book(Call& call, Limiter& limiter, const LimiterRequest& request) {
  const auto limits = limiter.named();
  for (size_t i = 0; i < limits.size(); ++i) {
    if (algorithms::can_reserve(limits[i].limit)) continue;
    return "ERR limit " + std::to_string(i) + " (" + std::string(limits[i].limit.algorithm->name) +
           ") takes no bookings: " + algorithms::bookable_names() + " do";
  }
  const int64_t max_wait_ns = request.max_wait_ns.value_or(algorithms::kNever);
  std::vector<algorithms::State> states(limits.size());
  Booked booked{.granted = true};
  bool changed = false;
  for (size_t i = 0; i < limits.size(); ++i) {
    states[i] = limits[i].state;
    if (limits[i].mode == algorithms::Mode::kShadow) continue;
    const auto booking = algorithms::reserve(
        limits[i].limit, states[i],
        {.now_ns = call.now_ns, .cost = request.cost(i), .max_wait_ns = max_wait_ns});
    const bool decides = booked.refused_by == nullptr || booking.wait_ns > booked.wait_ns;
    if (!booking.granted && decides) booked.refused_by = limits[i].limit.algorithm;
    booked.granted &= booking.granted;
    booked.wait_ns = std::max(booked.wait_ns, booking.wait_ns);
    changed |= booking.changed;
  }
  if (!booked.granted) {
    record_denied(call, limiter);
    return booked;
  }
  LimiterRequest charged = request;
  const TakenInShadow taken = take_in_shadow(call, limiter, &charged, states);
  booked.shadow_refused_by = taken.refused_by;
  changed |= taken.charged;
  booked.id = limiter.draw_id();
  if (booked.wait_ns > 0) {
    const auto stored = store_booking(call, limiter, booked.id,
                                      made_charges(limits, charged, states), booked.wait_ns);
    if (!stored) return stored.error();
  }
  for (size_t i = 0; i < limits.size(); ++i) limits[i].state = states[i];
  if (changed) limiter.save();
  return booked;
}

Result<int64_t, std::string> book_departure(Call& call, Limiter& limiter,
                                            std::span<const MadeCharge> made,
                                            std::optional<int64_t> held_as, std::string_view token,
                                            int64_t wait_ns) {
  const int64_t id = held_as ? *held_as : limiter.draw_id();
  const auto stored = store_booking(call, limiter, id, made, wait_ns, token);
  if (!stored) return stored.error();
  limiter.save();
  return id;
}

bool is_booked(Limiter& limiter, int64_t id, int64_t now_ns) {
  return find_booking(limiter, id, now_ns).has_value();
}

std::optional<int64_t> cancel(Call& call, Limiter& limiter, int64_t id) {
  const auto found = find_booking(limiter, id, call.now_ns);
  if (!found) return std::nullopt;
  auto bookings = limiter.bookings();
  const int64_t due_ns = storage::integer_of_order(found->order);
  Booking booking(found->value);
  const Age age{.booked_ns = booking.booked_ns(), .id = id};
  const auto charge = booking.read();
  std::vector<Refund> refunds;
  if (charge) refunds = refunds_of(call, limiter, *charge, due_ns);
  const std::string token(booking.token());
  if (!call.limiters.ages.knows(bookings->id())) learn_ages(call, *bookings);
  add_owed(call, *bookings, LimitsByText(limiter), age, &refunds);
  int64_t most = 0;
  for (Refund& refund : refunds) {
    refund.settlement.set_used(refund.settlement.charged() - refund.permits());
    most = std::max(most, refund.settlement.run());
  }
  call.limiters.ages.erase(bookings->id(), age, call.keys.turn());
  bookings->erase(view(member_of_id(id)));
  limiter.save();
  forget_token(call, limiter.key(), token);
  return most;
}

}  // namespace weir::server
