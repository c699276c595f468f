// What is about weir itself and has no like in Redis: its clock, and its part in a shard.
#include <algorithm>
#include <array>
#include <concepts>
#include <string>

#include "base/ascii.h"
#include "base/time_units.h"
#include "server/command/command_errors.h"
#include "server/command/reply_done.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

constexpr std::string_view kRegranted =
    "calendar windows (FIXED ... ALIGN, but ALIGN FIRST) that lie ahead of the wall clock are "
    "over: "
    "each such key may take its count once more, in the window that runs now; nothing else is "
    "granted, since debts, expiries, leases and bookings end when they would have ended";
constexpr std::string_view kNothing = "nothing: there was no difference";

void reply_clock(Call& call) {
  const Timeline& timeline = server_of(call).timeline();
  call.reply.map(4);
  call.reply.bulk("wall_ms");
  call.reply.integer(call.wall_ns() / kNsPerMs);
  call.reply.bulk("instant_ms");
  call.reply.integer(call.now_ms());
  call.reply.bulk("lead_ms");
  call.reply.integer(timeline.lead_ns() / kNsPerMs);
  call.reply.bulk("accepted_ms");
  call.reply.integer(timeline.accepted_ns() / kNsPerMs);
}

void clock(Call& call) {
  if (call.args.size() == 2) return reply_clock(call);
  if (call.args.size() != 3 || !equals_ignoring_case(call.args[2], "RESET"))
    return call.reply.error("ERR syntax error: WEIR CLOCK takes RESET or nothing");
  if (server_of(call).timeline().is_led())
    return call.reply.error(
        "ERR in a shard instants approach the primary's wall clock by themselves, and nothing is "
        "to "
        "be "
        "reset");
  const int64_t dropped_ns = server_of(call).persistence().clock_keeper.reset();
  call.host.audit().note();
  call.reply.map(2);
  call.reply.bulk("dropped_ms");
  call.reply.integer(dropped_ns / kNsPerMs);
  call.reply.bulk("granted_again");
  call.reply.bulk(dropped_ns == 0 ? kNothing : kRegranted);
}

constexpr std::string_view kNoShard = "ERR this server is a member of no shard";

Result<Membership*, ErrorReplied> member_of(Call& call) {
  Membership* member = server_of(call).shard_role().membership();
  if (member == nullptr) return reply_error(call, kNoShard);
  return member;
}

// Fields of a map.
void put_field(Call& call, std::string_view name, std::string_view value) {
  call.reply.bulk(name);
  call.reply.bulk(value);
}
void put_field(Call& call, std::string_view name, std::integral auto value) {
  call.reply.bulk(name);
  call.reply.integer(static_cast<int64_t>(value));
}

void status(Call& call) {
  const auto member = member_of(call);
  if (!member) return;
  const MemberView seen = (*member)->view();
  const std::vector<MemberSeen> members = (*member)->members();
  const FactsExchange* const exchange = (*member)->facts_exchange();
  call.reply.map(13);
  put_field(call, "shard", seen.shard);
  put_field(call, "node", seen.node);
  put_field(call, "state", seen.state);
  put_field(call, "serves", seen.serves ? 1 : 0);
  put_field(call, "primary", seen.primary_address);
  put_field(call, "primary_node", seen.primary_node);
  put_field(call, "epoch", seen.epoch);
  put_field(call, "log_index", seen.log_index);
  put_field(call, "turn", seen.turn);
  put_field(call, "committed_turn", seen.committed);
  put_field(call, "stopped_because", seen.stopped_because);
  put_field(call, "same_node_at", exchange == nullptr ? "" : exchange->same_node_at());
  call.reply.bulk("members");
  call.reply.array(members.size());
  for (const MemberSeen& one : members) {
    call.reply.map(8);
    put_field(call, "node", one.node);
    put_field(call, "address", one.host + ":" + std::to_string(one.port));
    put_field(call, "state", one.state);
    put_field(call, "present", one.is_present ? 1 : 0);
    put_field(call, "log_index", one.log_index);
    put_field(call, "turn", one.turn);
    put_field(call, "lag_turns", one.lag_turns);
    put_field(call, "age_ms", one.age_ms);
  }
}

void order(Call& call, const MemberOrder& order) {
  if (const auto member = member_of(call)) reply_done(call, (*member)->order(order));
}

void takeover(Call& call) { order(call, {.kind = MemberOrder::Kind::kTakeOver}); }
void rejoin(Call& call) { order(call, {.kind = MemberOrder::Kind::kRejoin}); }

void switchover(Call& call) {
  order(call, {.kind = MemberOrder::Kind::kSwitchover, .node = std::string(call.args[2])});
}

using Digest = std::array<char, 32>;

std::string_view compared(const Digest& told, const Digest& own) {
  if (told == Digest()) return "not told";
  return told == own ? "same" : "differs";
}

std::string_view compared(const std::string& told, const std::string& own) {
  if (told.empty()) return "not told";
  return told == own ? "same" : "differs";
}

constexpr std::string_view kInNoCluster =
    "ERR this member of a shard is in no cluster: cluster-enabled is no";

// Members of all shards that are not known to have what this one has.
void check_cluster(Call& call, const Membership& member) {
  const std::vector<KnownShard> shards = member.known_shards();
  ToldMember self;
  for (const KnownShard& shard : shards)
    for (const KnownMember& known : shard.members)
      if (known.is_self) self = known.told;
  if (self.node.empty()) return call.reply.error(kInNoCluster);
  std::vector<std::pair<std::string, ToldMember>> others;
  for (const KnownShard& shard : shards) {
    for (const KnownMember& known : shard.members) {
      const bool is_like_this =
          known.told.configuration == self.configuration && known.told.acl == self.acl;
      if (!known.is_self && !is_like_this) others.emplace_back(shard.name, known.told);
    }
  }
  call.reply.array(others.size());
  for (const auto& [shard, told] : others) {
    call.reply.map(5);
    put_field(call, "shard", shard);
    put_field(call, "node", told.node);
    put_field(call, "address", told.address());
    put_field(call, "configuration", compared(told.configuration, self.configuration));
    put_field(call, "acl", compared(told.acl, self.acl));
  }
}

void check(Call& call) {
  const auto member = member_of(call);
  if (!member) return;
  if (call.args.size() == 3 && equals_ignoring_case(call.args[2], "CLUSTER"))
    return check_cluster(call, **member);
  if (call.args.size() != 2)
    return call.reply.error("ERR syntax error: WEIR CHECK takes CLUSTER, or nothing");
  const std::vector<MemberSeen> members = (*member)->members();
  const auto self = std::find_if(members.begin(), members.end(),
                                 [](const MemberSeen& one) { return one.is_self; });
  call.reply.array(members.size());
  for (const MemberSeen& one : members) {
    call.reply.map(5);
    put_field(call, "node", one.node);
    put_field(call, "address", one.host + ":" + std::to_string(one.port));
    put_field(call, "state", one.is_present ? one.state : "away");
    put_field(call, "configuration", compared(one.configuration, self->configuration));
    put_field(call, "acl", compared(one.acl, self->acl));
  }
}

// What was never heard has been so for -1 ms.
int64_t ms_since(int64_t ns) { return ns == KnownShard::kNeverHeard ? -1 : ns / kNsPerMs; }

void reply_known_member(Call& call, const KnownMember& member) {
  call.reply.map(7);
  put_field(call, "node", member.told.node);
  put_field(call, "address", member.told.address());
  put_field(call, "state", member.told.state);
  put_field(call, "primary", member.told.is_primary ? 1 : 0);
  put_field(call, "turn", member.told.turn);
  put_field(call, "lag_turns", member.told.lag_turns);
  put_field(call, "age_ms", ms_since(member.age_ns));
}

void reply_known_shard(Call& call, const KnownShard& shard) {
  SlotRanges slots;
  for (const ToldRange& range : shard.slots) slots.push_back(range.slots);
  call.reply.map(9);
  put_field(call, "shard", shard.name);
  put_field(call, "own", shard.is_own ? 1 : 0);
  put_field(call, "slots", slot_ranges_text(slots));
  put_field(call, "heard_ms", ms_since(shard.heard_ns));
  put_field(call, "served_ms", ms_since(shard.served_ns));
  put_field(call, "decisions_per_s", shard.decisions_per_s);
  put_field(call, "busy_permille", shard.busy_permille);
  put_field(call, "keys", shard.keys);
  call.reply.bulk("members");
  call.reply.array(shard.members.size());
  for (const KnownMember& member : shard.members) reply_known_member(call, member);
}

void shards(Call& call) {
  const auto member = member_of(call);
  if (!member) return;
  const std::vector<KnownShard> known = (*member)->known_shards();
  if (known.empty()) return call.reply.error(kInNoCluster);
  call.reply.array(known.size());
  for (const KnownShard& shard : known) reply_known_shard(call, shard);
}

Result<FactsExchange*, ErrorReplied> exchange_of(Call& call) {
  const auto member = member_of(call);
  if (!member) return member.error();
  FactsExchange* const exchange = (*member)->facts_exchange();
  if (exchange == nullptr) return reply_error(call, kInNoCluster);
  return exchange;
}

void facts(Call& call) {
  const auto found = exchange_of(call);
  if (!found) return;
  FactsExchange* const exchange = *found;
  if (call.args.size() > 3) return call.reply.error("ERR syntax error: WEIR FACTS [facts]");
  if (call.args.size() == 3) {
    const auto told = read_shard_facts(call.args[2]);
    if (!told) return call.reply.error("ERR these are no facts of a member: " + told.error());
    exchange->hear(*told);
  }
  write_shard_facts(exchange->facts(), &call.reply);
}

void shard(Call& call) {
  const auto exchange = exchange_of(call);
  if (!exchange) return;
  const Args& args = call.args;
  const bool is_forced = args.size() == 5 && equals_ignoring_case(args[4], "FORCE");
  const bool is_sound = equals_ignoring_case(args[2], "FORGET") && (args.size() == 4 || is_forced);
  if (!is_sound) return call.reply.error("ERR syntax error: WEIR SHARD FORGET shard [FORCE]");
  using Forget = FactsExchange::Forget;
  reply_done(call, (*exchange)->forget(args[3], is_forced ? Forget::kInAnyCase : Forget::kIfGone));
}

constexpr Command kWeirCommands[] = {
    {.name = "weir",
     .arity = -2,
     .flags = kContainer,
     .group = "server",
     .summary = "What is about weir itself.",
     .since = "weir 0.1"},
    {.name = "weir|check",
     .arity = -2,
     .flags = kAdmin | kNoScript,
     .audit = Audit::kNo,
     .group = "server",
     .usage = "[CLUSTER]",
     .summary = "Tells which members of the shard have another configuration or other users; with "
                "CLUSTER, which of all shards.",
     .since = "weir 0.1",
     .run = check},
    {.name = "weir|clock",
     .arity = -2,
     .flags = kAdmin | kWrites | kNoScript | kNoMulti,
     .audit = Audit::kIfNoted,
     .group = "server",
     .usage = "[RESET]",
     .summary =
         "Tells how instants stand to the wall clock, or takes their difference for granted.",
     .since = "weir 0.1",
     .run = clock},
    {.name = "weir|facts",
     .arity = -2,
     .flags = kAdmin | kNoScript | kNoMulti,
     .audit = Audit::kNo,
     .group = "server",
     .usage = "[facts]",
     .summary = "Tells what this member knows of its shard, and hears what another one tells.",
     .since = "weir 0.1",
     .run = facts},
    {.name = "weir|help",
     .arity = 2,
     .flags = kLoading,
     .group = "server",
     .summary = "Explains the subcommands.",
     .since = "weir 0.1",
     .run = container_help},
    {.name = "weir|rejoin",
     .arity = 2,
     .flags = kAdmin | kNoScript | kNoMulti,
     .audit = Audit::kYes,
     .group = "server",
     .summary = "Has a member that has stopped go on with a copy of another member's data.",
     .since = "weir 0.1",
     .run = rejoin},
    {.name = "weir|shard",
     .arity = -4,
     .flags = kAdmin | kNoScript | kNoMulti,
     .audit = Audit::kYes,
     .group = "server",
     .usage = "FORGET shard [FORCE]",
     .summary = "Has this member forget a shard that is gone: its place in the map, and CLUSTER.",
     .since = "weir 0.1",
     .run = shard},
    {.name = "weir|shards",
     .arity = 2,
     .flags = kAdmin | kNoScript | kLoading,
     .audit = Audit::kNo,
     .group = "server",
     .summary = "Tells what this member knows of all shards of its cluster, and of their members.",
     .since = "weir 0.1",
     .run = shards},
    {.name = "weir|status",
     .arity = 2,
     .flags = kAdmin | kNoScript | kLoading,
     .audit = Audit::kNo,
     .group = "server",
     .summary = "Tells how this server stands in its shard, and of the other members.",
     .since = "weir 0.1",
     .run = status},
    {.name = "weir|switchover",
     .arity = 3,
     .flags = kAdmin | kNoScript | kNoMulti,
     .audit = Audit::kYes,
     .group = "server",
     .usage = "node",
     .summary = "Makes another member the shard's primary, in place of this server.",
     .since = "weir 0.1",
     .run = switchover},
    {.name = "weir|takeover",
     .arity = 2,
     .flags = kAdmin | kNoScript | kNoMulti,
     .audit = Audit::kYes,
     .group = "server",
     .summary = "Makes this server its shard's primary, whoever is.",
     .since = "weir 0.1",
     .run = takeover},
};

}  // namespace

Commands weir_commands() { return kWeirCommands; }

}  // namespace weir::server
