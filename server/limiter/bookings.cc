#include "server/limiter/bookings.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "algorithms/concurrency.h"
#include "algorithms/limit_text.h"
#include "server/limiter/limiters.h"
#include "server/limiter/policy_effect.h"
#include "server/limiter/record.h"
#include "server/limiter/remembered.h"
#include "storage/codec.h"
#include "storage/elements.h"

namespace weir::server {
namespace {

constexpr int kForgottenMax = 64;     // due bookings removed with each new one
constexpr size_t kBookingUnits = 2;   // of work: one is found, read and put in order
constexpr uint64_t kWithInstant = 0;  // in the place of n, which is never 0

uint64_t read_count = 0;

struct Part {
  int64_t cost = 0;
  std::string_view limit;
};

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
  // What follows the parts. REQUIRES: they were read.
  std::string_view token() const { return reader_.ok() ? reader_.rest() : std::string_view(); }
  // Calls `use` with each part, or never if the bytes make no sense. REQUIRES: not called before.
  template <typename Use>
  void read_parts(Use use) {
    Part parts[algorithms::kLimitsMax];
    const size_t count = std::min<uint64_t>(parts_, algorithms::kLimitsMax);
    for (Part& part : std::span(parts).first(count)) {
      part.cost = static_cast<int64_t>(reader_.varint());
      part.limit = reader_.bytes(reader_.varint());
    }
    if (!reader_.ok()) return;
    for (const Part& part : std::span(parts).first(count)) use(part);
  }

 private:
  storage::Reader reader_;
  int64_t booked_ns_ = 0;
  uint64_t parts_ = 0;
};

void forget_due(const Call& call, storage::Elements* bookings) {
  for (int i = 0; i < kForgottenMax && !bookings->empty(); ++i) {
    call.work().charge_entries(1);
    const storage::Element first = bookings->at(0);
    if (storage::integer_of_order(first.order) > call.now_ns) return;
    bookings->erase(first.member);
  }
}

// Stores a booking and answers its id. An error: there is no room.
Result<int64_t, std::string> store_booking(Call& call, Limiter& limiter,
                                           const LimiterRequest& request, int64_t wait_ns,
                                           std::string_view token = {}) {
  const int64_t id = limiter.draw_id();
  storage::Elements* bookings = limiter.bookings();
  if (bookings == nullptr) return id;  // reading failed; the reply will be discarded
  forget_due(call, bookings);
  const size_t due = bookings->lower_bound(storage::order_of_integer(call.now_ns + 1));
  if (bookings->size() - due >= kBookingsMax) {
    return "ERR the key has " + std::to_string(kBookingsMax) +
           " bookings that are not due yet, the most there may be";
  }
  const auto limits = limiter.named();
  std::string value;
  const int64_t booked_ns = call.limiters.ids.stamp(call.now_ns);
  storage::put_varint(&value, kWithInstant);
  storage::put_varint(&value, static_cast<uint64_t>(booked_ns));
  storage::put_varint(&value, limits.size());
  for (size_t i = 0; i < limits.size(); ++i) {
    const std::string text = algorithms::format_limit(limits[i].limit);
    storage::put_varint(&value, static_cast<uint64_t>(request.cost(i)));
    storage::put_varint(&value, text.size());
    value += text;
  }
  value += token;
  const int64_t due_ns = call.now_ns + wait_ns;
  bookings->put(view(member_of_id(id)), storage::order_of_integer(due_ns), value);
  call.limiters.ages.add(
      bookings->id(),
      {.age = {.booked_ns = booked_ns, .id = id}, .due_ns = due_ns, .turn = call.keys.turn()});
  return id;
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
  HeldLimit* held = nullptr;
  int64_t cost = 0;
  int64_t owed = 0;  // booked later, and not due either

  int64_t permits() const { return std::max<int64_t>(cost - owed, 0); }
};

std::vector<Refund> refunds_of(Booking* booking, const LimitsByText& limits) {
  std::vector<Refund> refunds;
  booking->read_parts([&](const Part& part) {
    HeldLimit* held = limits.find(part.limit);
    if (held == nullptr || held->limit.algorithm->makes_leases) return;
    refunds.push_back({.held = held, .cost = part.cost});
  });
  return refunds;
}

bool owes_all(const std::vector<Refund>& refunds) {
  return std::none_of(refunds.begin(), refunds.end(), [](const Refund& refund) {
    return refund.permits() > 0 && algorithms::can_reserve(refund.held->limit);
  });
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
    Booking(found->value).read_parts([&](const Part& part) {
      const HeldLimit* held = limits.find(part.limit);
      for (Refund& refund : *refunds) {
        if (refund.held == held && algorithms::can_reserve(held->limit)) refund.owed += part.cost;
      }
    });
    return owes_all(*refunds) ? Seen::kStop : Seen::kKeep;
  };
  call.limiters.ages.visit_younger(bookings.id(), age, add);
}

}  // namespace

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
    if (is_watched(limiter.names(), i)) continue;
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
  booked.shadow_refused_by = take_watched(call, limiter, &charged, states);
  if (limiter.names().shadow || limiter.names().shadow_all)
    changed |= booked.shadow_refused_by == nullptr;
  if (booked.wait_ns > 0) {
    const auto id = store_booking(call, limiter, charged, booked.wait_ns);
    if (!id) return id.error();
    booked.id = *id;
  } else {
    booked.id = limiter.draw_id();
  }
  for (size_t i = 0; i < limits.size(); ++i) limits[i].state = states[i];
  if (changed) limiter.save();
  return booked;
}

Result<int64_t, std::string> book_departure(Call& call, Limiter& limiter,
                                            const LimiterRequest& request, int64_t wait_ns) {
  const auto id = store_booking(call, limiter, request, wait_ns, request.id);
  if (id) limiter.save();
  return id;
}

std::optional<int64_t> cancel(Call& call, Limiter& limiter, int64_t id) {
  if (!limiter.has_bookings()) return std::nullopt;
  storage::Elements* bookings = limiter.bookings();
  if (bookings == nullptr) return std::nullopt;
  const IdMember member = member_of_id(id);
  const auto found = bookings->find(view(member));
  if (!found || storage::integer_of_order(found->order) <= call.now_ns) return std::nullopt;
  const LimitsByText limits(limiter);
  Booking booking(found->value);
  const Age age{.booked_ns = booking.booked_ns(), .id = id};
  std::vector<Refund> refunds = refunds_of(&booking, limits);
  const std::string token(booking.token());
  if (!call.limiters.ages.knows(bookings->id())) learn_ages(call, *bookings);
  add_owed(call, *bookings, limits, age, &refunds);
  int64_t most = 0;
  for (const Refund& refund : refunds) {
    const int64_t permits = refund.permits();
    most = std::max(most, permits);
    HeldLimit& held = *refund.held;
    algorithms::refund(held.limit, held.state,
                       {.now_ns = call.now_ns,
                        .permits = permits,
                        .entries = limiter.entries_of(held),
                        .wall = &call.wall()});
  }
  call.limiters.ages.erase(bookings->id(), age, call.keys.turn());
  bookings->erase(view(member));
  limiter.save();
  forget_token(call, limiter.key(), token);
  return most;
}

}  // namespace weir::server
