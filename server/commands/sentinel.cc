// SENTINEL: where a shard's primary is, as clients ask it of Redis Sentinel. Every member answers,
// for the shard's name, so that its address can stand in the place of a sentinel's.
#include <algorithm>
#include <string>

#include "base/time_units.h"
#include "server/command/command_errors.h"
#include "server/command/reply_done.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"
#include "server/core/shard/successor.h"

namespace weir::server {
namespace {

constexpr std::string_view kNoShardHere =
    "ERR SENTINEL is answered by members of a shard, and this server is none (option log)";
constexpr std::string_view kNoSuchMaster = "ERR No such master with that name";

// What a subcommand is about: the shard of this server.
struct Shard {
  std::string name;
  MemberView view;
  std::vector<MemberSeen> members;
  int64_t failover_after_ms = 0;

  const MemberSeen* primary() const {
    const auto found = std::find_if(members.begin(), members.end(),
                                    [](const MemberSeen& member) { return member.is_primary; });
    return found == members.end() ? nullptr : &*found;
  }
};

Result<Shard, ErrorReplied> shard_of(Call& call) {
  const Membership* member = server_of(call).shard_role().membership();
  if (member == nullptr) return reply_error(call, kNoShardHere);
  Shard shard{.name = {}, .view = member->view(), .members = member->members()};
  shard.name = shard.view.shard;
  shard.failover_after_ms = server_of(call).config().failover_after_ms;
  return shard;
}

// The same, where the request's first argument must be its name.
Result<Shard, ErrorReplied> named_shard(Call& call) {
  auto shard = shard_of(call);
  if (shard && shard->name != call.args[2]) return reply_error(call, kNoSuchMaster);
  return shard;
}

// Writes one of Redis' descriptions: names and values, all of them strings.
class Description {
 public:
  void add(std::string_view name, std::string_view value) { fields_.emplace_back(name, value); }
  void add(std::string_view name, int64_t value) {
    add(name, std::string_view(std::to_string(value)));
  }

  void write(resp::ReplyWriter& reply) const {
    reply.map(static_cast<int64_t>(fields_.size()));
    for (const auto& [name, value] : fields_) {
      reply.bulk(name);
      reply.bulk(value);
    }
  }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// What all descriptions begin with.
Description description(const MemberSeen& member, std::string_view name, std::string flags,
                        const Shard& shard) {
  if (!member.is_present) flags = "s_down," + flags + ",disconnected";
  Description text;
  text.add("name", name);
  text.add("ip", std::string_view(member.host));
  text.add("port", int64_t{member.port});
  text.add("runid", std::string_view(member.node));
  text.add("flags", std::string_view(flags));
  text.add("link-pending-commands", int64_t{0});
  text.add("link-refcount", int64_t{1});
  text.add("last-ping-sent", int64_t{0});
  text.add("last-ok-ping-reply", member.age_ms);
  text.add("last-ping-reply", member.age_ms);
  text.add("down-after-milliseconds", shard.failover_after_ms);
  return text;
}

std::string address_name(const MemberSeen& member) {
  return member.host + ":" + std::to_string(member.port);
}

bool is_replica(const MemberSeen& member) { return !member.is_primary; }
bool is_other(const MemberSeen& member) { return !member.is_self; }

int64_t count_of(const Shard& shard, bool (*is_one)(const MemberSeen& member)) {
  return std::count_if(shard.members.begin(), shard.members.end(), is_one);
}

// The primary by the log; it is told of as present while nobody has claimed the role, because a
// client has nowhere else to go.
MemberSeen primary_seen(const Shard& shard) {
  const HostAndPort address = host_and_port(shard.view.primary_address);
  MemberSeen primary;
  if (const MemberSeen* known = shard.primary(); known != nullptr) primary = *known;
  primary.node = shard.view.primary_node;
  primary.host = std::string(address.host);
  primary.port = static_cast<uint16_t>(std::atoi(std::string(address.port).c_str()));
  primary.is_present = !address.host.empty();
  return primary;
}

void write_master(Call& call, const Shard& shard) {
  Description text = description(primary_seen(shard), shard.name, "master", shard);
  text.add("info-refresh", int64_t{0});
  text.add("role-reported", "master");
  text.add("role-reported-time", int64_t{0});
  text.add("config-epoch", static_cast<int64_t>(shard.view.epoch));
  text.add("num-slaves", count_of(shard, is_replica));
  text.add("num-other-sentinels", count_of(shard, is_other));
  text.add("quorum", int64_t{1});
  text.add("failover-timeout", shard.failover_after_ms);
  text.add("parallel-syncs", int64_t{1});
  text.write(call.reply);
}

void masters(Call& call) {
  const auto shard = shard_of(call);
  if (!shard) return;
  call.reply.array(1);
  write_master(call, *shard);
}

void master(Call& call) {
  if (const auto shard = named_shard(call)) write_master(call, *shard);
}

void address_by_name(Call& call) {
  const auto shard = shard_of(call);
  if (!shard) return;
  const HostAndPort primary = host_and_port(shard->view.primary_address);
  if (shard->name != call.args[2] || primary.host.empty()) return call.reply.null_array();
  call.reply.array(2);
  call.reply.bulk(primary.host);
  call.reply.bulk(primary.port);
}

void replicas(Call& call) {
  const auto shard = named_shard(call);
  if (!shard) return;
  const HostAndPort primary = host_and_port(shard->view.primary_address);
  call.reply.array(count_of(*shard, is_replica));
  for (const MemberSeen& member : shard->members) {
    if (!is_replica(member)) continue;
    Description text = description(member, address_name(member), "slave", *shard);
    text.add("info-refresh", member.age_ms);
    text.add("role-reported", "slave");
    text.add("role-reported-time", member.age_ms);
    text.add("master-link-down-time", int64_t{0});
    text.add("master-link-status", member.is_standby ? "ok" : "err");
    text.add("master-host", primary.host.empty() ? "?" : primary.host);
    text.add("master-port", primary.port.empty() ? "0" : primary.port);
    text.add("slave-priority", int64_t{100});
    text.add("slave-repl-offset", static_cast<int64_t>(member.turn));
    text.add("replica-announced", int64_t{1});
    text.write(call.reply);
  }
}

void sentinels(Call& call) {
  const auto shard = named_shard(call);
  if (!shard) return;
  call.reply.array(count_of(*shard, is_other));
  for (const MemberSeen& member : shard->members) {
    if (!is_other(member)) continue;
    Description text = description(member, member.node, "sentinel", *shard);
    text.add("last-hello-message", member.age_ms);
    text.add("voted-leader", "?");
    text.add("voted-leader-epoch", int64_t{0});
    text.write(call.reply);
  }
}

void myid(Call& call) {
  if (const auto shard = shard_of(call)) call.reply.bulk(shard->view.node);
}

void ckquorum(Call& call) {
  const auto shard = named_shard(call);
  if (!shard) return;
  const int64_t present =
      count_of(*shard, [](const MemberSeen& member) { return member.is_present; });
  call.reply.status("OK " + std::to_string(present) +
                    " usable Sentinels. Quorum and failover authorization can be reached");
}

// At the primary it switches over; at a standby, that one asks for the switchover.
void sentinel_failover(Call& call) {
  const auto shard = named_shard(call);
  if (!shard) return;
  MemberOrder order{.kind = MemberOrder::Kind::kAskForSwitchover};
  if (shard->view.serves) {
    const MemberSeen* const successor = successor_of(shard->members);
    if (successor == nullptr) return call.reply.error("NOGOODSLAVE No suitable replica to promote");
    order = {.kind = MemberOrder::Kind::kSwitchover, .node = successor->node};
  }
  reply_done(call, server_of(call).shard_role().membership()->order(order));
}

// Every row but its name, arity, usage, summary, version and function.
constexpr Command of_sentinel(Command command) {
  command.flags = kLoading | kNoScript;
  command.group = "connection";
  return command;
}

constexpr Command kSentinelCommands[] = {
    {.name = "sentinel",
     .arity = -2,
     .flags = kContainer,
     .group = "connection",
     .summary = "What clients ask Redis Sentinel: where a shard's primary is.",
     .since = "2.8.4"},
    of_sentinel({.name = "sentinel|ckquorum",
                 .arity = 3,
                 .usage = "master-name",
                 .summary = "Tells how many members there are to take over from the primary.",
                 .since = "2.8.4",
                 .run = ckquorum}),
    {.name = "sentinel|failover",
     .arity = 3,
     .flags = kAdmin | kNoScript | kLoading,
     .audit = Audit::kYes,
     .group = "connection",
     .usage = "master-name",
     .summary = "Makes a standby the shard's primary.",
     .since = "2.8.4",
     .run = sentinel_failover},
    of_sentinel({.name = "sentinel|get-master-addr-by-name",
                 .arity = 3,
                 .usage = "master-name",
                 .summary = "Answers host and port of the shard's primary; null: not known.",
                 .since = "2.8.4",
                 .run = address_by_name}),
    of_sentinel({.name = "sentinel|help",
                 .arity = 2,
                 .summary = "Explains the subcommands.",
                 .since = "6.2.0",
                 .run = container_help}),
    of_sentinel({.name = "sentinel|master",
                 .arity = 3,
                 .usage = "master-name",
                 .summary = "Describes the shard's primary.",
                 .since = "2.8.4",
                 .run = master}),
    of_sentinel({.name = "sentinel|masters",
                 .arity = 2,
                 .summary = "Describes the primary of the one shard that there is.",
                 .since = "2.8.4",
                 .run = masters}),
    of_sentinel({.name = "sentinel|myid",
                 .arity = 2,
                 .summary = "Answers this member's name.",
                 .since = "6.2.0",
                 .run = myid}),
    of_sentinel({.name = "sentinel|replicas",
                 .arity = 3,
                 .usage = "master-name",
                 .summary = "Describes the members that are not the primary.",
                 .since = "5.0.0",
                 .run = replicas}),
    of_sentinel({.name = "sentinel|sentinels",
                 .arity = 3,
                 .usage = "master-name",
                 .summary = "Describes the other members, which answer SENTINEL as this one does.",
                 .since = "2.8.4",
                 .run = sentinels}),
    of_sentinel({.name = "sentinel|slaves",
                 .arity = 3,
                 .usage = "master-name",
                 .summary = "SENTINEL REPLICAS by its old name.",
                 .since = "2.8.0",
                 .run = replicas}),
};

}  // namespace

Commands sentinel_commands() { return kSentinelCommands; }

}  // namespace weir::server
