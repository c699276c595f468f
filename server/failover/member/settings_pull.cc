#include "server/failover/member/settings_pull.h"

#include <utility>

#include "base/one_line.h"
#include "base/time_units.h"
#include "server/cluster/setting_item.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

// An answer that is on its way is looked for so often.
constexpr int64_t kLookForPageNs = 5 * kNsPerMs;
// Between two pages clients are served.
constexpr int64_t kNextPageNs = 20 * kNsPerMs;
constexpr int64_t kForgetEveryNs = kNsPerS;
// Of what a peer has answered, in a line of the log.
constexpr size_t kPageErrorBytesMax = 200;

}  // namespace

void SettingsPull::ask(const KnownShard& shard, uint64_t after) {
  const KnownMember* const primary = shard.primary();
  const std::string address = primary == nullptr ? std::string() : primary->told.address();
  if (address.empty()) return;
  asked_.insert(shard.name);
  peers_->ask(
      {.lane = "settings of " + shard.name,
       .address = address,
       .words = {"WEIR", "SETTINGS", "AFTER", std::to_string(after)}},
      [this, name = shard.name, instance = shard.instance, after](const Peers::Answer& answer) {
        told_.push_back({.shard = name, .instance = instance, .after = after, .answer = answer});
      },
      clock_.boot_ns());
}

// A shard that has more is asked for its next page soon; one that failed waits for the next look.
void SettingsPull::take(const Told& told, Server* server) {
  asked_.erase(told.shard);
  const auto page = told.answer ? read_settings_page(*told.answer, told.after)
                                : Result<SettingsPage, std::string>(told.answer.error());
  if (!page) {
    // Whose primary is gone just now is told of by the cluster's watch.
    if (told.answer && unread_.insert(told.shard).second)
      log_warning("the settings of shard {} cannot be read: {}", told.shard,
                  one_line(page.error().substr(0, kPageErrorBytesMax)));
    return;
  }
  unread_.erase(told.shard);
  // What this shard had was taken over by another primary of it meanwhile, or is asked for anew.
  const SettingsJournal& journal = server->limiters().settings;
  if (journal.taken_from(told.shard, told.instance) != told.after) return;
  if (!server->shard_role().take_settings(told.shard, told.instance, *page)) return;
  if (page->has_more && page->up_to > told.after) ask_at_ns_ = clock_.boot_ns() + kNextPageNs;
}

void SettingsPull::ask_all(const Membership& membership, Server* server) {
  const SettingsJournal& journal = server->limiters().settings;
  for (const KnownShard& shard : membership.known_shards()) {
    if (shard.is_own || asked_.contains(shard.name)) continue;
    const uint64_t after = journal.taken_from(shard.name, shard.instance);
    if (shard.settings != after) ask(shard, after);
  }
  const int64_t now_ns = clock_.boot_ns();
  if (now_ns < forget_at_ns_) return;
  forget_at_ns_ = now_ns + kForgetEveryNs;
  server->shard_role().forget_settings();
}

void SettingsPull::act(const Membership& membership, Server* server) {
  const int64_t now_ns = clock_.boot_ns();
  if (now_ns < look_at_ns_) return;
  peers_->deliver(now_ns);
  if (!told_.empty()) {
    const Told told = std::move(told_.front());
    told_.erase(told_.begin());
    take(told, server);
  }
  if (now_ns >= ask_at_ns_) {
    ask_at_ns_ = now_ns + kEveryNs;
    if (membership.serves() && server->limiters().settings.is_on()) ask_all(membership, server);
  }
  look_at_ns_ = !told_.empty()        ? INT64_MIN
                : peers_->is_asking() ? now_ns + kLookForPageNs
                                      : std::max(now_ns, std::min(ask_at_ns_, now_ns + kEveryNs));
}

}  // namespace weir::server
