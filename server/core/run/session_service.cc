#include "server/core/run/session_service.h"

#include "server/acl/acl.h"
#include "server/command/command_errors.h"
#include "server/command/command_facts.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr size_t kTurnBytesMax = 64 << 20;  // of changes; then the turn ends

}  // namespace

std::shared_ptr<const acl::User> SessionService::default_user() const {
  return needs_.acl->users().default_user();
}

bool SessionService::asks_for_login() const { return needs_.acl->asks_for_login(); }

void SessionService::note_in_turn(Session* session) { needs_.turn->add(session); }

bool SessionService::is_busy() const { return needs_.scripting->busy.current() != nullptr; }

// Sessions that are served while a script runs long have no part in its turn.
bool SessionService::turn_is_full() const {
  return needs_.keys->running().dirty_bytes().turn_bytes() > kTurnBytesMax && !is_busy();
}

// While a script runs long every session has a whole slice: the script may have used up the turn's
// work, and only another client can end it.
uint64_t SessionService::slice_end() const {
  return is_busy() ? work().units() + WorkMeter::kSliceUnits : work().slice_end();
}

void SessionService::note_pressure() {
  is_pressed_ = needs_.keys->running().dirty_bytes().too_much() || turn_is_full() ||
                needs_.sessions->holds().paused();
}

Hold SessionService::hold_for(const Session& session, Args args) const {
  const bool owes = needs_.keys->running().dirty_bytes().too_much() && !is_busy();
  if (!needs_.sessions->holds().paused() && !owes) return Hold::kNone;
  const Command* command = needs_.executor->table().resolve(args);
  if (command == nullptr || !arity_fits(*command, args.size())) return Hold::kNone;
  if (needs_.sessions->holds().pauses(session, *command, *needs_.host, args)) return Hold::kPause;
  const uint32_t flags = command->flags | session.transaction().flags();
  return owes && (flags & (kWrites | kMayReplicate)) != 0 ? Hold::kWriteBack : Hold::kNone;
}

// The keys are at the places that the row tells, save those that options name.
void SessionService::expect(const Session& session, Args args) {
  const Command* command = sought_.full() ? nullptr : needs_.executor->resolve(args);
  if (command == nullptr || !has_keys(*command)) return;
  const int database = session.client().database();
  each_placed_key(*command, args, [&](size_t at) { sought_.add(database, args[at]); });
}

void SessionService::expect_first(const Session& session, std::string_view bytes) {
  const bool begins_a_request = session.input().empty() && !session.closing();
  if (!begins_a_request || is_busy()) return;
  if (requests_ahead_.fill(bytes, {}, 1) > 0) expect(session, requests_ahead_.args(0));
}

Ran SessionService::execute(Session& session, Args args) {
  const Ran ran = needs_.executor->execute(session, args);
  looked_ns_ = needs_.timeline->looked_steady_ns();
  note_pressure();
  return ran;
}

// While a script runs long, the messages that wait are those of a command that has not ended.
void SessionService::deliver_messages() {
  if (!is_busy()) needs_.messages->deliver();
}

void SessionService::count_client_bytes(Session& session, int64_t change) {
  ClientBounds& bounds = needs_.sessions->bounds();
  bounds.count(&session, change);
  if (change > 0 && bounds.exceeded() && !needs_.executor->is_running()) bounds.evict();
}

void SessionService::count_received(size_t bytes) {
  Stats& stats = needs_.report->stats;
  stats.bytes_in += bytes;
  ++stats.reads;
}

void SessionService::count_sent(size_t bytes) {
  Stats& stats = needs_.report->stats;
  stats.bytes_out += bytes;
  ++stats.writes;
}

void SessionService::note_protocol_error(const Session& session, const std::string& error) {
  needs_.report->note_error_reply("ERR");
  log_debug("client {} ({}) closed: {}", session.id, session.client().peer().address, error);
}

void SessionService::note_query_buffer_overrun(const Session& session) {
  log_warning(
      "client {} ({}) closed: its request is larger than client-query-buffer-limit ({} bytes)",
      session.id, session.client().peer().address, config().client_query_buffer_limit);
}

}  // namespace weir::server
