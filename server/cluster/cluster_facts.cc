#include "server/cluster/cluster_facts.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weir::server {
namespace {

int64_t told_age_ns(int64_t told_ms, int64_t since_ns) { return told_ms * kNsPerMs + since_ns; }

// What the file keeps of a member.
ToldMember filed_member(const ToldMember& member) {
  return {.node = member.node,
          .host = member.host,
          .port = member.port,
          .tls_port = member.tls_port,
          .hostname = member.hostname,
          .is_primary = member.is_primary};
}

void add_shown_slot(int slot, uint64_t version, std::vector<ToldRange>* ranges) {
  if (!ranges->empty()) {
    ToldRange& last = ranges->back();
    if (last.slots.last == slot - 1 && last.version == version) {
      last.slots.last = slot;
      return;
    }
  }
  ranges->push_back({.slots = {slot, slot}, .version = version});
}

void add_new_address(std::string address, std::vector<std::string>* addresses) {
  const bool is_new = !address.empty() &&
                      std::find(addresses->begin(), addresses->end(), address) == addresses->end();
  if (is_new) addresses->push_back(std::move(address));
}

// Whether both are shown alike.
bool is_alike(const ToldMember& one, const ToldMember& other) {
  return one.node == other.node && one.host == other.host && one.port == other.port &&
         one.tls_port == other.tls_port && one.hostname == other.hostname &&
         one.state == other.state && one.is_primary == other.is_primary;
}

bool is_alike(const ShardFacts& one, const ShardFacts& other) {
  return one.serves == other.serves && one.claim == other.claim && one.changes == other.changes &&
         one.instance == other.instance &&
         std::ranges::equal(one.members, other.members,
                            [](const auto& a, const auto& b) { return is_alike(a, b); });
}

}  // namespace

const KnownMember* KnownShard::primary() const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [](const KnownMember& member) { return member.told.is_primary; });
  return found == members.end() ? nullptr : &*found;
}

ClusterFacts::ClusterFacts(Self self) : self_(std::move(self)), slots_(kSlots) {
  add(self_.shard, false);
}

ClusterFacts::Entry* ClusterFacts::find(std::string_view name) {
  const auto found = shards_.find(name);
  return found == shards_.end() ? nullptr : &*found;
}

// Null: there is no room.
ClusterFacts::Entry* ClusterFacts::add(std::string_view name, bool is_slotless) {
  if (shards_.size() == kShardsMax) return nullptr;
  const auto slotless = std::ranges::count_if(shards_, [&](const Entry& entry) {
    return entry.second.slots == 0 && entry.first != self_.shard;
  });
  if (is_slotless && static_cast<size_t>(slotless) >= kSlotlessMax) return nullptr;
  ++revision_.slots;
  return &*shards_.emplace(name, Shard()).first;
}

bool ClusterFacts::is_ahead(const ShardInstance& instance, uint64_t wall_ms) const {
  if (wall_ms == kNoWallClock || wall_ms < self_.instance.ms) return false;
  return instance.ms > wall_ms + kInstanceLeadMs;
}

bool ClusterFacts::is_far(const ShardFacts& facts, const Entry* known) const {
  const uint64_t changes = known == nullptr ? 0 : known->second.changes;
  if (facts.changes > changes + kChangesStepMax) return true;
  if (known != nullptr && known->second.ranges == facts.slots) return false;
  return std::ranges::any_of(facts.slots, [&](const ToldRange& range) {
    for (int slot = range.slots.first; slot <= range.slots.last; ++slot) {
      const uint64_t shown = slots_[static_cast<size_t>(slot)].version;
      if (range.version > shown + kVersionStepMax) return true;
    }
    return false;
  });
}

void ClusterFacts::restore(const ClusterFile& file, uint64_t wall_ms) {
  if (file.cluster != self_.cluster) return;
  for (const FiledShard& filed : file.shards) {
    if (is_ahead(filed.instance, wall_ms)) continue;
    Entry* const known = find(filed.name);
    Entry* const entry = known != nullptr ? known : add(filed.name, filed.slots.empty());
    if (entry == nullptr) continue;
    Shard& shard = entry->second;
    shard.instance = filed.instance;
    shard.filed = filed;
    shard.changes = filed.changes;
    shard.ranges = filed.slots;
    for (const ToldMember& member : filed.members)
      if (member.is_primary) shard.primary = member;
    (void)claim(entry);
  }
  show_ranges();
}

bool ClusterFacts::wins(const ToldRange& range, const std::string& shard, const Claim& shown) {
  return range.version > shown.version ||
         (range.version == shown.version && shown.shard != nullptr && shard < shown.shard->first);
}

bool ClusterFacts::wins_any(const ShardFacts& facts) const {
  return std::ranges::any_of(facts.slots, [&](const ToldRange& range) {
    for (int slot = range.slots.first; slot <= range.slots.last; ++slot)
      if (wins(range, facts.shard, slots_[static_cast<size_t>(slot)])) return true;
    return false;
  });
}

// Tells whether it is shown for a slot that it was not shown for.
bool ClusterFacts::claim(Entry* entry) {
  bool is_new = false;
  for (const ToldRange& range : entry->second.ranges) {
    for (int slot = range.slots.first; slot <= range.slots.last; ++slot) {
      Claim& shown = slots_[static_cast<size_t>(slot)];
      if (!wins(range, entry->first, shown)) continue;
      if (shown.shard != nullptr) --shown.shard->second.slots;
      ++entry->second.slots;
      shown = {.version = range.version, .shard = entry};
      is_new = true;
    }
  }
  return is_new;
}

void ClusterFacts::show_ranges() {
  ++revision_.slots;
  for (auto& [name, shard] : shards_) shard.shown.clear();
  for (int slot = 0; slot < kSlots; ++slot) {
    const Claim& shown = slots_[static_cast<size_t>(slot)];
    if (shown.shard != nullptr) add_shown_slot(slot, shown.version, &shown.shard->second.shown);
  }
}

ClusterFacts::Heard ClusterFacts::hear(const ShardFacts& facts, int64_t now_ns, uint64_t wall_ms) {
  if (facts.cluster != self_.cluster) return Heard::kOtherCluster;
  if (is_ahead(facts.instance, wall_ms)) return Heard::kInstanceAhead;
  Entry* entry = find(facts.shard);
  if (entry != nullptr && facts.instance < entry->second.instance) return Heard::kOlderInstance;
  if (is_far(facts, entry)) return Heard::kFarVersion;
  if (entry == nullptr) entry = add(facts.shard, !wins_any(facts));
  if (entry == nullptr)
    return shards_.size() == kShardsMax ? Heard::kTooManyShards : Heard::kTooManySlotless;
  Shard& shard = entry->second;
  if (shard.instance < facts.instance) shard.told.clear();
  shard.instance = facts.instance;
  shard.filed.reset();
  const auto [place, is_new] = shard.told.try_emplace(facts.node);
  Told& told = place->second;
  if (is_new || !is_alike(told.facts, facts)) ++revision_.members;
  told = {.facts = facts, .at_ns = now_ns};
  told.facts.others.clear();
  told.facts.slots.clear();  // a list may be long, and is kept once for the shard
  if (shard.told.size() > kMembersMax) {
    shard.told.erase(std::min_element(
        shard.told.begin(), shard.told.end(),
        [](const auto& a, const auto& b) { return a.second.at_ns < b.second.at_ns; }));
  }
  if (facts.serves) shard.served_at_ns = now_ns;
  for (const ToldMember& member : newest(shard, now_ns)->facts.members)
    if (member.is_primary) shard.primary = member;
  shard.changes = facts.changes;
  if (shard.ranges != facts.slots) {
    shard.ranges = facts.slots;
    if (claim(entry)) show_ranges();
  }
  for (const ToldAddresses& others : facts.others) hear_addresses(others, now_ns);
  return Heard::kTaken;
}

void ClusterFacts::hear_addresses(const ToldAddresses& told, int64_t now_ns) {
  if (told.shard == self_.shard) return;
  Entry* entry = find(told.shard);
  if (entry == nullptr) {
    const auto forgotten = forgotten_.find(told.shard);
    if (forgotten != forgotten_.end() && now_ns - forgotten->second < kForgottenNs) return;
    entry = add(told.shard, true);
  }
  if (entry == nullptr) return;
  std::vector<std::string> addresses;
  for (const std::string& address : told.addresses) add_new_address(address, &addresses);
  for (const std::string& address : entry->second.addresses) add_new_address(address, &addresses);
  if (addresses.size() > kMembersMax) addresses.resize(kMembersMax);
  entry->second.addresses = std::move(addresses);
}

bool ClusterFacts::forget(std::string_view name, int64_t now_ns) {
  Entry* const entry = find(name);
  if (entry == nullptr || name == self_.shard) return false;
  for (Claim& shown : slots_)
    if (shown.shard == entry) shown = {};
  shards_.erase(shards_.find(name));
  for (Entry& other : shards_) (void)claim(&other);
  show_ranges();
  std::erase_if(forgotten_, [&](const auto& one) { return now_ns - one.second >= kForgottenNs; });
  if (forgotten_.size() < kShardsMax) forgotten_[std::string(name)] = now_ns;
  return true;
}

const ClusterFacts::Told* ClusterFacts::newest(const Shard& shard, int64_t now_ns) {
  const Told* best = nullptr;
  const auto rank = [&](const Told& told) {
    const bool is_fresh = now_ns - told.at_ns <= kFreshNs;
    return is_fresh ? std::tuple(true, told.facts.claim, told.facts.serves, told.at_ns)
                    : std::tuple(false, uint64_t{0}, false, told.at_ns);
  };
  for (const auto& [node, told] : shard.told)
    if (best == nullptr || rank(*best) < rank(told)) best = &told;
  return best;
}

// What a member told of itself is told with what others say of it: they do not know its hostname.
KnownMember ClusterFacts::member_of(const ToldMember& member, const Told& from, const Shard& shard,
                                    int64_t now_ns) const {
  const int64_t told_ns = told_age_ns(member.age_ms, now_ns - from.at_ns);
  const auto own = shard.told.find(member.node);
  const bool is_self = member.node == self_.node;
  if (own == shard.told.end()) return {.told = member, .is_self = is_self, .age_ns = told_ns};
  const ToldMember& itself = *own->second.facts.teller();
  const int64_t age_ns = now_ns - own->second.at_ns;
  const bool is_newer = age_ns < told_ns;
  KnownMember known{
      .told = is_newer ? itself : member, .is_self = is_self, .age_ns = std::min(age_ns, told_ns)};
  known.told.tls_port = itself.tls_port;
  known.told.hostname = itself.hostname;
  known.told.is_primary = member.is_primary;
  known.told.lag_turns = member.lag_turns;
  return known;
}

KnownShard ClusterFacts::shown(const std::string& name, const Shard& shard, int64_t now_ns) const {
  KnownShard known;
  known.name = name;
  known.instance = shard.instance;
  known.is_own = name == self_.shard;
  if (const Told* const told = newest(shard, now_ns); told != nullptr) {
    const ShardFacts& facts = told->facts;
    known.claim = facts.claim;
    known.changes = facts.changes;
    known.settings = facts.settings;
    known.settings_digest = facts.settings_digest;
    known.decisions_per_s = facts.decisions_per_s;
    known.busy_permille = facts.busy_permille;
    known.keys = facts.keys;
    for (const auto& [node, other] : shard.told)
      known.heard_ns = std::min(known.heard_ns, now_ns - other.at_ns);
    if (shard.served_at_ns != INT64_MIN) known.served_ns = now_ns - shard.served_at_ns;
    known.members.reserve(facts.members.size() + 1);
    for (const ToldMember& member : facts.members)
      known.members.push_back(member_of(member, *told, shard, now_ns));
  } else if (shard.filed) {
    known.claim = shard.filed->claim;
    known.changes = shard.filed->changes;
    for (const ToldMember& member : shard.filed->members) {
      known.members.push_back({.told = member,
                               .is_self = member.node == self_.node,
                               .age_ns = KnownShard::kNeverHeard});
    }
  }
  if (known.primary() != nullptr || !shard.primary) return known;
  const auto last = std::find_if(
      known.members.begin(), known.members.end(),
      [&](const KnownMember& member) { return member.told.node == shard.primary->node; });
  if (last != known.members.end()) {
    last->told.is_primary = true;
  } else {
    known.members.insert(known.members.begin(), {.told = *shard.primary,
                                                 .is_self = shard.primary->node == self_.node,
                                                 .age_ns = KnownShard::kNeverHeard});
  }
  return known;
}

std::vector<KnownShard> ClusterFacts::shards(int64_t now_ns) const {
  std::vector<KnownShard> all;
  all.reserve(shards_.size());
  for (const auto& [name, shard] : shards_) {
    all.push_back(shown(name, shard, now_ns));
    all.back().slots = shard.shown;
  }
  return all;
}

KnownShard ClusterFacts::own_shard(int64_t now_ns) const {
  const auto own = shards_.find(self_.shard);
  KnownShard known = shown(own->first, own->second, now_ns);
  known.slots = own->second.shown;
  return known;
}

std::vector<KnownMember> ClusterFacts::members_of(std::string_view name, int64_t now_ns) const {
  const auto found = shards_.find(name);
  if (found == shards_.end()) return {};
  return shown(found->first, found->second, now_ns).members;
}

std::string_view ClusterFacts::shard_of(int slot) const {
  const Entry* const shard = slots_[static_cast<size_t>(slot)].shard;
  return shard == nullptr ? std::string_view() : shard->first;
}

bool ClusterFacts::is_whole() const {
  return std::none_of(slots_.begin(), slots_.end(),
                      [](const Claim& shown) { return shown.shard == nullptr; });
}

std::vector<std::string> ClusterFacts::addresses_of(std::string_view name, int64_t now_ns) const {
  const auto found = shards_.find(name);
  if (found == shards_.end()) return {};
  const std::vector<KnownMember> members = members_of(name, now_ns);
  std::vector<std::string> addresses;
  for (const bool is_primary : {true, false}) {
    for (const KnownMember& member : members) {
      if (member.told.is_primary == is_primary && !member.is_self)
        add_new_address(member.told.address(), &addresses);
    }
  }
  for (const std::string& address : found->second.addresses) add_new_address(address, &addresses);
  return addresses;
}

std::vector<std::string> ClusterFacts::other_shards() const {
  std::vector<std::string> names;
  for (const auto& [name, shard] : shards_)
    if (name != self_.shard) names.push_back(name);
  return names;
}

std::vector<ToldAddresses> ClusterFacts::addresses(int64_t now_ns) const {
  std::vector<ToldAddresses> all;
  for (const auto& [name, shard] : shards_) {
    const bool is_sure = !shard.told.empty() || shard.slots > 0;
    if (name == self_.shard || !is_sure) continue;
    all.push_back({.shard = name, .addresses = addresses_of(name, now_ns)});
    if (all.back().addresses.size() > kMembersMax) all.back().addresses.resize(kMembersMax);
  }
  return all;
}

ClusterFile ClusterFacts::file(int64_t now_ns) const {
  ClusterFile file{.cluster = self_.cluster, .shards = {}};
  for (const KnownShard& shard : shards(now_ns)) {
    FiledShard& kept = file.shards.emplace_back();
    kept.name = shard.name;
    kept.instance = shard.instance;
    kept.claim = shard.claim;
    kept.changes = shard.changes;
    kept.slots = shard.slots;
    for (const KnownMember& member : shard.members) {
      if (kept.members.size() < kMembersMax) kept.members.push_back(filed_member(member.told));
    }
  }
  return file;
}

}  // namespace weir::server
