#include "server/core/shard/shown_shard.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/string_hash.h"
#include "base/time_units.h"
#include "resp/numbers.h"

namespace weir::server {
namespace {

using Health = ShownMember::Health;

constexpr int64_t kHeardWithinNs = 10 * kNsPerS;

bool is_primary_state(std::string_view state) {
  return state == "primary" || state == "switching over";
}

Health health_of(std::string_view state, bool is_heard) {
  if (!is_heard || state == "stopped" || state == "leaving") return Health::kFailed;
  return state == "joining" || state == "copying" ? Health::kLoading : Health::kOnline;
}

// Who calls itself the primary. Of several the one that has read most of the log is right.
const MemberSeen* says_it_is_primary(const std::vector<MemberSeen>& members) {
  const MemberSeen* found = nullptr;
  for (const MemberSeen& member : members) {
    const bool says_so = !member.is_self && member.is_present && is_primary_state(member.state);
    if (says_so && (found == nullptr || member.log_index > found->log_index)) found = &member;
  }
  return found;
}

// The primary's node; "": none is known.
std::string primary_of(const MemberView& view, const std::vector<MemberSeen>& members) {
  const bool follows =
      view.state == "following" || view.state == "claiming" || is_primary_state(view.state);
  const MemberSeen* const other = follows ? nullptr : says_it_is_primary(members);
  return other == nullptr ? view.primary_node : other->node;
}

// The log knows the primary before the others have heard of it.
ShownMember primary_of_log(const MemberView& view) {
  const HostAndPort address = host_and_port(view.primary_address);
  ShownMember member{.id = view.primary_node, .host = std::string(address.host)};
  member.port = static_cast<int>(resp::parse_int64(address.port).value_or(0));
  return member;
}

ShownMember shown(const MemberSeen& seen, const MemberView& view) {
  ShownMember member{.id = seen.node, .host = seen.host, .port = seen.port};
  member.is_self = seen.is_self;
  member.is_heard = seen.is_present;
  member.health = health_of(seen.is_self ? view.state : seen.state, seen.is_present);
  member.age_ms = seen.is_self ? 0 : seen.age_ms;
  member.turn = seen.turn;
  return member;
}

// The port for TLS of a server that has another one, too, of which it tells; 0: it has none.
int second_port(const Config& config) {
  const bool has_both = config.port != 0 && config.tls_port != 0;
  const bool tells_of_it = config.cluster_announce_port == config.tls_port;
  return has_both && !tells_of_it ? static_cast<int>(config.tls_port) : 0;
}

// Ports for TLS and hostnames that members have told of themselves.
void add_told(const KnownShard& known, ShownShard* own) {
  for (const KnownMember& heard : known.members) {
    for (ShownMember& member : own->members) {
      if (member.id != heard.told.node) continue;
      if (heard.told.tls_port != 0) member.tls_port = heard.told.tls_port;
      if (!heard.told.hostname.empty()) member.hostname = heard.told.hostname;
    }
  }
}

// A standby hears the primary in its registry, too, which every member writes to.
int64_t silent_ms(const MemberView& view, const KnownShard& known, const ShownShard& own) {
  if (view.serves) return 0;
  const ShownMember* const primary = own.primary();
  const bool is_told = primary != nullptr && !primary->is_self;
  return std::min(known.served_ns / kNsPerMs, is_told ? primary->age_ms : INT64_MAX);
}

void rename_doubles(std::string_view cluster, const ShownShard& own,
                    std::vector<ShownShard>* others) {
  ViewSet ids;
  for (const ShownMember& member : own.members) ids.insert(member.id);
  for (ShownShard& shard : *others) {
    for (ShownMember& member : shard.members) {
      if (ids.contains(member.id)) member.id = shard_id_of(cluster, shard.name + " " + member.id);
      ids.insert(member.id);
    }
  }
}

ShownMember shown(const KnownMember& known) {
  const ToldMember& told = known.told;
  ShownMember member{.id = told.node, .host = told.host, .hostname = told.hostname};
  member.port = told.port;
  member.tls_port = told.tls_port;
  member.is_heard = known.age_ns <= kHeardWithinNs;
  member.health = health_of(told.state, member.is_heard);
  member.age_ms = known.age_ns / kNsPerMs;
  member.turn = told.turn;
  return member;
}

}  // namespace

std::vector<ShownShard> other_shards(const std::vector<KnownShard>& known, std::string_view cluster,
                                     const ShownShard& own) {
  std::vector<ShownShard> others;
  others.reserve(known.size());
  for (const KnownShard& heard : known) {
    if (heard.is_own) continue;
    ShownShard shard{.name = heard.name,
                     .id = shard_id_of(cluster, heard.name),
                     .epoch = static_cast<int64_t>(heard.changes) + 1,
                     .silent_ms = heard.served_ns / kNsPerMs};
    shard.ranges.reserve(heard.slots.size());
    shard.members.reserve(heard.members.size());
    for (const ToldRange& range : heard.slots) shard.ranges.push_back(range.slots);
    const KnownMember* const primary = heard.primary();
    for (const KnownMember& member : heard.members) {
      if (member.told.port == 0) continue;  // nobody can be led there
      shard.members.push_back(shown(member));
      shard.members.back().is_primary = &member == primary;
    }
    others.push_back(std::move(shard));
  }
  rename_doubles(cluster, own, &others);
  return others;
}

ShownShard shown_shard(const Membership& membership, const Config& config) {
  const MemberView view = membership.view();
  const std::vector<MemberSeen> members = membership.members();
  ShownShard shard{.name = view.shard, .id = shard_id_of(view.cluster, view.shard), .epoch = 1};
  shard.ranges = membership.slots();
  int own_port = 0;
  for (const MemberSeen& seen : members) {
    shard.members.push_back(shown(seen, view));
    if (seen.is_self) own_port = seen.port;
  }
  // The last primary that was known; a process begins with the one of the file CLUSTER.
  const KnownShard known = membership.known_own_shard();
  std::string primary = primary_of(view, members);
  const KnownMember* const last = primary.empty() ? known.primary() : nullptr;
  if (last != nullptr) primary = last->told.node;
  shard.is_remembered = last != nullptr;
  const auto is_it = [&](const ShownMember& member) { return member.id == primary; };
  if (!primary.empty() && std::none_of(shard.members.begin(), shard.members.end(), is_it))
    shard.members.push_back(last != nullptr ? shown(*last) : primary_of_log(view));
  for (ShownMember& member : shard.members) {
    member.is_primary = is_it(member);
    if (member.is_self || member.port == own_port) member.tls_port = second_port(config);
  }
  add_told(known, &shard);
  shard.silent_ms = silent_ms(view, known, shard);
  return shard;
}

}  // namespace weir::server
