#include "server/core/run/session_service.h"

#include "server/acl/acl.h"
#include "server/command/command_errors.h"
#include "server/core/run/server.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr size_t kTurnBytesMax = 64 << 20;  // of changes; then the turn ends

}  // namespace

SessionService::SessionService(Server* server)
    : SessionHost(&server->config(), &server->work()), server_(*server) {}

std::shared_ptr<const acl::User> SessionService::default_user() const {
  return server_.acl().users().default_user();
}

bool SessionService::asks_for_login() const { return server_.acl().asks_for_login(); }

void SessionService::note_in_turn(Session* session) { server_.turn().add(session); }

bool SessionService::is_busy() const { return server_.scripting().busy.current() != nullptr; }

// Sessions that are served while a script runs long have no part in its turn.
bool SessionService::turn_is_full() const {
  return server_.keys().running().debt().turn_bytes() > kTurnBytesMax && !is_busy();
}

// While a script runs long every session has a whole slice: the script may have used up the turn's
// work, and only another client can end it.
uint64_t SessionService::slice_end() const {
  return is_busy() ? work().units() + WorkMeter::kSliceUnits : work().slice_end();
}

void SessionService::note_pressure() {
  is_pressed_ = server_.keys().running().debt().too_much() || turn_is_full() ||
                server_.sessions().holds().paused();
}

Hold SessionService::hold_for(const Session& session, Args args) const {
  const bool owes = server_.keys().running().debt().too_much() && !is_busy();
  if (!server_.sessions().holds().paused() && !owes) return Hold::kNone;
  const Command* command = server_.executor().table().resolve(args);
  if (command == nullptr || !arity_fits(*command, args.size())) return Hold::kNone;
  if (server_.sessions().holds().pauses(session, *command, server_, args)) return Hold::kPause;
  const uint32_t flags = command->flags | session.transaction().flags();
  return owes && (flags & (kWrites | kMayReplicate)) != 0 ? Hold::kWriteBack : Hold::kNone;
}

Ran SessionService::execute(Session& session, Args args) {
  const Ran ran = server_.executor().execute(session, args);
  looked_ns_ = server_.timeline().looked_steady_ns();
  note_pressure();
  return ran;
}

// While a script runs long, the messages that wait are those of a command that has not ended.
void SessionService::deliver_messages() {
  if (!is_busy()) server_.messages().deliver();
}

void SessionService::count_client_bytes(Session& session, int64_t change) {
  ClientBounds& bounds = server_.sessions().bounds();
  bounds.count(&session, change);
  if (change > 0 && bounds.exceeded() && !server_.executor().is_running()) bounds.evict();
}

void SessionService::count_received(size_t bytes) {
  Stats& stats = server_.report().stats;
  stats.bytes_in += bytes;
  ++stats.reads;
}

void SessionService::count_sent(size_t bytes) {
  Stats& stats = server_.report().stats;
  stats.bytes_out += bytes;
  ++stats.writes;
}

void SessionService::note_protocol_error(const Session& session, const std::string& error) {
  server_.report().note_error_reply("ERR");
  spdlog::debug("client {} ({}) closed: {}", session.id, session.client().peer().address, error);
}

void SessionService::note_query_buffer_overrun(const Session& session) {
  spdlog::warn(
      "client {} ({}) closed: its request is larger than client-query-buffer-limit ({} bytes)",
      session.id, session.client().peer().address, config().client_query_buffer_limit);
}

}  // namespace weir::server
