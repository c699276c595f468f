// Publish and subscribe: SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE and their opposites, PUBLISH, SPUBLISH,
// PUBSUB.
#include <string>

#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/cluster.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

using Kind = SubscriptionKind;

// Sharded channels have a count of their own.
int64_t shown_count(const Session& session, Kind kind) {
  const Subscriptions& mine = session.listening().subscriptions;
  const size_t count = kind == Kind::kShard
                           ? mine.of(kind).size()
                           : mine.of(Kind::kChannel).size() + mine.of(Kind::kPattern).size();
  return static_cast<int64_t>(count);
}

void confirm(Call& call, Kind kind, const std::string* name) {
  call.reply.push(3);
  call.reply.bulk(call.command.name);
  name == nullptr ? call.reply.null() : call.reply.bulk(*name);
  call.reply.integer(shown_count(call.session, kind));
}

void subscribe_to(Call& call, Kind kind) {
  for (const std::string_view name : call.args.subspan(1)) {
    if (kind == Kind::kPattern && !check_pattern(call, name)) return;
  }
  call.session.replies().note_push();
  for (const std::string_view name : call.args.subspan(1)) {
    server_of(call).messages().pubsub().subscribe(call.session, kind, name);
    const std::string shown(name);
    confirm(call, kind, &shown);
  }
}

void unsubscribe_from(Call& call, Kind kind) {
  call.session.replies().note_push();
  std::vector<std::string> names(call.args.begin() + 1, call.args.end());
  const auto& mine = call.session.listening().subscriptions.of(kind);
  if (names.empty()) names.assign(mine.begin(), mine.end());
  for (const std::string& name : names) {
    server_of(call).messages().pubsub().unsubscribe(call.session, kind, name);
    confirm(call, kind, &name);
  }
  if (names.empty()) confirm(call, kind, nullptr);
}

void subscribe(Call& call) { subscribe_to(call, Kind::kChannel); }
void psubscribe(Call& call) { subscribe_to(call, Kind::kPattern); }
void ssubscribe(Call& call) { subscribe_to(call, Kind::kShard); }
void unsubscribe(Call& call) { unsubscribe_from(call, Kind::kChannel); }
void punsubscribe(Call& call) { unsubscribe_from(call, Kind::kPattern); }
void sunsubscribe(Call& call) { unsubscribe_from(call, Kind::kShard); }

void publish_on(Call& call, Kind kind) {
  const size_t receivers =
      server_of(call).messages().pubsub().publish(kind, call.args[1], call.args[2]);
  if (receivers > 0) call.keys.running().charge(call.args[1].size() + call.args[2].size());
  call.reply.integer(static_cast<int64_t>(receivers));
}

void publish(Call& call) {
  if (server_of(call).executor().cluster().has_others()) {
    return call.reply.error(
        "ERR PUBLISH would reach the subscribers of one server of this cluster only: use SPUBLISH "
        "and SSUBSCRIBE, which go to a channel's server");
  }
  publish_on(call, Kind::kChannel);
}
void spublish(Call& call) { publish_on(call, Kind::kShard); }

void list_channels(Call& call, Kind kind) {
  if (call.args.size() > 3) {
    return call.reply.error("ERR unknown subcommand or wrong number of arguments for '" +
                            std::string(shown_part(call.args[1])) + "'. Try PUBSUB HELP.");
  }
  const std::string_view pattern = call.args.size() == 3 ? call.args[2] : "*";
  if (!check_pattern(call, pattern)) return;
  const auto names = server_of(call).messages().pubsub().names(kind, pattern);
  call.reply.array(static_cast<int64_t>(names.size()));
  for (const std::string_view name : names) call.reply.bulk(name);
}

void count_subscribers(Call& call, Kind kind) {
  call.reply.array(static_cast<int64_t>(call.args.size() - 2) * 2);
  for (const std::string_view name : call.args.subspan(2)) {
    call.reply.bulk(name);
    call.reply.integer(
        static_cast<int64_t>(server_of(call).messages().pubsub().subscribers(kind, name)));
  }
}

void channels(Call& call) { list_channels(call, Kind::kChannel); }
void shard_channels(Call& call) { list_channels(call, Kind::kShard); }
void numsub(Call& call) { count_subscribers(call, Kind::kChannel); }
void shard_numsub(Call& call) { count_subscribers(call, Kind::kShard); }
void numpat(Call& call) {
  call.reply.integer(
      static_cast<int64_t>(server_of(call).messages().pubsub().count(Kind::kPattern)));
}

constexpr Command pubsub_row(Command command, uint32_t flags) {
  command.flags |= flags;
  if (!command.has(kContainer)) command.flags |= kLoading;
  command.group = "pubsub";
  return command;
}

constexpr uint32_t kListens = kPubsub | kNoScript | kWhenSubscribed;
constexpr uint32_t kSpeaks = kPubsub | kFast | kMayReplicate;

constexpr Command kPubsubCommands[] = {
    pubsub_row({.name = "subscribe",
                .arity = -2,
                .channels = ChannelUse::kAll,
                .usage = "channel [channel ...]",
                .summary = "Listens to channels.",
                .since = "2.0.0",
                .run = subscribe},
               kListens),
    pubsub_row({.name = "unsubscribe",
                .arity = -1,
                .usage = "[channel [channel ...]]",
                .summary = "Listens to channels no longer, to none without arguments.",
                .since = "2.0.0",
                .run = unsubscribe},
               kListens),
    pubsub_row({.name = "psubscribe",
                .arity = -2,
                .channels = ChannelUse::kAllPatterns,
                .usage = "pattern [pattern ...]",
                .summary = "Listens to all channels that match a pattern.",
                .since = "2.0.0",
                .run = psubscribe},
               kListens),
    pubsub_row({.name = "punsubscribe",
                .arity = -1,
                .usage = "[pattern [pattern ...]]",
                .summary = "Listens to patterns no longer, to none without arguments.",
                .since = "2.0.0",
                .run = punsubscribe},
               kListens),
    pubsub_row({.name = "ssubscribe",
                .arity = -2,
                .keys = {1, -1, 1, 0, KeyUse::kNoKey},
                .channels = ChannelUse::kAll,
                .usage = "shardchannel [shardchannel ...]",
                .summary = "Listens to sharded channels, which are names of their own.",
                .since = "7.0.0",
                .run = ssubscribe},
               kListens),
    pubsub_row({.name = "sunsubscribe",
                .arity = -1,
                .keys = {1, -1, 1, 0, KeyUse::kNoKey},
                .usage = "[shardchannel [shardchannel ...]]",
                .summary = "Listens to sharded channels no longer, to none without arguments.",
                .since = "7.0.0",
                .run = sunsubscribe},
               kListens),
    pubsub_row({.name = "publish",
                .arity = 3,
                .channels = ChannelUse::kFirst,
                .usage = "channel message",
                .summary = "Sends a message to whoever listens; answers how many do.",
                .since = "2.0.0",
                .run = publish},
               kSpeaks),
    pubsub_row({.name = "spublish",
                .arity = 3,
                .keys = {1, 1, 1, 0, KeyUse::kNoKey},
                .channels = ChannelUse::kFirst,
                .usage = "shardchannel message",
                .summary = "Sends a message on a sharded channel.",
                .since = "7.0.0",
                .run = spublish},
               kSpeaks),
    pubsub_row({.name = "pubsub", .arity = -2, .summary = "Tells who listens.", .since = "2.8.0"},
               kContainer),
    pubsub_row({.name = "pubsub|channels",
                .arity = -2,
                .usage = "[pattern]",
                .summary = "Lists the channels that somebody listens to by name.",
                .since = "2.8.0",
                .run = channels},
               kPubsub),
    pubsub_row({.name = "pubsub|help",
                .arity = 2,
                .summary = "Lists the subcommands.",
                .since = "6.2.0",
                .run = container_help},
               0),
    pubsub_row({.name = "pubsub|numpat",
                .arity = 2,
                .summary = "Answers how many patterns are listened to.",
                .since = "2.8.0",
                .run = numpat},
               kPubsub),
    pubsub_row({.name = "pubsub|numsub",
                .arity = -2,
                .usage = "[channel [channel ...]]",
                .summary = "Answers how many listen to each channel by name.",
                .since = "2.8.0",
                .run = numsub},
               kPubsub),
    pubsub_row({.name = "pubsub|shardchannels",
                .arity = -2,
                .usage = "[pattern]",
                .summary = "Lists the sharded channels that somebody listens to.",
                .since = "7.0.0",
                .run = shard_channels},
               kPubsub),
    pubsub_row({.name = "pubsub|shardnumsub",
                .arity = -2,
                .usage = "[shardchannel [shardchannel ...]]",
                .summary = "Answers how many listen to each sharded channel.",
                .since = "7.0.0",
                .run = shard_numsub},
               kPubsub),
};

}  // namespace

Commands pubsub_commands() { return kPubsubCommands; }

}  // namespace weir::server
