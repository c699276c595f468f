#include "server/core/run/cluster.h"

#include <algorithm>
#include <utility>

#include "base/time_units.h"
#include "server/core/shard/shown_shard.h"

namespace weir::server {
namespace {

constexpr int64_t kFollowsWithinNs = kNsPerS;
constexpr int64_t kShownForNs = 100 * kNsPerMs;  // so that a flood of requests costs little
// Ages of members of other shards are so old at most; all else is shown once it was heard.
constexpr int64_t kAgesEveryNs = 500 * kNsPerMs;
constexpr std::string_view kNotServed = "CLUSTERDOWN Hash slot not served";
constexpr std::string_view kCrossSlot = "CROSSSLOT Keys in request don't hash to the same slot";
constexpr std::string_view kAboutTags =
    ". Keys that share a hash tag, as user:7:{acme} and tenant:{acme}, are in one slot";

// Most scripts are called with one key, whose slot needs no look. (False of rows that find their
// keys otherwise.)
bool names_one_key(const Command& command, Args args) {
  const auto count_at = static_cast<size_t>(command.keys.numkeys);
  return count_at > 0 && command.keys.first == 0 && command.more_keys == nullptr &&
         count_at < args.size() && args[count_at] == "1";
}

std::string cross_slot_error(const Command& command) {
  std::string error(kCrossSlot);
  if (command.group == "ratelimit") error += kAboutTags;
  return error;
}

}  // namespace

Result<void, std::string> Cluster::look_at_databases() const {
  std::string counts;
  for (int database = 1; database < keys_.options().databases; ++database) {
    const uint64_t count = keys_.size(database);
    if (count == 0) continue;
    counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " in database " +
              std::to_string(database);
  }
  if (counts.empty()) return {};
  return "cluster-enabled: a cluster has database 0 only, and " + config_.dir +
         " has keys: " + counts + "; start with cluster-enabled no, and move or delete them";
}

Result<void, std::string> Cluster::open() {
  if (!on() && !config_.cluster_topology.empty())
    return std::string("cluster-topology is set, which needs cluster-enabled yes");
  if (!on()) return {};
  if (const auto alone = look_at_databases(); !alone) return alone;
  if (is_of_shard()) {  // whose members are known once it has begun
    has_part_ = !has_all_slots(membership_->slots());
    map_ = SlotMap({ShownShard{.ranges = membership_->slots(), .members = {{.is_self = true}}}});
    return {};
  }
  if (const auto opened = file_.open(); !opened) return opened;
  show_topology();
  return {};
}

std::string Cluster::id() const {
  return is_of_shard() ? membership_->view().cluster : std::string();
}

void Cluster::look_at_members() {
  if (!is_of_shard()) return;
  const int64_t now_ns = clock_.steady_ns();
  MemberView view = membership_->view();
  const bool is_as_shown = view.epoch == shown_.epoch && view.state == shown_.state &&
                           view.primary_node == shown_.primary_node;
  if (is_as_shown && now_ns - shown_at_ns_ < kShownForNs) return;
  map_.show(map_.own(), shown_shard(*membership_, config_));
  look_at_others(now_ns, view.cluster);
  shown_ = std::move(view);
  shown_at_ns_ = now_ns;
}

// A map of 64 shards takes most of a millisecond to make anew, so that is done where slots are
// another's only. The own shard is the map's first, and others follow in one order.
void Cluster::look_at_others(int64_t now_ns, std::string_view cluster) {
  const KnownRevision revision = membership_->known_revision();
  if (revision == others_revision_ && now_ns - others_at_ns_ < kAgesEveryNs) return;
  const ShownShard& own = map_.shards()[map_.own()];
  std::vector<ShownShard> others = other_shards(membership_->known_shards(), cluster, own);
  const bool is_alike =
      revision.slots == others_revision_.slots && others.size() + 1 == map_.shards().size();
  if (is_alike) {
    for (size_t at = 0; at < others.size(); ++at) map_.show(at + 1, std::move(others[at]));
  } else {
    // Its own slots are this server's, whatever others tell.
    map_ = SlotMap(own, std::move(others));
  }
  others_revision_ = revision;
  others_at_ns_ = now_ns;
}

Result<Reloaded, std::string> Cluster::reload() {
  auto read = file_.reload();
  if (read && *read == Reloaded::kNew) show_topology();
  return read;
}

void Cluster::show_topology() {
  map_ = SlotMap(file_.topology(), file_.me(), file_.id(), config_.cluster_announce_hostname);
}

Result<void, std::string> Cluster::admit(const Session& session, const Command& command,
                                         Args args) {
  const Transaction& transaction = session.transaction();
  RequestSlot slots;
  if (!command.has(kRunsQueued)) {
    slots.add(command, args);
  } else if (transaction.open()) {
    for (QueuedCommands::Walk next(transaction.queued()); next.next();)
      slots.add(next.command(), next.args());
  }
  admitted_slot_ = slots.slot();
  if (slots.crosses()) {
    ++cross_slot_refusals_;
    return cross_slot_error(command);
  }
  if (!is_moved(slots.slot())) return {};
  return moved_error(slots.slot(), uses_tls(session.client().peer().type));
}

// A member that has lost its directory comes back with another name and the same address, and the
// log goes on naming the one before.
bool Cluster::leads_here(const ShownMember& primary) const {
  if (primary.is_self || !is_of_shard()) return primary.is_self;
  return std::ranges::any_of(map_.shards()[map_.own()].members, [&](const ShownMember& member) {
    return member.is_self && member.host == primary.host && member.port == primary.port;
  });
}

// Who is about to take over sends nobody to the one before, which may know of it already. Two that
// remember each other would send clients to and fro.
std::string Cluster::moved_error(int slot, bool over_tls) {
  if (slot == kNoSlot) return {};
  look_at_members();
  const size_t shard = map_.shard_of(slot);
  const ShownMember* const primary =
      shard == SlotMap::kNobody ? nullptr : map_.shards()[shard].primary();
  if (primary == nullptr || leads_here(*primary)) return std::string(kNotServed);
  const bool is_own = is_of_shard() && shard == map_.own();
  if (is_own && (shown_.state == "claiming" || map_.shards()[shard].is_remembered))
    return std::string(kNotServed);
  return "MOVED " + std::to_string(slot) + " " + primary->host + ":" +
         std::to_string(primary->port_for(over_tls));
}

bool Cluster::is_moved(const Command& command, Args args) const {
  RequestSlot slots;
  slots.add(command, args);
  return is_moved(slots.slot());
}

std::string Cluster::moved_error(const Session& session, const Command& command, Args args) {
  RequestSlot slots;
  slots.add(command, args);
  return moved_error(slots.slot(), uses_tls(session.client().peer().type));
}

std::string Cluster::end_of_wait(const Session& session, Waiter& waiter) {
  return on() ? moved_error(session, *waiter.command, waiter.arguments()) : std::string();
}

// A cluster's client goes where it is led, and remembers it. One that has found the primary by
// SENTINEL does not: it goes on asking here, until it has to connect anew.
Result<void, std::string> Cluster::lead(Session& session, Result<void, std::string> without_keys) {
  if (admitted_slot_ == kNoSlot) return without_keys;
  std::string error = moved_error(admitted_slot_, uses_tls(session.client().peer().type));
  const int64_t led_for_ns = session.activity().note_led(shown_.epoch, clock_.steady_ns());
  if (led_for_ns >= kFollowsWithinNs && !session.activity().follows()) session.close_after_reply();
  return error;
}

bool Cluster::is_redirection(std::string_view error) {
  return error.starts_with("CROSSSLOT ") || error.starts_with("MOVED ") || error == kNotServed;
}

Result<void, std::string> Cluster::check_in_script(const Command& command, Args args,
                                                   bool crosses_slots) {
  RequestSlot slots;
  slots.add(command, args);
  if (slots.slot() == kNoSlot) return {};
  if (slots.crosses()) ++cross_slot_refusals_;
  if (slots.crosses() || is_moved(slots.slot())) {
    return std::string("ERR Script attempted to access a non local key in a cluster node");
  }
  if (crosses_slots) return {};
  if (running_slot_ == kNoSlot) running_slot_ = slots.slot();
  if (running_slot_ == slots.slot()) return {};
  ++cross_slot_refusals_;
  return std::string("ERR Script attempted to access keys that do not hash to the same slot");
}

void Cluster::note_slots(const Command& command, Args args) {
  if (on() || names_one_key(command, args)) return;
  RequestSlot slots;
  slots.add(command, args);
  note_slots(slots);
}

}  // namespace weir::server
