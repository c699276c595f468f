#include "server/limiter/take/limiter.h"

#include <algorithm>
#include <string>

#include "algorithms/gcra.h"
#include "base/check.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/limiter/take/limit_matching.h"
#include "server/limiter/take/limiters.h"
#include "storage/memtable/elements.h"

namespace weir::server {
namespace {

using algorithms::LimitState;

constexpr size_t kForeignTatDigits = 19;

int64_t after_now(const storage::Elements& list, int64_t now_ns) {
  return static_cast<int64_t>(list.size() -
                              list.lower_bound(storage::order_of_integer(now_ns + 1)));
}

}  // namespace

Result<Limiter, ErrorReplied> Limiter::read(Call& call, std::string_view key) {
  auto found = find(call, key);
  if (!found) return reply_error(call, found.error());
  return std::move(*found);
}

Result<Limiter, std::string> Limiter::find(Call& call, std::string_view key) {
  Limiter limiter(&call, key);
  const storage::Ref ref = call.look_up(key);
  limiter.hash_ = ref.key_order();
  limiter.exists_ = ref.exists();
  if (!ref.exists()) return limiter;
  if (storage::is_limiter(ref.type())) {
    if (auto decoded = limiter.decode(ref); !decoded) return decoded.error();
    return limiter;
  }
  if (ref.type() == storage::Type::kString && limiter.adopt(ref.value())) return limiter;
  return std::string(kWrongType);
}

Result<void, std::string> Limiter::decode(const storage::Ref& ref) {
  storage::HeaderView header;
  header.rest = ref.value();
  if (storage::owns_elements(ref.type()) && !storage::parse_header(ref.value(), &header)) {
    return std::string("ERR the limiter's record cannot be read: its lists make no sense");
  }
  std::vector<LimitState> stored(algorithms::limits_in_record(header.rest));
  const auto head = algorithms::read_record(header.rest, stored, &call_->limiters.zones.stored());
  if (!head) {
    return "ERR the limiter's record cannot be read: " +
           std::string(algorithms::describe(head.error()));
  }
  size_t lists = 0;
  const auto next_list = [&] { return lists < header.lists ? header.ids[lists++] : 0; };
  if (head->bookings) bookings_ = next_list();
  if (head->holds) holds_ = next_list();
  held_.reserve(head->limits);
  for (size_t i = 0; i < head->limits; ++i) {
    const bool has_list = stored[i].limit.algorithm->uses_entries;
    held_.push_back({.limit = stored[i].limit,
                     .state = stored[i].state,
                     .list = has_list ? next_list() : 0,
                     .ban = std::move(stored[i].ban),
                     .low_water = stored[i].low_water,
                     .policy = stored[i].policy});
    if (!held_[i].limit.adaptive.is_set()) continue;
    held_[i].adaptive = stored[i].adaptive;
    held_[i].used_before = used_permits(held_[i], call_->now_ns);
  }
  named_ = head->named;
  policy_version_ = head->policy_version;
  changes_ = head->changes.value_or(0);
  if (keeps_charges()) note_used();
  return {};
}

void Limiter::note_used() {
  for (HeldLimit& held : held_) {
    if (held.limit.algorithm->used == nullptr) continue;
    held.low_water.note(changes_, algorithms::used(held.limit, held.state, call_->now_ns));
  }
}

// What the command itself has charged is no low: only what it gave back is, or a smaller capacity.
void Limiter::note_used_after() {
  for (HeldLimit& held : held_) {
    const auto marks = held.low_water.marks();
    if (marks.empty()) continue;
    const int64_t used = algorithms::used(held.limit, held.state, call_->now_ns);
    if (used < marks.back().used) held.low_water.note(changes_, used);
  }
}

// Adopts what redis-cell leaves in a dump: the theoretical arrival time by its wall clock, as a
// string.
bool Limiter::adopt(std::string_view text) {
  const auto tat_ns = text.size() == kForeignTatDigits ? resp::parse_int64(text) : std::nullopt;
  if (!tat_ns) return false;
  int64_t instant_ns = 0;
  if (__builtin_add_overflow(*tat_ns, call_->wall().lead_ns, &instant_ns)) return false;
  adopted_ = algorithms::gcra_state_from_tat({.tat_ns = instant_ns, .now_ns = call_->now_ns});
  return adopted_.has_value();
}

Limiter::Named Limiter::name(const NamedLimits& named) {
  LimitMatching matching(*call_,
                         {.held = held_,
                          .entries_of = [this](const HeldLimit& held) { return entries_of(held); },
                          .adopted = &adopted_,
                          .policy_version = policy_version_,
                          .changes = changes_});
  auto next = matching.match(named);
  if (!next) return next.error();
  parameters_changed_ |= matching.parameters_changed();
  held_ = std::move(*next);
  named_ = named.limits.size();
  entries_.clear();
  names_ = named;
  const auto lends = [](const HeldLimit& held) { return held.limit.algorithm->makes_leases; };
  if (std::any_of(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(named_), lends))
    call_->limiters.takings.make_strict();
  policy_version_ = std::max(policy_version_, named.policy_version());
  if (keeps_charges()) note_used();  // a count that was lowered lowers what is in use
  if (adopted_) return std::string(kWrongType);
  return this->named();
}

void Limiter::count_taken(HeldLimit* held) const {
  const int64_t used = used_permits(*held, call_->now_ns);
  algorithms::count_taken(held->adaptive, used - std::exchange(held->used_before, used));
  held->adaptive.touched_ns = std::max<int64_t>(1, call_->now_ns);
  if (!held->adaptive.is_shared || names_.counts() == nullptr) return;
  if (2 * used >= held->limit.capacity) names_.counts()->is_used = true;
}

algorithms::Entries* Limiter::entries_of(const HeldLimit& held) {
  if (!held.limit.algorithm->uses_entries) return nullptr;
  for (auto& [owner, entries] : entries_) {
    if (owner == &held) return &entries;
  }
  return &entries_.emplace_back(&held, StoredEntries(*call_, held.list)).second;
}

std::optional<storage::Elements> Limiter::bookings() {
  if (bookings_ == 0)
    bookings_ = call_->keys.lists().make(call_->database, storage::Layout::kScattered);
  return call_->keys.lists().open(call_->database, bookings_);
}

int64_t Limiter::bookings_not_due() {
  const auto list = has_bookings() ? bookings() : std::nullopt;
  return list ? after_now(*list, call_->now_ns) : 0;
}

std::optional<storage::Elements> Limiter::holds() {
  if (holds_ == 0) holds_ = call_->keys.lists().make(call_->database, storage::Layout::kScattered);
  return call_->keys.lists().open(call_->database, holds_);
}

int64_t Limiter::holds_not_ended() {
  const auto list = has_holds() ? holds() : std::nullopt;
  return list ? after_now(*list, call_->now_ns) : 0;
}

int64_t Limiter::last_of(storage::ElementsId* id, int64_t kept_ns) const {
  if (*id == 0) return 0;
  const auto list = call_->keys.lists().open(call_->database, *id);
  if (!list) return 0;
  const int64_t last_ns =
      list->empty() ? 0 : storage::integer_of_order(list->at(list->size() - 1).order) + kept_ns;
  if (last_ns <= call_->now_ns) *id = 0;
  return last_ns;
}

int64_t Limiter::draw_id() {
  const auto has = [this](int64_t id) {
    for (const HeldLimit& held : held_) {
      if (held.limit.algorithm->makes_leases && entries_of(held)->find(id)) return true;
    }
    const auto is_in = [id](const std::optional<storage::Elements>& list) {
      return list && list->find(view(member_of_id(id))).has_value();
    };
    return (has_bookings() && is_in(bookings())) || (has_holds() && is_in(holds()));
  };
  int64_t id = call_->limiters.ids.draw();
  while (has(id)) id = call_->limiters.ids.draw();
  return id;
}

// Answers kNever if any limit has no end.
int64_t Limiter::gone_at_ns() const {
  int64_t latest_ns = 0;
  for (size_t i = 0; i < held_.size(); ++i) {
    latest_ns = std::max(latest_ns, server::gone_at_ns(held_[i], i < named_, call_->now_ns));
  }
  return latest_ns;
}

void Limiter::save() {
  for (HeldLimit& held : held_) {
    if (held.limit.adaptive.is_set()) count_taken(&held);
  }
  storage::Ref ref = call_->look_up(key_);
  last_of(&bookings_, 0);
  const int64_t gone_ns = std::max(gone_at_ns(), last_of(&holds_, kLateSettleNs));
  if (gone_ns <= call_->now_ns) return call_->keys.erase(&ref);
  const int64_t gone_ms = algorithms::units_up(gone_ns, kNsPerMs);

  if (keeps_charges()) {
    ++changes_;
    note_used_after();
  }
  std::vector<storage::ElementsId> lists;
  if (bookings_ != 0) lists.push_back(bookings_);
  if (holds_ != 0) lists.push_back(holds_);
  std::vector<LimitState> states;
  states.reserve(held_.size());
  for (HeldLimit& held : held_) {
    states.push_back(
        {held.limit, held.state, held.ban, held.adaptive, held.low_water, held.policy});
    if (!held.limit.algorithm->uses_entries) continue;
    held.list = static_cast<StoredEntries*>(entries_of(held))->id();
    lists.push_back(held.list);
  }
  std::string value;
  if (!lists.empty()) storage::append_list_ids(&value, lists);
  algorithms::append_record({.limits = states.size(),
                             .named = named_,
                             .policy_version = policy_version_,
                             .bookings = bookings_ != 0,
                             .holds = holds_ != 0,
                             .changes = keeps_charges() ? std::optional(changes_) : std::nullopt},
                            states, value);
  const auto type = type_of_limiter(!lists.empty(), keeps_charges());
  call_->keys.put(&ref, type, value, gone_ms == algorithms::kNever ? 0 : gone_ms);
}

}  // namespace weir::server
