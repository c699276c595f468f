#include "server/core/server.h"

#include <algorithm>
#include <cstring>

#include "server/acl/acl.h"
#include "server/core/client_list.h"
#include "server/os/log.h"
#include "server/os/machine.h"
#include "server/script/functions.h"
#include "server/script/scripts.h"
#include "storage/codec.h"

namespace weir::server {
namespace {

storage::KeyspaceOptions keyspace_options(const Config& config) {
  storage::KeyspaceOptions options;
  options.databases = static_cast<int>(config.databases);
  options.memory_bytes_max =
      static_cast<size_t>(config.maxmemory > 0 ? config.maxmemory : machine_memory_bytes() / 2);
  options.unwritten_max = static_cast<size_t>(config.write_back_entries_max);
  options.log_bytes_max = static_cast<uint64_t>(config.wal_bytes_max);
  options.write_back_interval_ns = config.write_back_interval_ms * 1'000'000;
  return options;
}

constexpr int64_t kUsPerMs = 1000;
constexpr int64_t kLatencyMsMax = INT64_MAX / 1'000'000;  // above it nothing can be measured

std::string hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

Server::Server(Config config, Clock* clock, StoreFactory make_store,
               std::span<const Commands> families, const Seeds& seeds)
    : config_(std::move(config)),
      clock_(clock),
      timeline_(clock),
      keys_(std::move(make_store), keyspace_options(config_)),
      executor_(this, families),
      acl_(std::make_unique<acl::Acl>(acl::Acl::Needs{
          .sessions = this, .config = &config_, .commands = &executor_.table(), .clock = clock})),
      scripts_(std::make_unique<script::Scripts>(this)),
      functions_(std::make_unique<script::Functions>(this)),
      pubsub_(this),
      monitors_(this, &config_),
      tracking_({.sessions = this,
                 .config = &config_,
                 .random = [this] { return random(); },
                 .use_changed = [this] { set_wanted_events(); }}),
      random_(seeds.choices),
      limiters_(&keys_, &waiting_, seeds.ids, static_cast<size_t>(config_.top_keys)),
      client_bounds_(this, &config_, &keys_),
      holds_(this),
      durability_(&config_, &keys_),
      checkpoints_(&config_, &keys_, clock),
      started_wall_ns_(clock->wall_ns()),
      started_steady_ns_(clock->steady_ns()) {
  set_event_classes(config_.notify_keyspace_events);
  set_slow_log_rules();
  run_id_ = (hex(random()) + hex(random()) + hex(random())).substr(0, 40);
}

Server::~Server() = default;

storage::Status Server::open() {
  if (const std::string error = acl_->open(); !error.empty()) return storage::Status::failed(error);
  storage::OpenReport report;
  if (storage::Status status = keys_.open(&report); !status.ok()) return status;
  const storage::Ref lead = keys_.look_up_system(kLeadKey);
  if (lead.exists()) stored_lead_ns_ = static_cast<int64_t>(storage::Reader(lead.value()).u64_le());
  timeline_.resume(keys_.instant_ns(), stored_lead_ns_);
  scripts_->open();
  functions_->open();
  if (!report.tail_note.empty()) spdlog::warn("{}", report.tail_note);
  spdlog::info("data opened: {}, {} turns written back, newest turn {}, {} entries replayed",
               report.created ? "new" : "existing", report.written_back_turn, keys_.turn(),
               keys_.figures().unwritten);
  return {};
}

storage::Status Server::close() {
  end_turn();
  if (keys_.store_failed()) return storage_failure_;
  return keys_.store().sync_now(keys_.turn());
}

Session* Server::connect(Peer peer, std::string* refusal) {
  if (sessions_.size() >= static_cast<size_t>(config_.maxclients)) {
    ++stats.connections_rejected;
    *refusal = "-ERR max number of clients reached\r\n";
    return nullptr;
  }
  if (config_.protected_mode && !acl_->asks_for_login() && !peer.loopback) {
    ++stats.connections_rejected;
    *refusal =
        "-DENIED weir runs in protected mode: it has no password and takes connections from this "
        "machine only. "
        "Set 'requirepass', or 'protected-mode no' if every host that can reach this port may use "
        "it.\r\n";
    return nullptr;
  }
  const uint64_t id = next_session_++;
  auto session = std::make_unique<Session>(this, id, std::move(peer));
  acl_->begin_session(*session);
  session->connected_ns = session->last_interaction_ns = clock_->steady_ns();
  ++stats.connections;
  return sessions_.emplace(id, std::move(session)).first->second.get();
}

void Server::disconnect(Session* session) {
  std::erase(in_turn_, session);
  std::erase(touched_, session);
  waiting_.remove(session->id);
  pubsub_.forget(*session);
  monitors_.forget(*session);
  tracking_.disable(*session);
  session->transaction.clear(keys_);
  sessions_.erase(session->id);
}

void Server::note_in_turn(Session* session) {
  if (turn_begin_steady_ns_ == 0) turn_begin_steady_ns_ = clock_->steady_ns();
  in_turn_.push_back(session);
}

void Server::kill(Session* session) {
  if (session->dead()) return;
  session->kill();
  if (!session->in_turn()) note_in_turn(session);
}

Session* Server::find_session(uint64_t id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

void Server::each_session(const std::function<void(Session&)>& visit) const {
  for (const auto& [id, session] : sessions_) visit(*session);
}

std::string Server::describe(const Session& session) const { return client_line(*this, session); }

std::shared_ptr<const acl::User> Server::default_user() const {
  return acl_->users().default_user();
}

bool Server::asks_for_login() const { return acl_->asks_for_login(); }

std::string Server::refusal_in_script(Session& session, const Command& command, Args args) {
  return acl_->refusal_in_script(session, command, args);
}

void Server::wait(Call& call, std::unique_ptr<Waiter> waiter) {
  waiter->session = call.session.id;
  waiter->database = call.database;
  waiter->command = &call.command;
  waiter->args.assign(call.args.begin(), call.args.end());
  call.session.begin_wait();
  waiting_.add(std::move(waiter));
}

void Server::serve_waiting() {
  if (waiting_.empty() || !keys_.usable()) return;
  if (!waiting_.anybody_ready(timeline_.now_ns())) return;
  executor_.serve_waiting();
  deliver_messages();
}

int64_t Server::next_wait_ns() {
  const int64_t at_ns = waiting_.next_ns();
  return at_ns == kNotDue ? kNotDue : std::max<int64_t>(at_ns - timeline_.now_ns(), 0);
}

Hold Server::hold_for(const Session& session, Args args) const {
  const bool owes = keys_.owes_too_much() && long_script_ == nullptr;
  if (!holds_.paused() && !owes) return Hold::kNone;
  const Command* command = executor_.table().resolve(args);
  if (command == nullptr) return Hold::kNone;
  if (holds_.pauses(session, *command)) return Hold::kPause;
  const uint32_t flags = command->flags | session.transaction.flags();
  return owes && (flags & (kWrites | kMayReplicate)) != 0 ? Hold::kWriteBack : Hold::kNone;
}

void Server::count_client_bytes(int64_t change) {
  client_bounds_.count(change);
  if (change > 0 && client_bounds_.exceeded() && !executor_.is_running()) client_bounds_.evict();
}

void Server::enforce_output_limit(Session* session) {
  client_bounds_.enforce_output_limit(session, clock_->steady_ns());
}

void Server::note_internal_error(std::string_view what) {
  ++stats.internal_errors;
  spdlog::error("a command met a bug and was taken back: {}", what);
}

void Server::note_protocol_error(const Session& session, const std::string& error) {
  note_error_reply("ERR");
  spdlog::debug("client {} ({}) closed: {}", session.id, session.peer.address, error);
}

void Server::note_cross_protocol_request(const Session& session) {
  spdlog::warn(
      "client {} ({}) closed: it sent POST or Host:, as a web page does that makes a browser talk "
      "to "
      "this port (possible SECURITY ATTACK by cross-protocol scripting)",
      session.id, session.peer.address);
}

void Server::note_query_buffer_overrun(const Session& session) {
  spdlog::warn(
      "client {} ({}) closed: its request is larger than client-query-buffer-limit ({} bytes)",
      session.id, session.peer.address, config_.client_query_buffer_limit);
}

void Server::note_error_reply(std::string_view line) {
  ++stats.error_replies;
  errors_.note(line);
}

void Server::set_slow_log_rules() {
  const int64_t latency_ms = std::min(config_.latency_monitor_threshold, kLatencyMsMax);
  latency_.set_threshold_ms(latency_ms);
  slow_log_.set_rules({.slower_than_us = config_.slowlog_log_slower_than,
                       .entries_max = config_.slowlog_max_len,
                       .suspects_from_us = latency_ms > 0 ? latency_ms * kUsPerMs : -1,
                       .coarse_step_ns = clock_->coarse_step_ns()});
}

void Server::apply_config(const std::vector<std::string>& changed) {
  for (const std::string& name : changed) {
    if (name == "loglevel") set_log_level(config_.loglevel);
    if (name == "notify-keyspace-events") set_event_classes(config_.notify_keyspace_events);
    if (name == "requirepass") acl_->set_default_password(config_.requirepass);
    if (name == "acl-pubsub-default") acl_->set_pubsub_default();
  }
  set_slow_log_rules();
  keys_.set_options(keyspace_options(config_));
  client_bounds_.note_options();
  const auto top_keys = static_cast<size_t>(config_.top_keys);
  if (top_keys == limiters_.top_denied.capacity()) return;
  limiters_.top_denied.reset(top_keys);
  limiters_.top_taken.reset(top_keys);
}

}  // namespace weir::server
