#include "server/limiter/take/single.h"

#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/limiter_record.h"
#include "server/limiter/entries/stored_entries.h"
#include "server/limiter/take/queue.h"
#include "server/limiter/take/record.h"
#include "server/limiter/take/resolve.h"
#include "storage/format/header.h"

namespace weir::server {
namespace {

using algorithms::FewLimits;
using algorithms::Guard;
using algorithms::Limit;
using algorithms::Mode;

// The ids of the lists, and how many they are.
constexpr size_t kListsBytesMax = (1 + algorithms::kFewLimitsMax) * kVarintBytesMax;

struct SingleLimit {
  storage::Ref ref;
  algorithms::State state;
};

std::optional<SingleLimit> load_single(Call& call, std::string_view key, const Limit& limit) {
  if (limit.algorithm->uses_entries || has_queue(call, key)) return std::nullopt;
  SingleLimit single{.ref = call.look_up(key), .state = {}};
  if (!single.ref.exists()) {
    single.state = algorithms::fresh_state(limit, call.now_ns);
    return single;
  }
  if (single.ref.type() != storage::Type::kLimiter ||
      !algorithms::read_single(single.ref.value(), limit, single.state)) {
    return std::nullopt;
  }
  return single;
}

void put(Call& call, storage::Ref* ref, storage::Type type, std::string_view record,
         int64_t gone_ns) {
  const int64_t gone_ms = algorithms::units_up(gone_ns, kNsPerMs);
  call.keys.put(ref, type, record, gone_ms == algorithms::kNever ? 0 : gone_ms);
}

// Writes the state with its TTL, or nothing if it is full.
void save_single(Call& call, SingleLimit* single, const Limit& limit) {
  const int64_t gone_ns = limit.algorithm->expires_at_ns(limit, single->state);
  if (gone_ns <= call.now_ns) return call.keys.erase(&single->ref);
  char record[algorithms::kLimiterRecordBytesMax];
  const size_t size = algorithms::write_single(limit, single->state, record);
  put(call, &single->ref, storage::Type::kLimiter, {record, size}, gone_ns);
}

bool is_common(const Limit& limit) {
  return !limit.algorithm->makes_leases && !limit.ban.is_set() && !limit.adaptive.is_set();
}

// Nothing where a limit has more than its state and entries, or is not enforced.
std::optional<FewLimits> few_of(const NamedLimits& named) {
  const size_t count = named.limits.size();
  if (count == 0 || count > algorithms::kFewLimitsMax || named.kind() != PolicyKind::kLimits ||
      !std::ranges::all_of(named.limits, is_common)) {
    return std::nullopt;
  }
  FewLimits few{.limits = named.limits, .policy_version = named.policy_version()};
  for (size_t i = 0; i < count; ++i) {
    if (named.mode_of(i) == Mode::kShadow) return std::nullopt;
    few.policies[i] = named.policy_of(i);
  }
  return few;
}

// A key with a few limits. It must not be moved once it is loaded: the guards point into it.
struct FewKey {
  std::span<Guard> guards() { return std::span(room).first(few.limits.size()); }

  storage::Ref ref;
  FewLimits few;
  std::array<algorithms::State, algorithms::kFewLimitsMax> states;
  std::array<std::optional<StoredEntries>, algorithms::kFewLimitsMax> entries;  // if it has some
  std::array<Guard, algorithms::kFewLimitsMax> room;
};

// Reads the states; false where the key holds something else. `lists`: those of the entries.
bool read(const storage::Ref& ref, FewKey* key, storage::HeaderView* lists) {
  lists->rest = ref.value();
  if (storage::owns_elements(ref.type()) && !storage::parse_header(ref.value(), lists))
    return false;
  return storage::is_limiter(ref.type()) &&
         algorithms::read_few(lists->rest, key->few, key->states);
}

// Without the costs. False: the key is not of the common case.
bool load_few(Call& call, std::string_view key, const NamedLimits& named, FewKey* loaded) {
  const auto few = few_of(named);
  if (!few || has_queue(call, key)) return false;
  loaded->few = *few;
  loaded->ref = call.look_up(key);
  const storage::Ref& ref = loaded->ref;
  storage::HeaderView lists;
  if (ref.exists() && !read(ref, loaded, &lists)) return false;
  size_t list = 0;
  for (size_t i = 0; i < few->limits.size(); ++i) {
    const Limit& limit = few->limits[i];
    if (!ref.exists()) loaded->states[i] = algorithms::fresh_state(limit, call.now_ns);
    loaded->room[i] = {.limit = &limit, .state = &loaded->states[i]};
    if (!limit.algorithm->uses_entries) continue;
    loaded->entries[i].emplace(call, list < lists.lists ? lists.ids[list++] : 0);
    loaded->room[i].entries = &*loaded->entries[i];
  }
  return true;
}

// Writes the states with their TTL, or nothing if all are full.
void save_few(Call& call, FewKey& key) {
  const auto is_there = [](const std::optional<StoredEntries>& entries) {
    return entries.has_value();
  };
  if (std::ranges::any_of(key.entries, is_there))
    key.ref = call.look_up(key.ref.key());  // entries were put and erased
  int64_t gone_ns = 0;
  for (size_t i = 0; i < key.few.limits.size(); ++i) {
    const Limit& limit = key.few.limits[i];
    gone_ns = std::max(gone_ns, limit.algorithm->expires_at_ns(limit, key.states[i]));
  }
  if (gone_ns <= call.now_ns) return call.keys.erase(&key.ref);
  std::array<storage::ElementsId, algorithms::kFewLimitsMax> ids;
  size_t lists = 0;
  for (std::optional<StoredEntries>& entries : key.entries) {
    if (entries) ids[lists++] = entries->id();
  }
  std::string head;
  if (lists > 0) storage::append_list_ids(&head, std::span(ids).first(lists));
  char record[kListsBytesMax + algorithms::kFewRecordBytesMax];
  char* end = std::copy(head.begin(), head.end(), record);
  end += algorithms::write_few(key.few, key.states, end);
  put(call, &key.ref, type_of_limiter(lists > 0, false), {record, end}, gone_ns);
}

Decision decision_of(const Call& call, FewKey& key, const NamedLimits& named,
                     const LimiterRequest& request, const algorithms::AllVerdict& verdict) {
  const auto guards = key.guards();
  return {.answer = answer_of(call, named, request, guards, verdict),
          .cost = largest_cost(guards),
          .changed = any_changed(guards)};
}

CountedKey counted(const Call& call, const FewKey& key, const NamedLimits& named) {
  return {.name = {call.database, key.ref.key_order(), key.ref.key()}, .counts = named.counts()};
}

}  // namespace

std::optional<algorithms::Verdict> take_single(Call& call, std::string_view key, const Limit& limit,
                                               int64_t cost) {
  auto single = load_single(call, key, limit);
  if (!single) return std::nullopt;
  algorithms::Verdict verdict = algorithms::decide(
      limit, single->state, {.now_ns = call.now_ns, .cost = cost, .wall = &call.wall()});
  algorithms::show_debt(limit, single->state, {.now_ns = call.now_ns, .wall = &call.wall()},
                        verdict);
  if (verdict.changed) save_single(call, &*single, limit);
  if (cost > 0) {
    count_verdict(call, {call.database, single->ref.key_order(), key}, verdict, cost,
                  limit.algorithm->id);
  }
  return verdict;
}

std::optional<Answer> take_few(Call& call, std::string_view name, const NamedLimits& named,
                               const LimiterRequest& request) {
  FewKey key;
  if (!load_few(call, name, named, &key)) return std::nullopt;
  const auto guards = key.guards();
  for (size_t i = 0; i < guards.size(); ++i) guards[i].cost = request.cost(i);
  const auto verdict = algorithms::take_all(guards, {.now_ns = call.now_ns, .wall = &call.wall()});
  Decision decision = decision_of(call, key, named, request, verdict);
  decision.answer.charged = verdict.allowed && decision.cost > 0;
  if (decision.changed) save_few(call, key);
  count_decision(call, counted(call, key, named), decision);
  return std::move(decision.answer);
}

std::optional<TakenOfEach> take_few_of_each(Call& call, std::span<const std::string_view> names,
                                            std::span<const NamedLimits> named,
                                            const LimiterRequest& request) {
  std::vector<FewKey> keys(names.size());
  std::vector<algorithms::KeyGuards> all;
  all.reserve(keys.size());
  size_t limits = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!load_few(call, names[i], named[i], &keys[i])) return std::nullopt;
    for (Guard& guard : keys[i].guards()) {
      guard.cost = request.key_costs.empty() ? request.cost(limits++) : request.key_costs[i];
    }
    all.push_back({.guards = keys[i].guards()});
  }
  const auto taken = algorithms::take_all(all, {.now_ns = call.now_ns, .wall = &call.wall()});
  TakenOfEach each;
  each.answers.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    Decision decision = decision_of(call, keys[i], named[i], request, all[i].verdict);
    decision.answer.charged = taken.allowed && decision.cost > 0;
    if (decision.changed) {
      keys[i].ref = call.look_up(names[i]);  // another key was saved
      save_few(call, keys[i]);
    }
    if (taken.allowed) count_decision(call, counted(call, keys[i], named[i]), decision);
    each.answers.push_back(std::move(decision.answer));
  }
  each.denied_by = denier(each.answers, request.shadow);
  if (each.denied_by < 0) return each;
  const auto denying = static_cast<size_t>(each.denied_by);
  count_denial(call, counted(call, keys[denying], named[denying]), each.answers[denying]);
  return each;
}

}  // namespace weir::server
