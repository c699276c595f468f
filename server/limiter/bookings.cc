#include "server/limiter/bookings.h"

#include <algorithm>
#include <map>
#include <string>

#include "algorithms/concurrency.h"
#include "algorithms/limit_text.h"
#include "server/server.h"
#include "storage/codec.h"
#include "storage/elements.h"

namespace weir::server {
namespace {

constexpr int kForgottenMax = 64;  // due bookings removed with each new one

std::string member_of(int64_t id) {
  std::string member;
  storage::put_u64_be(&member, static_cast<uint64_t>(id));
  return member;
}

int64_t id_of(const storage::Element& element) {
  return static_cast<int64_t>(storage::load_u64_be(element.member.data()));
}

struct Part {
  int64_t cost = 0;
  std::string limit;
};

std::vector<Part> parts_of(std::string_view value) {
  storage::Reader reader(value);
  std::vector<Part> parts(std::min<uint64_t>(reader.varint(), algorithms::kLimitsMax));
  for (Part& part : parts) {
    part.cost = static_cast<int64_t>(reader.varint());
    part.limit = reader.bytes(reader.varint());
  }
  return reader.ok() ? parts : std::vector<Part>();
}

void forget_due(storage::Elements* bookings, int64_t now_ns) {
  for (int i = 0; i < kForgottenMax && !bookings->empty(); ++i) {
    const storage::Element first = bookings->at(0);
    if (storage::integer_of_order(first.order) > now_ns) return;
    bookings->erase(first.member);
  }
}

// Nothing: there is no room, and an error has been replied.
std::optional<int64_t> store_booking(Call& call, Limiter& limiter, const LimiterRequest& request,
                                     int64_t wait_ns) {
  const int64_t id = call.server.unique_ids().next();
  storage::Elements* bookings = limiter.bookings();
  if (bookings == nullptr) return id;  // a failed read; the reply is thrown away
  forget_due(bookings, call.now_ns);
  const size_t due = bookings->lower_bound(storage::order_of_integer(call.now_ns + 1));
  if (bookings->size() - due >= kBookingsMax) {
    call.reply.error("ERR the key has " + std::to_string(kBookingsMax) +
                     " bookings that are not due yet, the most there may be");
    return std::nullopt;
  }
  const auto limits = limiter.named();
  std::string value;
  storage::put_varint(&value, limits.size());
  for (size_t i = 0; i < limits.size(); ++i) {
    const std::string text = algorithms::format_limit(limits[i].limit);
    storage::put_varint(&value, static_cast<uint64_t>(request.cost(i)));
    storage::put_varint(&value, text.size());
    value += text;
  }
  bookings->put(member_of(id), storage::order_of_integer(call.now_ns + wait_ns), value);
  return id;
}

HeldLimit* find_limit(Limiter& limiter, const std::string& text) {
  for (HeldLimit& held : limiter.all()) {
    if (algorithms::format_limit(held.limit) == text) return &held;
  }
  const std::string_view name = std::string_view(text).substr(0, text.find(' '));
  for (HeldLimit& held : limiter.all()) {
    if (held.limit.algorithm->name == name) return &held;  // other parameters since
  }
  return nullptr;
}

// Of each limit: what was booked after the booking and is not due either.
using Behind = std::map<const HeldLimit*, int64_t>;

Behind booked_behind(const storage::Elements& bookings, Limiter& limiter, int64_t id,
                     int64_t now_ns) {
  Behind sums;
  std::map<std::string, const HeldLimit*> known;
  bookings.walk(bookings.lower_bound(storage::order_of_integer(now_ns + 1)),
                [&](const storage::Element& element) {
                  if (id_of(element) <= id) return true;
                  for (const Part& part : parts_of(element.value)) {
                    const auto [place, is_new] = known.try_emplace(part.limit);
                    if (is_new) place->second = find_limit(limiter, part.limit);
                    sums[place->second] += part.cost;
                  }
                  return true;
                });
  return sums;
}

}  // namespace

std::optional<Booked> book(Call& call, Limiter& limiter, const LimiterRequest& request,
                           int64_t max_wait_ns) {
  const auto limits = limiter.named();
  for (size_t i = 0; i < limits.size(); ++i) {
    if (algorithms::can_reserve(limits[i].limit)) continue;
    call.reply.error("ERR limit " + std::to_string(i) + " (" +
                     std::string(limits[i].limit.algorithm->name) +
                     ") takes no bookings: GCRA, TOKENBUCKET with REFILL GREEDY, LEAKY, BURSTY and "
                     "WARMUP do");
    return std::nullopt;
  }
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
    save_denied(call, limiter);
    return booked;
  }
  if (booked.wait_ns > 0) {
    const auto id = store_booking(call, limiter, request, booked.wait_ns);
    if (!id) return std::nullopt;
    booked.id = *id;
  } else {
    booked.id = call.server.unique_ids().next();
  }
  for (size_t i = 0; i < limits.size(); ++i) limits[i].state = states[i];
  if (changed) limiter.save();
  return booked;
}

std::optional<int64_t> book_departure(Call& call, Limiter& limiter, const LimiterRequest& request,
                                      int64_t wait_ns) {
  const auto id = store_booking(call, limiter, request, wait_ns);
  if (id) limiter.save();
  return id;
}

int64_t cancel(Call& call, Limiter& limiter, int64_t id) {
  if (!limiter.has_bookings()) return 0;
  storage::Elements* bookings = limiter.bookings();
  if (bookings == nullptr) return 0;
  const auto found = bookings->find(member_of(id));
  if (!found || storage::integer_of_order(found->order) <= call.now_ns) return 0;
  const std::vector<Part> parts = parts_of(found->value);
  Behind behind = booked_behind(*bookings, limiter, id, call.now_ns);
  int64_t most = 0;
  for (const Part& part : parts) {
    HeldLimit* held = find_limit(limiter, part.limit);
    if (held == nullptr || held->limit.algorithm->makes_leases) continue;
    const int64_t owed = algorithms::can_reserve(held->limit) ? behind[held] : 0;
    const int64_t permits = std::max<int64_t>(part.cost - owed, 0);
    most = std::max(most, permits);
    algorithms::refund(
        held->limit, held->state,
        {.now_ns = call.now_ns, .permits = permits, .entries = limiter.entries_of(*held)});
  }
  bookings->erase(member_of(id));
  limiter.save();
  return most;
}

}  // namespace weir::server
