#include "server/limiter/bookings.h"

#include <algorithm>
#include <compare>
#include <map>
#include <string>

#include "algorithms/concurrency.h"
#include "algorithms/limit_text.h"
#include "server/limiter/limiters.h"
#include "server/limiter/record.h"
#include "storage/codec.h"
#include "storage/elements.h"

namespace weir::server {
namespace {

using algorithms::Result;

constexpr int kForgottenMax = 64;     // due bookings removed with each new one
constexpr uint64_t kWithInstant = 0;  // in the place of n, which is never 0

struct Part {
  int64_t cost = 0;
  std::string limit;
};

struct Booking {
  int64_t booked_ns = 0;
  std::vector<Part> parts;  // none: the bytes make no sense
};

Booking booking_of(std::string_view value) {
  storage::Reader reader(value);
  Booking booking;
  uint64_t parts = reader.varint();
  if (parts == kWithInstant) {
    booking.booked_ns = static_cast<int64_t>(reader.varint());
    parts = reader.varint();
  }
  booking.parts.resize(std::min<uint64_t>(parts, algorithms::kLimitsMax));
  for (Part& part : booking.parts) {
    part.cost = static_cast<int64_t>(reader.varint());
    part.limit = reader.bytes(reader.varint());
  }
  if (!reader.ok()) booking.parts.clear();
  return booking;
}

// Which of two bookings of a key was made first. Bookings of older versions have no instant, but
// ids that rise.
struct Age {
  int64_t booked_ns;
  int64_t id;

  auto operator<=>(const Age&) const = default;
};

void forget_due(storage::Elements* bookings, int64_t now_ns) {
  for (int i = 0; i < kForgottenMax && !bookings->empty(); ++i) {
    const storage::Element first = bookings->at(0);
    if (storage::integer_of_order(first.order) > now_ns) return;
    bookings->erase(first.member);
  }
}

// Stores a booking and answers its id. An error: there is no room.
Result<int64_t, std::string> store_booking(Call& call, Limiter& limiter,
                                           const LimiterRequest& request, int64_t wait_ns) {
  const int64_t id = limiter.draw_id();
  storage::Elements* bookings = limiter.bookings();
  if (bookings == nullptr) return id;  // reading failed; the reply will be discarded
  forget_due(bookings, call.now_ns);
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
  bookings->put(view(member_of_id(id)), storage::order_of_integer(call.now_ns + wait_ns), value);
  return id;
}

HeldLimit* find_limit(Limiter& limiter, const std::string& text) {
  for (HeldLimit& held : limiter.all()) {
    if (algorithms::format_limit(held.limit) == text) return &held;
  }
  const std::string_view name = std::string_view(text).substr(0, text.find(' '));
  for (HeldLimit& held : limiter.all()) {
    if (held.limit.algorithm->name == name) return &held;  // its parameters have changed since
  }
  return nullptr;
}

// For each limit: what was booked after the booking and is not due either.
using Behind = std::map<const HeldLimit*, int64_t>;

Behind booked_behind(const storage::Elements& bookings, Limiter& limiter, const Age& age,
                     int64_t now_ns) {
  Behind sums;
  std::map<std::string, const HeldLimit*> known;
  bookings.walk(bookings.lower_bound(storage::order_of_integer(now_ns + 1)),
                [&](const storage::Element& element) {
                  const Booking other = booking_of(element.value);
                  if (Age{other.booked_ns, id_of_member(element.member)} <= age) return true;
                  for (const Part& part : other.parts) {
                    const auto [place, is_new] = known.try_emplace(part.limit);
                    if (is_new) place->second = find_limit(limiter, part.limit);
                    sums[place->second] += part.cost;
                  }
                  return true;
                });
  return sums;
}

}  // namespace

Result<Booked, std::string> book(Call& call, Limiter& limiter, const LimiterRequest& request) {
  const auto limits = limiter.named();
  for (size_t i = 0; i < limits.size(); ++i) {
    if (algorithms::can_reserve(limits[i].limit)) continue;
    return "ERR limit " + std::to_string(i) + " (" + std::string(limits[i].limit.algorithm->name) +
           ") takes no bookings: GCRA, TOKENBUCKET with REFILL GREEDY, LEAKY, BURSTY and WARMUP do";
  }
  const int64_t max_wait_ns =
      request.max_wait_ms ? *request.max_wait_ms * algorithms::kNsPerMs : algorithms::kNever;
  std::vector<algorithms::State> states(limits.size());
  Booked booked{.granted = true};
  bool changed = false;
  for (size_t i = 0; i < limits.size(); ++i) {
    states[i] = limits[i].state;
    const auto booking = algorithms::reserve(
        limits[i].limit, states[i],
        {.now_ns = call.now_ns, .cost = request.cost(i), .max_wait_ns = max_wait_ns});
    booked.granted &= booking.granted;
    booked.wait_ns = std::max(booked.wait_ns, booking.wait_ns);
    changed |= booking.changed;
  }
  if (!booked.granted) {
    record_denied(call, limiter);
    return booked;
  }
  if (booked.wait_ns > 0) {
    const auto id = store_booking(call, limiter, request, booked.wait_ns);
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
  const auto id = store_booking(call, limiter, request, wait_ns);
  if (id) limiter.save();
  return id;
}

int64_t cancel(Call& call, Limiter& limiter, int64_t id) {
  if (!limiter.has_bookings()) return 0;
  storage::Elements* bookings = limiter.bookings();
  if (bookings == nullptr) return 0;
  const IdMember member = member_of_id(id);
  const auto found = bookings->find(view(member));
  if (!found || storage::integer_of_order(found->order) <= call.now_ns) return 0;
  const Booking booking = booking_of(found->value);
  Behind behind = booked_behind(*bookings, limiter, {booking.booked_ns, id}, call.now_ns);
  int64_t most = 0;
  for (const Part& part : booking.parts) {
    HeldLimit* held = find_limit(limiter, part.limit);
    if (held == nullptr || held->limit.algorithm->makes_leases) continue;
    const int64_t owed = algorithms::can_reserve(held->limit) ? behind[held] : 0;
    const int64_t permits = std::max<int64_t>(part.cost - owed, 0);
    most = std::max(most, permits);
    algorithms::refund(
        held->limit, held->state,
        {.now_ns = call.now_ns, .permits = permits, .entries = limiter.entries_of(*held)});
  }
  bookings->erase(view(member));
  limiter.save();
  return most;
}

}  // namespace weir::server
