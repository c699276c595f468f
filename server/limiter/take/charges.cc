#include "server/limiter/take/charges.h"

#include <algorithm>

#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "server/limiter/take/limiters.h"

namespace weir::server {
namespace {

constexpr uint64_t kWithChange = 0;  // in the place of n, which is never 0

// Finds the limits of a charge among the limiter's, each once: first those that are the same still,
// then those that are written otherwise and limit alike, then those of the algorithm, whose
// parameters have changed since, where the kept state names the window of the charge. Null: it is
// gone, or it cannot be told from one that never had the charge.
std::vector<HeldLimit*> limits_of(Limiter& limiter, const Charge& charge) {
  const std::span<HeldLimit> all = limiter.all();
  std::vector<std::string> texts;
  for (const HeldLimit& held : all) texts.push_back(algorithms::format_limit(held.limit));
  std::vector<HeldLimit*> found(charge.size);
  std::vector<bool> taken(all.size());
  const auto find = [&](size_t part, auto fits) {
    for (size_t i = 0; i < all.size() && found[part] == nullptr; ++i) {
      if (taken[i] || !fits(i)) continue;
      taken[i] = true;
      found[part] = &all[i];
    }
  };
  const auto parts = charge.all();
  for (size_t part = 0; part < parts.size(); ++part) {
    find(part, [&](size_t i) { return texts[i] == parts[part].limit; });
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    if (found[part] != nullptr || parts[part].limit.empty()) continue;
    const auto written = algorithms::parse_limits(split_at_spaces(parts[part].limit));
    if (!written || written->limits.size() != 1) continue;
    find(part, [&](size_t i) { return algorithms::same_limit(all[i].limit, written->limits[0]); });
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    const std::string_view name = parts[part].limit.substr(0, parts[part].limit.find(' '));
    find(part, [&](size_t i) {
      return all[i].limit.algorithm->settle != nullptr && all[i].limit.algorithm->name == name;
    });
  }
  return found;
}

// A state that was charged under other parameters tells only in which window that was.
std::optional<algorithms::State> kept_of(const Charge::Part& part, const algorithms::Limit& limit) {
  if (limit.algorithm->settle == nullptr && algorithms::format_limit(limit) != part.limit) {
    return std::nullopt;
  }
  algorithms::Reader reader(part.kept);
  algorithms::State kept;
  if (!limit.algorithm->read_state(limit, reader, kept) || reader.left() != 0) return std::nullopt;
  return kept;
}

void put_sized(std::string_view bytes, std::string* out) {
  storage::put_varint(out, bytes.size());
  out->append(bytes);
}

}  // namespace

void append_charge(const Call& call, Limiter& limiter, std::span<const MadeCharge> made,
                   std::string* out) {
  const auto limits = limiter.named();
  storage::put_varint(out, static_cast<uint64_t>(std::max<int64_t>(0, call.now_ns)));
  storage::put_varint(out, kWithChange);
  storage::put_varint(out, limiter.changes() + 1);
  storage::put_varint(out, limits.size());
  for (size_t i = 0; i < limits.size(); ++i) {
    const algorithms::Limit& limit = limits[i].limit;
    const std::string text = made[i].charged ? algorithms::format_limit(limit) : std::string();
    char kept[algorithms::kStateBytesMax];
    algorithms::Writer writer(kept, sizeof kept);
    limit.algorithm->write_state(limit, made[i].kept, writer);
    storage::put_varint(out, static_cast<uint64_t>(made[i].permits));
    put_sized(text, out);
    put_sized({kept, writer.size()}, out);
  }
}

std::optional<Charge> read_charge(storage::Reader& reader) {
  Charge charge{.at_ns = static_cast<int64_t>(reader.varint())};
  charge.size = reader.varint();
  if (charge.size == kWithChange) {
    charge.change = reader.varint();
    charge.size = reader.varint();
  }
  if (!reader.ok() || charge.size < 1 || charge.size > charge.parts.size() || charge.at_ns < 0) {
    return std::nullopt;
  }
  for (Charge::Part& part : std::span(charge.parts).first(charge.size)) {
    part.permits = static_cast<int64_t>(reader.varint());
    part.limit = reader.sized_bytes();
    part.kept = reader.sized_bytes();
    if (!reader.ok() || part.permits < 0 || part.permits > algorithms::kCostMax) {
      return std::nullopt;
    }
  }
  return charge;
}

void Settlement::bound(int64_t permits) {
  settle_.low_water = std::min(settle_.low_water, permits);
}

algorithms::Verdict Settlement::settle(bool peek) {
  settle_.kept = kept_ ? &*kept_ : nullptr;
  settle_.peek = peek;
  return algorithms::settle(held_->limit, held_->state, settle_);
}

algorithms::Verdict Settlement::peek() { return settle(true); }

int64_t Settlement::taken() const {
  if (held_->limit.algorithm->used != nullptr)
    return algorithms::used(held_->limit, held_->state, settle_.now_ns);
  const algorithms::Request nothing{
      .now_ns = settle_.now_ns, .cost = 0, .entries = settle_.entries, .wall = settle_.wall};
  return held_->limit.capacity - algorithms::peek(held_->limit, held_->state, nothing).remaining +
         algorithms::owed(held_->limit, held_->state, nothing);
}

int64_t Settlement::run() {
  const int64_t before = taken();
  settle(false);
  const int64_t came_back = std::max<int64_t>(0, before - taken());
  if (came_back > 0) held_->low_water.give_back(change_, came_back);
  return came_back;
}

std::vector<SettledPart> settlements_of(const Call& call, Limiter& limiter, const Charge& charge) {
  const std::vector<HeldLimit*> limits = limits_of(limiter, charge);
  std::vector<SettledPart> settled;
  for (size_t i = 0; i < limits.size(); ++i) {
    if (limits[i] == nullptr || limits[i]->limit.algorithm->makes_leases) continue;
    HeldLimit& held = *limits[i];
    const auto kept = kept_of(charge.parts[i], held.limit);
    const bool is_known = charge.change <= limiter.changes();  // else it is forged
    algorithms::Settle settle{.now_ns = call.now_ns,
                              .charged_at_ns = charge.at_ns,
                              .charged = charge.parts[i].permits,
                              .kept = kept ? &*kept : nullptr,
                              .used = charge.parts[i].permits,
                              .low_water = is_known ? held.low_water.since(charge.change) : 0,
                              .entries = limiter.entries_of(held),
                              .wall = &call.wall()};
    settle.untouched = charge.change != 0
                           ? charge.change == limiter.changes()
                           : algorithms::is_as_charged(held.limit, held.state, settle);
    settled.push_back({i, Settlement(&held, settle, kept, charge.change)});
  }
  return settled;
}

}  // namespace weir::server
