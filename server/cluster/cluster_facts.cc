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

}  // namespace

const KnownMember* KnownShard::primary() const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [](const KnownMember& member) { return member.told.is_primary; });
  return found == members.end() ? nullptr : &*found;
}

ClusterFacts::ClusterFacts(Self self) : self_(std::move(self)), slots_(kSlots) {
  find_or_add(self_.shard);
}

ClusterFacts::Shards::iterator ClusterFacts::find_or_add(std::string_view name) {
  const auto found = shards_.find(name);
  if (found != shards_.end() || shards_.size() == kShardsMax) return found;
  return shards_.emplace(name, Shard()).first;
}

void ClusterFacts::restore(const ClusterFile& file) {
  if (file.cluster != self_.cluster) return;
  for (const FiledShard& filed : file.shards) {
    const auto place = find_or_add(filed.name);
    if (place == shards_.end()) continue;
    auto& [name, shard] = *place;
    shard.instance = filed.instance;
    shard.filed = filed;
    for (const ToldMember& member : filed.members)
      if (member.is_primary) shard.primary = member;
    claim(&name, filed.slots);
  }
}

void ClusterFacts::claim(const std::string* shard, const std::vector<ToldRange>& ranges) {
  for (const ToldRange& range : ranges) {
    for (int slot = range.slots.first; slot <= range.slots.last; ++slot) {
      Claim& shown = slots_[static_cast<size_t>(slot)];
      const bool is_higher =
          range.version > shown.version ||
          (range.version == shown.version && shown.shard != nullptr && *shard < *shown.shard);
      if (is_higher) shown = {.version = range.version, .shard = shard};
    }
  }
}

ClusterFacts::Heard ClusterFacts::hear(const ShardFacts& facts, int64_t now_ns) {
  if (facts.cluster != self_.cluster) {
    return std::exchange(has_met_others_, true) ? Heard::kOtherCluster : Heard::kOtherClusterFirst;
  }
  const auto place = find_or_add(facts.shard);
  if (place == shards_.end()) return Heard::kTooManyShards;
  auto& [name, shard] = *place;
  if (facts.instance < shard.instance) return Heard::kOlderInstance;
  if (shard.instance < facts.instance) shard.told.clear();
  shard.instance = facts.instance;
  shard.filed.reset();
  Told& told = shard.told[facts.node];
  told = {.facts = facts, .at_ns = now_ns};
  told.facts.others.clear();
  if (shard.told.size() > kMembersMax) {
    shard.told.erase(std::min_element(
        shard.told.begin(), shard.told.end(),
        [](const auto& a, const auto& b) { return a.second.at_ns < b.second.at_ns; }));
  }
  if (facts.serves) shard.served_at_ns = now_ns;
  for (const ToldMember& member : newest(shard, now_ns)->facts.members)
    if (member.is_primary) shard.primary = member;
  claim(&name, facts.slots);
  told.facts.slots.clear();  // claim() has taken them in; a list may be long
  for (const ToldAddresses& others : facts.others) hear_addresses(others);
  return Heard::kTaken;
}

void ClusterFacts::hear_addresses(const ToldAddresses& told) {
  const auto place = find_or_add(told.shard);
  if (place == shards_.end() || told.shard == self_.shard) return;
  std::vector<std::string> addresses;
  for (const std::string& address : told.addresses) add_new_address(address, &addresses);
  for (const std::string& address : place->second.addresses) add_new_address(address, &addresses);
  if (addresses.size() > kMembersMax) addresses.resize(kMembersMax);
  place->second.addresses = std::move(addresses);
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
  KnownMember known{.told = member,
                    .is_self = member.node == self_.node,
                    .age_ns = told_age_ns(member.age_ms, now_ns - from.at_ns)};
  const auto own = shard.told.find(member.node);
  if (own == shard.told.end()) return known;
  const ToldMember& itself = *own->second.facts.teller();
  known.told.tls_port = itself.tls_port;
  known.told.hostname = itself.hostname;
  const int64_t age_ns = now_ns - own->second.at_ns;
  if (age_ns >= known.age_ns) return known;
  known.age_ns = age_ns;
  known.told = itself;
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

std::map<std::string_view, std::vector<ToldRange>> ClusterFacts::shown_ranges() const {
  std::map<std::string_view, std::vector<ToldRange>> ranges;
  std::vector<ToldRange>* of = nullptr;
  const std::string* shard = nullptr;
  for (int slot = 0; slot < kSlots; ++slot) {
    const Claim& shown = slots_[static_cast<size_t>(slot)];
    if (shown.shard == nullptr) continue;
    if (shown.shard != shard) {
      shard = shown.shard;
      of = &ranges[*shard];
    }
    add_shown_slot(slot, shown.version, of);
  }
  return ranges;
}

std::vector<KnownShard> ClusterFacts::shards(int64_t now_ns) const {
  auto ranges = shown_ranges();
  std::vector<KnownShard> all;
  for (const auto& [name, shard] : shards_) {
    all.push_back(shown(name, shard, now_ns));
    all.back().slots = std::move(ranges[name]);
  }
  return all;
}

std::vector<KnownMember> ClusterFacts::members_of(std::string_view name, int64_t now_ns) const {
  const auto found = shards_.find(name);
  if (found == shards_.end()) return {};
  return shown(found->first, found->second, now_ns).members;
}

std::string_view ClusterFacts::shard_of(int slot) const {
  const std::string* const shard = slots_[static_cast<size_t>(slot)].shard;
  return shard == nullptr ? std::string_view() : *shard;
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
  for (const std::string& name : other_shards()) {
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
