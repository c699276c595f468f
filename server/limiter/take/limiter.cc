#include "server/limiter/take/limiter.h"

#include <algorithm>
#include <string>

#include "algorithms/gcra.h"
#include "base/check.h"
#include "base/fixed_vector.h"
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

Limiter::Limiter(Call* call, std::string_view key)
    : call_(call), it_(&call->limiters.buffers.limiters) {
  it_->key = key;
}

Result<Limiter, ErrorReplied> Limiter::read(Call& call, std::string_view key) {
  auto found = find(call, key);
  if (!found) return reply_error(call, found.error());
  return std::move(*found);
}

Result<Limiter, std::string> Limiter::find(Call& call, std::string_view key) {
  Limiter limiter(&call, key);
  const storage::Ref& ref = limiter.it_->ref = call.look_up(key);
  limiter.it_->exists = ref.exists();
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
  it_->held.resize(algorithms::limits_in_record(header.rest));
  FixedVector<LimitState*, algorithms::kLimitsMax> stored;
  for (HeldLimit& held : all()) stored.push_back(&held);
  const auto head = algorithms::read_record(header.rest, stored, &call_->limiters.zones.stored(),
                                            &call_->limiters.made_limits);
  if (!head) {
    return "ERR the limiter's record cannot be read: " +
           std::string(algorithms::describe(head.error()));
  }
  size_t lists = 0;
  const auto next_list = [&] { return lists < header.lists ? header.ids[lists++] : 0; };
  if (head->bookings) it_->bookings = next_list();
  if (head->holds) it_->holds = next_list();
  for (HeldLimit& held : all()) {
    if (held.limit.algorithm->uses_entries) held.list = next_list();
    if (held.limit.adaptive.is_set()) held.used_before = used_permits(held, call_->now_ns);
  }
  it_->named = head->named;
  it_->policy_version = head->policy_version;
  it_->changes = head->changes.value_or(0);
  if (keeps_charges()) note_used();
  return {};
}

void Limiter::note_used() {
  for (HeldLimit& held : all()) {
    if (held.limit.algorithm->used == nullptr) continue;
    held.low_water.note(it_->changes, algorithms::used(held.limit, held.state, call_->now_ns));
  }
}

// What the command itself has charged is no low: only what it gave back is, or a smaller capacity.
void Limiter::note_used_after() {
  for (HeldLimit& held : all()) {
    const auto marks = held.low_water.marks();
    if (marks.empty()) continue;
    const int64_t used = algorithms::used(held.limit, held.state, call_->now_ns);
    if (used < marks.back().used) held.low_water.note(it_->changes, used);
  }
}

// Adopts what redis-cell leaves in a dump: the theoretical arrival time by its wall clock, as a
// string.
bool Limiter::adopt(std::string_view text) {
  const auto tat_ns = text.size() == kForeignTatDigits ? resp::parse_int64(text) : std::nullopt;
  if (!tat_ns) return false;
  int64_t instant_ns = 0;
  if (__builtin_add_overflow(*tat_ns, call_->wall().lead_ns, &instant_ns)) return false;
  it_->adopted = algorithms::gcra_state_from_tat({.tat_ns = instant_ns, .now_ns = call_->now_ns});
  return it_->adopted.has_value();
}

Result<void, std::string> Limiter::match(const NamedLimits& named) {
  LimitMatching matching(*call_,
                         {.held = it_->held,
                          .entries_of = [this](const HeldLimit& held) { return entries_of(held); },
                          .adopted = &it_->adopted,
                          .policy_version = it_->policy_version,
                          .changes = it_->changes});
  if (auto matched = matching.match(named, &it_->next); !matched) return matched;
  it_->parameters_changed |= matching.parameters_changed();
  it_->held.swap(it_->next);
  return {};
}

Limiter::Named Limiter::name(NamedLimits named) {
  if (!match_in_place(named, all(), call_->now_ns)) {
    if (const auto matched = match(named); !matched) return matched.error();
  }
  it_->entries.clear();
  it_->named = named.limits.size();
  it_->names = std::move(named);
  const auto lends = [](const HeldLimit& held) { return held.limit.algorithm->makes_leases; };
  if (std::ranges::any_of(this->named(), lends)) call_->limiters.takings.make_strict();
  it_->policy_version = std::max(it_->policy_version, names().policy_version());
  if (keeps_charges()) note_used();  // a count that was lowered lowers what is in use
  if (it_->adopted) return std::string(kWrongType);
  return this->named();
}

void Limiter::count_taken(HeldLimit* held) const {
  const int64_t used = used_permits(*held, call_->now_ns);
  algorithms::count_taken(held->adaptive, used - std::exchange(held->used_before, used));
  held->adaptive.touched_ns = std::max<int64_t>(1, call_->now_ns);
  if (!held->adaptive.is_shared || it_->names.counts() == nullptr) return;
  if (2 * used >= held->limit.capacity) it_->names.counts()->is_used = true;
}

algorithms::Entries* Limiter::entries_of(const HeldLimit& held) {
  if (!held.limit.algorithm->uses_entries) return nullptr;
  for (EntriesOfLimit& each : it_->entries) {
    if (each.limit == &held) return &each.entries;
  }
  it_->entries.reserve(algorithms::kLimitsMax);
  WEIR_REQUIRE(it_->entries.size() < algorithms::kLimitsMax);
  it_->entries.push_back({&held, StoredEntries(*call_, held.list)});
  return &it_->entries.back().entries;
}

std::optional<storage::Elements> Limiter::bookings() {
  if (it_->bookings == 0)
    it_->bookings = call_->keys.lists().make(call_->database, storage::Layout::kScattered);
  return call_->keys.lists().open(call_->database, it_->bookings);
}

int64_t Limiter::bookings_not_due() {
  const auto list = has_bookings() ? bookings() : std::nullopt;
  return list ? after_now(*list, call_->now_ns) : 0;
}

std::optional<storage::Elements> Limiter::holds() {
  if (it_->holds == 0)
    it_->holds = call_->keys.lists().make(call_->database, storage::Layout::kScattered);
  return call_->keys.lists().open(call_->database, it_->holds);
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
    for (const HeldLimit& held : all()) {
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
  for (size_t i = 0; i < it_->held.size(); ++i) {
    latest_ns =
        std::max(latest_ns, server::gone_at_ns(it_->held[i], i < it_->named, call_->now_ns));
  }
  return latest_ns;
}

void Limiter::save(Place place) {
  for (HeldLimit& held : all()) {
    if (held.limit.adaptive.is_set()) count_taken(&held);
  }
  if (place == Place::kLookUp) it_->ref = call_->look_up(it_->key);
  last_of(&it_->bookings, 0);
  const int64_t gone_ns = std::max(gone_at_ns(), last_of(&it_->holds, kLateSettleNs));
  if (gone_ns <= call_->now_ns) return call_->keys.erase(&it_->ref);
  const int64_t gone_ms = algorithms::units_up(gone_ns, kNsPerMs);

  if (keeps_charges()) {
    ++it_->changes;
    note_used_after();
  }
  FixedVector<storage::ElementsId, storage::kOwnedListsMax> lists;
  if (it_->bookings != 0) lists.push_back(it_->bookings);
  if (it_->holds != 0) lists.push_back(it_->holds);
  FixedVector<const LimitState*, algorithms::kLimitsMax> states;
  for (HeldLimit& held : all()) {
    states.push_back(&held);
    if (!held.limit.algorithm->uses_entries) continue;
    held.list = static_cast<StoredEntries*>(entries_of(held))->id();
    lists.push_back(held.list);
  }
  std::string& value = call_->limiters.buffers.record;
  value.clear();
  if (!lists.empty()) storage::append_list_ids(&value, lists);
  algorithms::append_record(
      {.limits = states.size(),
       .named = it_->named,
       .policy_version = it_->policy_version,
       .bookings = it_->bookings != 0,
       .holds = it_->holds != 0,
       .changes = keeps_charges() ? std::optional(it_->changes) : std::nullopt},
      states, value);
  const auto type = type_of_limiter(!lists.empty(), keeps_charges());
  call_->keys.put(&it_->ref, type, value, gone_ms == algorithms::kNever ? 0 : gone_ms);
}

}  // namespace weir::server
