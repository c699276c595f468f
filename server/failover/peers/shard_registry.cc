#include "server/failover/peers/shard_registry.h"

#include <algorithm>
#include <utility>

#include "resp/numbers.h"
#include "server/failover/peers/member_words.h"

namespace weir::server {

using storage::replication::MemberFacts;
using storage::replication::RegistryEntry;
using storage::replication::RegistryView;
using storage::replication::Role;

namespace {

// Another member's turns, and its own, are only as new as what it has told.
MemberSeen seen_of(const RegistryView::Seen& seen, const std::string& self,
                   const std::string& primary) {
  const MemberFacts& facts = seen.facts;
  MemberSeen member;
  member.node = facts.author.node;
  const HostAndPort address = host_and_port(facts.author.address);
  member.host = address.host;
  const auto port = resp::parse_int64(address.port).value_or(0);
  member.port = port > 0 && port <= UINT16_MAX ? static_cast<uint16_t>(port) : 0;
  member.state = words_of(facts.role);
  member.is_self = member.node == self;
  member.is_primary = member.node == primary;
  member.is_present = seen.age_ns < RegistryView::kPresentForNs;
  const bool follows = facts.role == Role::kFollowing || facts.role == Role::kClaiming;
  member.is_standby = member.is_present && !member.is_primary && follows;
  member.log_index = facts.head.log_index;
  member.turn = facts.applied_turn;
  member.age_ms = seen.age_ns / kNsPerMs;
  member.configuration = facts.configuration_digest;
  member.acl = facts.acl_digest;
  return member;
}

bool has(const std::vector<RegistryEntry>& entries, const std::string& name) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const RegistryEntry& entry) { return entry.name == name; });
}

}  // namespace

std::vector<std::string> sources_of(const RegistryView& registry, const std::string& self) {
  std::vector<const MemberFacts*> able;
  for (const RegistryView::Seen& seen : registry.members()) {
    const MemberFacts& facts = seen.facts;
    const bool has_data = facts.role == Role::kFollowing || facts.role == Role::kPrimary;
    if (has_data && seen.age_ns < RegistryView::kPresentForNs && facts.author.node != self)
      able.push_back(&facts);
  }
  std::sort(able.begin(), able.end(), [](const MemberFacts* a, const MemberFacts* b) {
    const auto rank = [](const MemberFacts* facts) {
      return std::pair(facts->role == Role::kPrimary, UINT64_MAX - facts->applied_turn);
    };
    return rank(a) < rank(b);
  });
  std::vector<std::string> addresses;
  addresses.reserve(able.size());
  for (const MemberFacts* facts : able) addresses.push_back(facts->author.address);
  return addresses;
}

int64_t ShardRegistry::next_ns(Role role) const {
  if (registry_ == nullptr) return INT64_MAX;
  return role == written_role_ ? written_ns_ + kEveryNs : 0;
}

void ShardRegistry::write(const MemberFacts& own, int64_t boot_ns) {
  if (boot_ns < next_ns(own.role)) return;
  written_role_ = own.role;
  written_ns_ = boot_ns;
  registry_->put(own.author.node, encode_facts(own));
}

bool ShardRegistry::has_told_leaving() const {
  if (registry_ == nullptr) return true;
  return written_role_ == Role::kLeaving && registry_->has_written();
}

void ShardRegistry::read_soon(int64_t boot_ns) {
  if (registry_ == nullptr || boot_ns < read_soon_ns_ + kSoonNs) return;
  read_soon_ns_ = boot_ns;
  registry_->read_soon();
}

RegistryView ShardRegistry::view(const MemberFacts& own) const {
  std::vector<RegistryEntry> entries;
  if (registry_ != nullptr) entries = registry_->snapshot();
  const bool was_read = has(entries, own.author.node);
  std::erase_if(entries, [&](const RegistryEntry& entry) { return entry.name == own.author.node; });
  entries.push_back({.name = own.author.node, .bytes = encode_facts(own)});
  return RegistryView(entries, was_read);
}

std::vector<MemberSeen> ShardRegistry::members(const MemberFacts& own,
                                               const std::string& primary) const {
  std::vector<MemberSeen> members;
  uint64_t newest = own.applied_turn;
  const RegistryView registry = view(own);
  for (const RegistryView::Seen& seen : registry.members()) {
    members.push_back(seen_of(seen, own.author.node, primary));
    if (members.back().is_primary) newest = std::max(newest, members.back().turn);
  }
  for (MemberSeen& member : members) member.lag_turns = newest - std::min(newest, member.turn);
  std::sort(members.begin(), members.end(),
            [](const MemberSeen& a, const MemberSeen& b) { return a.node < b.node; });
  return members;
}

}  // namespace weir::server
