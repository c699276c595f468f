#include "server/core/run/server.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/time_units.h"
#include "server/config/memory_share.h"
#include "server/core/disk/stored_meaning.h"
#include "server/core/run/cluster.h"
#include "server/core/run/minute_totals.h"
#include "server/core/run/policies_reload.h"
#include "server/os/log.h"
#include "server/os/memory_limit.h"

namespace weir::server {
namespace {

constexpr int64_t kWorkSliceNs = kNsPerMs;

// Of those that `options` say, the configuration decides these.
storage::KeyspaceOptions configured(storage::KeyspaceOptions options, const Config& config) {
  options.databases = static_cast<int>(config.databases);
  options.memory_bytes_max = static_cast<size_t>(maxmemory_bytes(config, memory_limit().bytes));
  options.name_bytes_max = static_cast<size_t>(config.key_bytes_max);
  options.unwritten_max = static_cast<size_t>(config.write_back_entries_max);
  options.log_bytes_max = static_cast<uint64_t>(config.wal_bytes_max);
  options.write_back_interval_ns = config.write_back_interval_ms * kNsPerMs;
  return options;
}

std::string hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// Whoever waits is tried at once under the new rule.
void apply_limiting(const Config& config, Limiters* limiters) {
  limiters->limiting = config.limiting;
  limiters->waiting.signal_all();
  if (config.limiting == Limiting::kOn) return;
  log_warning("limiting is {}: no limiter denies anything", limiting_name(config.limiting));
}

// The audit ends with `nothing`, so that waits until the turn's lines are written.
void apply_log_level(Server& server) {
  const LogLevel level = server.config().loglevel;
  server.executor().audit_trail().set_ending(level == LogLevel::kNothing);
  if (level != LogLevel::kNothing) set_log_level(level);
}

// The files of tls-* that are in use.
std::vector<std::string> tls_files(const Config& config) {
  std::vector<std::string> paths;
  for (const std::string* path : {&config.tls_cert_file, &config.tls_key_file,
                                  &config.tls_ca_cert_file, &config.tls_ca_cert_dir})
    if (!path->empty()) paths.push_back(*path);
  return paths;
}

// What a change of an option does at once. What is only read from now on has no row, and what
// several options decide together is set after every change.
struct OptionEffect {
  std::string_view option;
  void (*happen)(Server& server);
};

constexpr OptionEffect kOptionEffects[] = {
    {"loglevel", apply_log_level},
    {"notify-keyspace-events",
     [](Server& server) {
       server.messages().set_event_classes(server.config().notify_keyspace_events);
     }},
    {"requirepass",
     [](Server& server) { server.acl().set_default_password(server.config().requirepass); }},
    {"acl-pubsub-default", [](Server& server) { server.acl().set_pubsub_default(); }},
    {"limiting",
     [](Server& server) {
       apply_limiting(server.config(), &server.limiters());
       if (server.config().limiting == Limiting::kOn) log_warning("limiting is on again");
     }},
    {"tracking-table-max-keys", [](Server& server) { server.messages().tracking().limit_keys(); }}};

}  // namespace

Server::Server(Config config, Clock* clock, StoreFactory make_store,
               std::span<const Commands> lists, const Seeds& seeds, const Replication& replication)
    : CallHost(*this),
      config_(std::move(config)),
      clock_(*clock),
      timeline_(clock),
      keys_(std::move(make_store), configured({.follows = replication.membership != nullptr,
                                               .log = replication.log,
                                               .meaning = std::make_shared<StoredMeaning>()},
                                              config_)),
      random_(seeds.choices),
      report_(clock),
      limiters_(&keys_, &waiting_, &work(), seeds.ids, static_cast<size_t>(config_.top_keys)),
      commands_(lists),
      session_service_({.host = this,
                        .config = &config_,
                        .timeline = &timeline_,
                        .keys = &keys_,
                        .report = &report_,
                        .acl = &acl_,
                        .executor = &executor_,
                        .sessions = &sessions_,
                        .messages = &messages_,
                        .turn = &turn_,
                        .scripting = &scripting_}),
      sessions_({.host = &session_service_,
                 .config = &config_,
                 .clock = clock,
                 .keys = &keys_,
                 .report = &report_}),
      acl_({.sessions = &sessions_, .config = &config_, .commands = &commands_, .clock = clock}),
      messages_(&sessions_, &config_, &keys_, &work(), [this] { return random(); }),
      persistence_(&config_, clock, &timeline_, &keys_, replication.make_durability),
      turn_({.config = &config_,
             .clock = clock,
             .clock_keeper = &persistence_.clock_keeper,
             .keys = &keys_,
             .sessions = &sessions_,
             .waiting = &waiting_,
             .holds = &sessions_.holds(),
             .durability = persistence_.durability.get(),
             .health = &persistence_.health,
             .report = &report_}),
      scripting_({.host = {.call_host = this,
                           .config = &config_,
                           .clock = clock,
                           .keys = &keys_,
                           .commands = &commands_,
                           .acl = &acl_},
                  .executor = &executor_,
                  .shard_role = &shard_role_,
                  .health = &persistence_.health,
                  .turn = &turn_}),
      shard_role_({.config = &config_,
                   .membership = replication.membership,
                   .instants = replication.instants,
                   .timeline = &timeline_,
                   .keys = &keys_,
                   .sessions = &sessions_,
                   .waiting = &waiting_,
                   .messages = &messages_,
                   .limiters = &limiters_,
                   .health = &persistence_.health,
                   .durability = persistence_.durability.get(),
                   .turn = &turn_,
                   .scripts = &scripting_.scripts,
                   .functions = &scripting_.functions,
                   .read_policies =
                       [this] {
                         if (const auto read = read_policies(); !read)
                           log_warning("policies-file: {}", read.error());
                       }}),
      executor_({.host = this,
                 .commands = &commands_,
                 .config = &config_,
                 .clock = clock,
                 .timeline = &timeline_,
                 .keys = &keys_,
                 .report = &report_,
                 .waiting = &waiting_,
                 .limiters = &limiters_,
                 .sessions = &sessions_,
                 .acl = &acl_,
                 .messages = &messages_,
                 .health = &persistence_.health,
                 .shard_role = &shard_role_,
                 .busy = &scripting_.busy}) {
  set_wall(&timeline_.wall());
  sessions_.bounds().set_shared(&messages_.tracking());
  reload_.add("log", reopen_log);  // first, so that the new log has the others' lines
  if (uses_tls(config_)) {
    reload_.add(
        "tls", [this] { return sessions_.tls().load(config_); },
        [this] { return tls_files(config_); });
  }
  if (!config_.policies_file.empty()) {
    const auto path = (std::filesystem::path(config_.dir) / config_.policies_file).string();
    reload_.add(
        "policies-file", [this] { return read_policies(); }, [path] { return std::vector{path}; });
  }
  if (!config_.cluster_topology.empty())
    reload_.add(
        "cluster-topology", [this] { return reload_topology(); },
        [this] { return std::vector{config_.cluster_topology}; });
  apply_limiting(config_, &limiters_);
  report_.set_rules(config_);
  report_.run_id = (hex(random()) + hex(random()) + hex(random())).substr(0, 40);
}

storage::Status Server::open(OpeningLines::Tell tell) {
  look_at_files();  // before they are read, or a change while the data is opened is missed
  if (const auto opened = acl_.open(); !opened) return storage::Status::failed(opened.error());
  if (uses_tls(config_)) {
    if (const auto loaded = sessions_.tls().load(config_); !loaded)
      return storage::Status::failed(loaded.error());
  }
  storage::OpenReport report;
  OpeningLines lines(&clock_, std::move(tell));
  const auto watch = [&lines](const storage::OpeningStep& step) { lines.note(step); };
  if (storage::Status status = keys_.open(&report, watch); !status.ok()) return status;
  persistence_.health.note_opening(report);
  if (!shard_role_.lead_time()) persistence_.clock_keeper.resume();
  keys_.running().begin_command(timeline_.now_ns());
  if (const auto opened = executor_.cluster().open(); !opened)
    return storage::Status::failed(opened.error());
  scripting_.scripts.open();
  scripting_.functions.open();
  if (!report.tail_note.empty()) log_warning("{}", report.tail_note);
  if (report.created) {
    log_info("data opened: new");
  } else {
    log_info("data opened: existing, {} turns written back, newest turn {}, {} entries replayed",
             report.written_back_turn, keys_.turn(), keys_.metrics().unwritten);
  }
  if (const auto read = read_policies(); !read) {
    if (!persistence_.health.writes_denied()) return storage::Status::failed(read.error());
    log_warning("policies-file: {}", read.error());
  }
  return shard_role_.begin(this, report.read_only);
}

storage::Status Server::close() {
  end_turn();
  executor_.audit_trail().close();
  persistence_.health.look_at_the_end();
  if (keys_.store_in_use().failed()) return persistence_.health.failure();
  return keys_.store_in_use()->sync_now();
}

Result<Session*, std::string> Server::connect(Peer peer) {
  auto session = sessions_.add(std::move(peer));
  if (session) acl_.begin_session(**session);
  return session;
}

Result<Reloaded, std::string> Server::read_policies() {
  const PoliciesNeeds needs{.config = &config_,
                            .limiters = &limiters_,
                            .keys = &keys_,
                            .timeline = &timeline_,
                            .host = this};
  auto read = reload_policies_between_turns(needs, persistence_.health, &executor_.audit_trail());
  if (read && *read == Reloaded::kNew) waiting_.signal_all();  // no command has run that would have
  return read;
}

Result<Reloaded, std::string> Server::reload_topology() {
  if (!keys_.usable()) return std::string("the data cannot be read");
  keys_.running().begin_command(timeline_.now_ns());
  Cluster& cluster = executor_.cluster();
  if (auto read = cluster.reload(); !read || *read == Reloaded::kSame) return read;
  waiting_.end_moved(
      [&](Waiter& waiter) { return cluster.is_moved(*waiter.command, waiter.arguments()); });
  messages_.pubsub().end_moved(
      [&](std::string_view channel) { return cluster.is_moved(hash_slot(channel)); });
  return Reloaded::kNew;
}

void Server::disconnect(Session* session) {
  turn_.forget(*session);
  waiting_.remove(session->id);
  sessions_.holds().forget(*session);
  messages_.forget(*session);
  session->transaction().clear(keys_);
  sessions_.remove(*session);
}

void Server::notify(EventClass event_class, std::string_view event, int database,
                    std::string_view key) {
  messages_.notify(event_class, event, database, key);
}

void Server::wait(Call& call, std::unique_ptr<Waiter> waiter) {
  waiter->session = call.session.id;
  waiter->began_ns = call.now_ns;
  waiter->database = call.database;
  waiter->command = &call.command;
  waiter->args.assign(call.args.begin(), call.args.end());
  const WaitState::Bytes bytes{.all = waiter->memory_bytes(), .words = waiter->words_bytes()};
  waiting_.add(std::move(waiter));
  call.session.wait_state().begin(bytes);
}

void Server::serve_waiting() {
  if (waiting_.empty() || !keys_.usable() || !shard_role_.serves()) return;
  if (!waiting_.anybody_ready(timeline_.now_ns())) return;
  executor_.serve_waiting();
  session_service_.deliver_messages();
}

int64_t Server::next_wait_ns() {
  const auto until = [](int64_t at_ns, int64_t now_ns) {
    return at_ns == kNotDue ? kNotDue : std::max<int64_t>(at_ns - now_ns, 0);
  };
  int64_t wait_ns = shard_role_.next_ns();
  if (shard_role_.serves())
    wait_ns = std::min(wait_ns, until(waiting_.next_ns(), timeline_.now_ns()));
  const int64_t ask_at_ns = turn_.ask_at_ns();
  return ask_at_ns == kNotDue ? wait_ns : std::min(wait_ns, until(ask_at_ns, clock_.steady_ns()));
}

void Server::end_turn() {
  if (sessions_.bounds().exceeded()) sessions_.bounds().evict();  // the shared names have grown
  session_service_.deliver_messages();
  turn_.end();
  executor_.audit_trail().end_turn(report_.stats.turns_failed);
  work_a_slice();
  sessions_.holds().end_turn(keys_.running().dirty_bytes().too_much());
  session_service_.note_pressure();
  if (keys_.work().stuck() && persistence_.health.denies()) turn_.give_up_writing_back();
  timeline_.synchronise();
  shard_role_.act();
  work().begin_turn();
}

// The keyspace's work after the turn, until its slice of time is used up.
void Server::work_a_slice() {
  const int64_t begin_ns = report_.loop.since_ns();
  int64_t write_back_ns = 0;
  keys_.work().step(begin_ns, [&](storage::WorkPart part) {
    const int64_t before_ns = report_.loop.since_ns();
    const int64_t now_ns = clock_.steady_ns();
    report_.end_phase(storage::name_of(part), now_ns);
    if (part == storage::WorkPart::kWriteBack) write_back_ns += now_ns - before_ns;
    return now_ns - begin_ns < kWorkSliceNs;
  });
  report_.note_latency("write-back", write_back_ns);
}

void Server::tick() {
  report_.loop.begin(clock_.steady_ns());
  timeline_.synchronise();
  persistence_.clock_keeper.look();
  // If the wall clock was set back, that is written though nobody writes, or who is killed next
  // would start at earlier instants than its readers saw. No reader is answered the disk's error.
  const bool is_own_clock = !timeline_.is_led();
  if (is_own_clock && persistence_.clock_keeper.lead_has_grown() &&
      !keys_.store_in_use().failed()) {
    persistence_.clock_keeper.store();
    turn_.commit_early();
  }
  keys_.running().begin_command(timeline_.now_ns());
  drop_overrides();
  sessions_.holds().end_pause_when_due(clock_.steady_ns());
  session_service_.note_pressure();
  sessions_.end_idle();
  persistence_.health.look();
  const bool recovers = keys_.store_in_use().failed();
  if (persistence_.health.try_to_recover()) {
    messages_.tracking().everything_changed();
    persistence_.durability->start_anew();
  }
  if (recovers) report_.end_phase("recovery", clock_.steady_ns());
  persistence_.checkpoints.advance();
  sessions_.tls().look_at_the_end(clock_.wall_ns() / kNsPerS);
  look_at_files();
  executor_.audit_trail().tick();
  report_.sample_rates();
  end_minute_if_due(clock_, limiters_.verdicts, executor_, &report_);
  size_t& peak = report_.stats.working_set_bytes_max;
  peak = std::max(peak, keys_.metrics().bytes);
  report_.end_phase("tick", clock_.steady_ns());
}

// A slice of what deleted policies leave to be erased.
void Server::drop_overrides() {
  if (!keys_.usable() || keys_.store_in_use().failed() || !shard_role_.serves()) return;
  limiters_.policies.drop_some();
  if (!keys_.failure().ok()) keys_.running().roll_back();
}

void Server::look_at_files() {
  if (!config_.watch_files) return reload_.forget_files();
  reload_.run_if_changed(clock_.steady_ns());
}

void Server::apply_config(const std::vector<std::string>& changed) {
  for (const OptionEffect& effect : kOptionEffects) {
    if (std::find(changed.begin(), changed.end(), effect.option) != changed.end())
      effect.happen(*this);
  }
  if (std::find(changed.begin(), changed.end(), "watch-files") != changed.end())
    reload_.forget_files();
  if (config_.watch_files)
    reload_.note_files();  // at once, or what changes until the next tick is missed
  report_.set_rules(config_);
  keys_.set_options(configured(keys_.options(), config_));
  sessions_.bounds().note_options();
  const auto top_keys = static_cast<size_t>(config_.top_keys);
  if (top_keys != limiters_.top.denied.capacity()) limiters_.top.reset(top_keys);
}

}  // namespace weir::server
