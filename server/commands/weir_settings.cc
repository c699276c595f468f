// WEIR SETTINGS: what a cluster of shards has of policies, libraries and scripts, for people, and
// for the primaries of its other shards.
#include <string>
#include <vector>

#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

void tell_after(Call& call, std::string_view word) {
  const auto after = resp::parse_int64(word);
  if (!after || *after < 0)
    return call.reply.error("ERR the number of a change is expected after AFTER");
  const SettingsPage page =
      server_of(call).shard_role().settings().page(static_cast<uint64_t>(*after));
  call.work().charge_entries(page.items.size() + 1);
  write_settings_page(page, &call.reply);
}

// A shard has all if it has what this one has: digests are of everything that is there.
void reply_shard(Call& call, const KnownShard& shard, const std::string& own_digest) {
  const SettingsJournal& journal = call.limiters.settings;
  const uint64_t taken =
      shard.is_own ? journal.head().change : journal.taken_from(shard.name, shard.instance);
  const std::string& digest = shard.is_own ? own_digest : shard.settings_digest;
  call.reply.map(5);
  call.reply.bulk("shard");
  call.reply.bulk(shard.name);
  call.reply.bulk("change");
  call.reply.integer(static_cast<int64_t>(shard.is_own ? journal.head().change : shard.settings));
  call.reply.bulk("taken");
  call.reply.integer(static_cast<int64_t>(taken));
  call.reply.bulk("digest");
  call.reply.bulk(digest);
  call.reply.bulk("has_all");
  call.reply.integer(digest == own_digest ? 1 : 0);
}

void settings(Call& call) {
  const Membership* const member = server_of(call).shard_role().membership();
  if (!call.limiters.settings.is_on() || member == nullptr)
    return call.reply.error("ERR settings are this server's alone: it is in no cluster of shards");
  if (call.args.size() == 4 && equals_ignoring_case(call.args[2], "AFTER"))
    return tell_after(call, call.args[3]);
  if (call.args.size() != 2)
    return call.reply.error("ERR syntax error: WEIR SETTINGS takes AFTER change, or nothing");
  const SettingsHead head = call.limiters.settings.head();
  const std::string digest = digest_text_of(head);
  const std::vector<KnownShard> shards = member->known_shards();
  call.reply.map(5);
  call.reply.bulk("change");
  call.reply.integer(static_cast<int64_t>(head.change));
  call.reply.bulk("digest");
  call.reply.bulk(digest);
  call.reply.bulk("items");
  call.reply.integer(static_cast<int64_t>(head.there));
  call.reply.bulk("deleted");
  call.reply.integer(static_cast<int64_t>(head.deleted));
  call.reply.bulk("shards");
  call.reply.array(static_cast<int64_t>(shards.size()));
  for (const KnownShard& shard : shards) reply_shard(call, shard, digest);
}

constexpr Command kWeirSettingsCommands[] = {
    {.name = "weir|settings",
     .arity = -2,
     .flags = kAdmin | kReads | kNoScript | kNoMulti,
     .audit = Audit::kNo,
     .group = "server",
     .usage = "[AFTER change]",
     .summary = "Tells which shards of the cluster have all policies, libraries and scripts.",
     .since = "weir 0.1",
     .run = settings},
};

}  // namespace

Commands weir_settings_commands() { return kWeirSettingsCommands; }

}  // namespace weir::server
