// What is about weir itself and has no like in Redis: its clock, and its part in a shard.
#include <algorithm>
#include <array>
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

void status(Call& call) {
  const auto member = member_of(call);
  if (!member) return;
  const MemberView seen = (*member)->view();
  const auto text = [&](std::string_view name, std::string_view value) {
    call.reply.bulk(name);
    call.reply.bulk(value);
  };
  const auto number = [&](std::string_view name, uint64_t value) {
    call.reply.bulk(name);
    call.reply.integer(static_cast<int64_t>(value));
  };
  const std::vector<MemberSeen> members = (*member)->members();
  call.reply.map(12);
  text("shard", seen.shard);
  text("node", seen.node);
  text("state", seen.state);
  number("serves", seen.serves ? 1 : 0);
  text("primary", seen.primary_address);
  text("primary_node", seen.primary_node);
  number("epoch", seen.epoch);
  number("log_index", seen.log_index);
  number("turn", seen.turn);
  number("committed_turn", seen.committed);
  text("stopped_because", seen.stopped_because);
  call.reply.bulk("members");
  call.reply.array(members.size());
  for (const MemberSeen& one : members) {
    call.reply.map(8);
    text("node", one.node);
    text("address", one.host + ":" + std::to_string(one.port));
    text("state", one.state);
    number("present", one.is_present ? 1 : 0);
    number("log_index", one.log_index);
    number("turn", one.turn);
    number("lag_turns", one.lag_turns);
    number("age_ms", static_cast<uint64_t>(one.age_ms));
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

constexpr std::string_view kNoCluster =
    "ERR this member of a shard is in no cluster: cluster-enabled is no";

// Members of all shards that are not known to have what this one has.
void check_cluster(Call& call, const Membership& member) {
  const std::vector<KnownShard> shards = member.known_shards();
  ToldMember self;
  for (const KnownShard& shard : shards)
    for (const KnownMember& known : shard.members)
      if (known.is_self) self = known.told;
  if (self.node.empty()) return call.reply.error(kNoCluster);
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
    const auto text = [&](std::string_view name, std::string_view value) {
      call.reply.bulk(name);
      call.reply.bulk(value);
    };
    call.reply.map(5);
    text("shard", shard);
    text("node", told.node);
    text("address", told.address());
    text("configuration", compared(told.configuration, self.configuration));
    text("acl", compared(told.acl, self.acl));
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
    const auto text = [&](std::string_view name, std::string_view value) {
      call.reply.bulk(name);
      call.reply.bulk(value);
    };
    call.reply.map(5);
    text("node", one.node);
    text("address", one.host + ":" + std::to_string(one.port));
    text("state", one.is_present ? one.state : "away");
    text("configuration", compared(one.configuration, self->configuration));
    text("acl", compared(one.acl, self->acl));
  }
}

void facts(Call& call) {
  const auto member = member_of(call);
  if (!member) return;
  FactsExchange* const exchange = (*member)->facts_exchange();
  if (exchange == nullptr) return call.reply.error(kNoCluster);
  if (call.args.size() > 3) return call.reply.error("ERR syntax error: WEIR FACTS [facts]");
  if (call.args.size() == 3) {
    const auto told = read_shard_facts(call.args[2]);
    if (!told) return call.reply.error("ERR these are no facts of a member: " + told.error());
    exchange->hear(*told);
  }
  write_shard_facts(exchange->facts(), &call.reply);
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
