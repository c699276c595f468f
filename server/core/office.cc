#include "server/core/office.h"

#include "server/command/command_facts.h"
#include "server/core/policies_reload.h"
#include "server/core/server.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr std::string_view kUnblocked =
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";

}  // namespace

// Those who wait for channels do not ask for data. Libraries send SCRIPT LOAD to every server that
// they know, as to replicas of a Redis: a standby says what is wrong with the script, or its SHA-1.
Result<void, std::string> Office::admit_in_shard(const Session& session,
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

bool Office::leaves_early(const Command& command) const {
  return membership_ != nullptr && membership_->rules().leaves_early(command);
}

std::optional<uint64_t> Office::told_permits() const { return server_.limiters().takings.told(); }

void Office::look_again(const Command& command, std::optional<uint64_t> early_permits) {
  if (!membership_->serves() || !server_.keys().failure().ok()) return;
  const auto admitted = membership_->rules().admit({.writes = command.has(kWrites),
                                                    .leaves_early = early_permits.has_value(),
                                                    .permits = early_permits.value_or(0)});
  if (admitted) return;
  server_.limiters().verdicts.take_back();
  server_.keys().running().fail(storage::Status::aborted(admitted.error()));
}

storage::Status Office::begin(const storage::Status& disk) {
  if (membership_ == nullptr) return {};
  if (!disk.ok()) return disk;
  const auto begun = membership_->begin(&server_);
  return begun ? storage::Status() : storage::Status::failed(begun.error());
}

bool Office::lead_time() {
  if (instants_ != nullptr) server_.timeline().lead_by(instants_);
  return instants_ != nullptr;
}

void Office::follow_others(bool follows) {
  storage::KeyspaceOptions options = server_.keys().options();
  options.follows = follows;
  server_.keys().set_options(options);
}

void Office::forget_history() {
  server_.persistence().health.note_other_data();
  server_.persistence().durability->start_anew();
  server_.messages().tracking().everything_changed();
  server_.limiters().versions.forget();
  server_.limiters().ages = BookingAges();
}

void Office::take() {
  storage::Keyspace& keys = server_.keys();
  keys.running().begin_command(server_.timeline().now_ns());
  follow_others(false);
  forget_history();
  server_.scripting().scripts.open();
  server_.scripting().functions.open();
  server_.turn().commit_early();
  if (const auto read = reload_policies_between_turns(server_); !read)
    spdlog::warn("policies-file: {}", read.error());
  server_.turn().commit_early();
}

// They are answered with the next turn's end.
void Office::end_waits() {
  for (const uint64_t id : server_.waiting().forget_all()) {
    Session* session = server_.sessions().find_session(id);
    if (session == nullptr) continue;
    session->join_turn();
    session->replies().writer().error(kUnblocked);
    session->end_wait();
  }
}

void Office::cut_listeners() {
  server_.messages().tracking().everything_changed();
  server_.sessions().each_session([this](Session& session) {
    const Listening& listening = session.listening();
    if (listening.tracking.on || listening.subscribed()) server_.sessions().kill(&session);
  });
}

storage::Status Office::lose(bool has_other_data) {
  server_.turn().drop_held_after(0);
  end_waits();
  follow_others(true);
  const storage::Status status =
      server_.keys().reopen(has_other_data ? storage::Keep::kNothing : storage::Keep::kCommitted);
  server_.timeline().begin_anew();
  forget_history();
  cut_listeners();
  return status;
}

}  // namespace weir::server
