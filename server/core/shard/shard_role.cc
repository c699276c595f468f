#include "server/core/shard/shard_role.h"

#include <algorithm>
#include <vector>

#include "algorithms/words.h"
#include "base/time_units.h"
#include "server/command/command_facts.h"
#include "server/core/clients/messages.h"
#include "server/core/clients/sessions.h"
#include "server/core/disk/storage_health.h"
#include "server/core/disk/turn.h"
#include "server/limiter/take/limiters.h"
#include "server/os/log.h"
#include "server/script/run/functions.h"
#include "server/script/run/scripts.h"

namespace weir::server {
namespace {

constexpr std::string_view kUnblocked =
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";
// A page has hundreds: so many have a line of the audit each, and the others one together.
constexpr uint64_t kSettingsToldMax = 20;

std::string_view word_of(SettingKind kind) {
  switch (kind) {
    case SettingKind::kPolicy:
      return "policy";
    case SettingKind::kOverride:
      return "override";
    case SettingKind::kLibrary:
      return "library";
    case SettingKind::kScript:
      return "script";
    case SettingKind::kFileEpoch:
      return "file-epoch";
  }
  return "";
}

std::string shown_name(const SettingKey& key) {
  const auto override =
      key.kind == SettingKind::kOverride ? parse_override_setting_name(key.name) : std::nullopt;
  if (!override) return algorithms::shown(key.name);
  return algorithms::shown(override->policy) + (override->is_prefix ? " PREFIX " : " KEY ") +
         algorithms::shown(override->name);
}

// Of what another shard's primary has told, by the changes that came after a number.
void audit_settings(const SettingsJournal& journal, uint64_t after, std::string_view shard) {
  const uint64_t newest = journal.head().change;
  const uint64_t last = std::min(newest, after + kSettingsToldMax);
  for (uint64_t change = after; change < last;) {
    const auto key = journal.at(++change);
    if (!key) continue;  // the page has changed it again
    const auto entry = journal.find(key->kind, key->name);
    std::vector<LogField> fields = {{"shard", std::string(shard)},
                                    {"kind", std::string(word_of(key->kind))},
                                    {"name", shown_name(*key)}};
    if (entry && entry->is_deleted) fields.push_back({"deleted", "1"});
    log_always(EventLevel::kInfo, "audit: settings", fields);
  }
  if (last == newest) return;
  const LogField fields[] = {{"shard", std::string(shard)},
                             {"more", std::to_string(newest - last)}};
  log_always(EventLevel::kInfo, "audit: settings", fields);
}

}  // namespace

ShardRole::ShardRole(Needs needs)
    : needs_(std::move(needs)),
      membership_(needs_.membership),
      settings_({.config = needs_.config,
                 .keys = needs_.keys,
                 .limiters = needs_.limiters,
                 .scripts = needs_.scripts,
                 .functions = needs_.functions}) {}

// Those who wait for channels do not ask for data. Libraries send SCRIPT LOAD to every server that
// they know, as to replicas of a Redis: a standby says what is wrong with the script, or its SHA-1.
Result<void, std::string> ShardRole::admit_in_shard(const Session& session,
                                                    const Command& command) const {
  constexpr uint32_t kOfData = kReads | kWrites | kMayReplicate;
  const uint32_t flags = command.has(kRunsQueued) ? session.transaction().flags() : command.flags;
  const bool is_of_data = (flags & kOfData) != 0 || (has_keys(command) && !command.has(kPubsub));
  if (!is_of_data) return {};
  if (!membership_->serves()) {
    if (command.name == "script|load") return {};
    return membership_->refusal();
  }
  return membership_->rules().admit(
      {.writes = (flags & (kWrites | kMayReplicate)) != 0,
       .leaves_early = !session.transaction().open() && leaves_early(command)});
}

bool ShardRole::leaves_early(const Command& command) const {
  return membership_ != nullptr && membership_->rules().leaves_early(command);
}

std::optional<uint64_t> ShardRole::told_permits() const { return needs_.limiters->takings.told(); }

ShardRole::Outcome ShardRole::after_in_shard(const Command& command) {
  const std::optional<uint64_t> permits = early_permits(command);
  const bool is_taken_back = fails_late(command, permits);
  return {.early_permits = is_taken_back ? std::nullopt : permits,
          .is_taken_back = is_taken_back,
          .waits_for_commits = command.has(kTellsOfCommits)};
}

// Asks again, now that it is known how many permits the reply tells of.
bool ShardRole::fails_late(const Command& command, std::optional<uint64_t> early_permits) {
  if (!command.has(kTakes | kCounts) || !membership_->serves() || !needs_.keys->failure().ok())
    return false;
  const auto admitted = membership_->rules().admit({.writes = command.has(kWrites),
                                                    .leaves_early = early_permits.has_value(),
                                                    .permits = early_permits.value_or(0)});
  if (admitted) return false;
  needs_.keys->running().fail(storage::Status::aborted(admitted.error()));
  return true;
}

storage::Status ShardRole::begin(Server* server, const storage::Status& disk) {
  if (membership_ == nullptr) return {};
  if (!disk.ok()) return disk;
  const auto begun = membership_->begin(server);
  return begun ? storage::Status() : storage::Status::failed(begun.error());
}

bool ShardRole::lead_time() {
  if (needs_.instants == nullptr) return false;
  needs_.timeline->lead_by(needs_.instants);
  return true;
}

void ShardRole::follow_others(bool follows) {
  storage::KeyspaceOptions options = needs_.keys->options();
  options.follows = follows;
  needs_.keys->set_options(options);
}

void ShardRole::forget_history() {
  needs_.health->note_other_data();
  needs_.durability->start_anew();
  needs_.messages->tracking().everything_changed();
  needs_.limiters->versions.forget();
  needs_.limiters->ages = BookingAges();
  needs_.limiters->callers = {};
}

void ShardRole::promote() {
  storage::Keyspace& keys = *needs_.keys;
  keys.running().begin_command(needs_.timeline->now_ns());
  follow_others(false);
  forget_history();
  needs_.scripts->open();
  needs_.functions->open();
  needs_.turn->commit_early();
  if (const auto shard = membership_->view().settings_shard; shard) {
    keys.running().begin_command(needs_.timeline->now_ns());
    settings_.begin(*shard);
    needs_.turn->commit_early();
  }
  needs_.read_policies();
  needs_.turn->commit_early();
}

bool ShardRole::take_settings(std::string_view shard, const storage::ShardInstance& instance,
                              const SettingsPage& page) {
  storage::Keyspace& keys = *needs_.keys;
  if (!serves() || !keys.usable() || needs_.health->writes_denied()) return false;
  keys.running().begin_command(needs_.timeline->now_ns());
  const int64_t wall_ms = needs_.timeline->wall().at(keys.running().now_ns()) / kNsPerMs;
  const SettingsJournal& journal = needs_.limiters->settings;
  const uint64_t before = journal.head().change;
  const size_t count =
      settings_.take({.shard = shard, .instance = instance, .wall_ms = wall_ms}, page);
  if (!keys.failure().ok()) {
    keys.running().roll_back();
    needs_.health->note_other_data();  // libraries and scripts are as the records have them
    return false;
  }
  if (count > 0) {
    log_info("{} settings of shard {} are taken over", count, shard);
    needs_.waiting->signal_all();
  }
  needs_.turn->commit_early();
  if (count > 0) audit_settings(journal, before, shard);
  return true;
}

void ShardRole::forget_settings() {
  constexpr uint64_t kAtOnce = 100;
  storage::Keyspace& keys = *needs_.keys;
  if (!serves() || !keys.usable() || needs_.health->writes_denied()) return;
  keys.running().begin_command(needs_.timeline->now_ns());
  forgotten_up_to_ = needs_.limiters->settings.forget_some(forgotten_up_to_, kAtOnce);
  if (keys.failure().ok()) return needs_.turn->commit_early();
  keys.running().roll_back();
}

// They are answered with the next turn's end.
void ShardRole::end_waits() {
  for (const auto& waiter : needs_.waiting->take_all()) {
    Session* session = needs_.sessions->find_session(waiter->session);
    if (session == nullptr) continue;
    const std::string led = end_of_wait_(*session, *waiter);
    session->join_turn();
    session->replies().writer().error(led.empty() ? kUnblocked : led);
    session->end_wait();
  }
}

void ShardRole::cut_listeners() {
  needs_.messages->tracking().everything_changed();
  needs_.sessions->each_session([this](Session& session) {
    const Listening& listening = session.listening();
    if (listening.tracking.on || listening.subscribed()) needs_.sessions->kill(&session);
  });
}

storage::Status ShardRole::demote(bool has_other_data) {
  needs_.limiters->settings.end();
  needs_.turn->drop_pending_after(0);
  end_waits();
  follow_others(true);
  const storage::Status status =
      needs_.keys->reopen(has_other_data ? storage::Keep::kNothing : storage::Keep::kCommitted);
  needs_.timeline->begin_anew();
  forget_history();
  cut_listeners();
  return status;
}

}  // namespace weir::server
