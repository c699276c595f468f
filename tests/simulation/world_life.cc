// Starts, crashes, orderly stops, and what must come right when the faults end.
#include <string>

#include "server/commands/command_lists.h"
#include "server/limiter/policy/policy_history.h"
#include "tests/simulation/world.h"

namespace weir::simulation {
namespace {

constexpr int kQuietRounds = 200;
constexpr int kIdleTurnsMax = 100'000;
// The hidden database and that of tickets_, two bounds of numbers, and the lead of the instants.
constexpr size_t kSystemRecordsMax = kDatabases + 5;
constexpr size_t kRecordsOfHolds = 4;  // the most that a list of holds lies in here
// Beside each policy and its overrides: what was before, what is still to be erased of policies
// that were deleted, and the bound of their versions.
constexpr size_t kPolicyRecordsMax = kPolicies * (server::kChangesOfPolicyMax + 1) + 1;

}  // namespace

World::World(uint64_t seed)
    : random_(seed), clock_(&random_), disk_(storage::make_memory_disk({seed, ~seed})) {
  disk_->steady_ns = [this] { return clock_.steady_ns(); };
  live_.databases.resize(kDatabases);
  turn_begin_ = live_;
  history_.begin(live_, 0, 0);
  open(Crash::kNone);
}

World::~World() = default;

void World::run(uint64_t steps) {
  for (; steps > 0; --steps) step();
  settle();
  stop();
}

server::Config World::any_config() {
  server::Config config;
  config.storage = server::StorageForm::kMemory;
  config.databases = kDatabases + 1;  // and that of tickets_
  config.durability =
      random_.any_of({server::DurabilityLevel::kAlways, server::DurabilityLevel::kEverysec,
                      server::DurabilityLevel::kNo});
  config.storage_failure_policy =
      random_.any_of({server::FailurePolicy::kDeny, server::FailurePolicy::kMemory});
  config.maxmemory = random_.any_of({8'000, 40'000, 100'000, 10'000'000});
  config.write_back_interval_ms = random_.any_of({1, 10, 500, 5000});
  config.write_back_entries_max = random_.any_of({5, 50, 1'000'000});
  config.wal_bytes_max = random_.any_of({500, 20'000, 1'000'000});
  config.client_output_buffer_limit.normal = {
      .hard_bytes = 20'000, .soft_bytes = 5'000, .soft_seconds = 10};
  config.timeout = random_.any_of({0, 0, 30});
  return config;
}

// What is on the disk must be what it may be after that crash; the server goes on from there.
void World::open(Crash crash) {
  const Inspection found = inspect(*disk_);
  faults_wanted_ = !random_.one_in(3);
  storage_failures_at_open_ = storage_failures_;
  disk_->deferred = random_.one_in(2);
  disk_->appends_late = random_.one_in(2);
  const server::Config config = any_config();
  trace("starts with durability " + std::to_string(static_cast<int>(config.durability)) +
        ", policy " + std::to_string(static_cast<int>(config.storage_failure_policy)));
  server_ = std::make_unique<server::Server>(
      config, &clock_, [this] { return std::make_unique<storage::MemoryStore>(disk_); },
      server::command_lists(), server::Seeds());  // nothing is left to chance
  if (const storage::Status status = server_->open(); !status.ok()) {
    throw Violation("cannot open: " + status.message());
  }
  opened_ns_ = last_instant_ns_ = server_->timeline().now_ns();
  opened_steady_ns_ = clock_.steady_ns();
  ahead_of_steady_ns_max_ = opened_ns_ - opened_steady_ns_;
  check_found(found, crash);
  if (maker_ == nullptr)
    maker_ = std::make_unique<RequestMaker>(&random_, server_->executor().table());
}

void World::crash(Crash crash) {
  trace(crash == Crash::kKill ? "SIGKILL" : "power cut");
  ++crashes_;
  history_.vouch_for_synced(disk_->synced_turn);
  const bool may_lose = may_lose_acknowledged(crash);
  const auto before = disk_;
  disk_ = crash == Crash::kKill ? before->after_kill()
                                : before->after_power_cut({.unsynced_turns_kept = random_.below(5),
                                                           .torn = random_.one_in(2)});
  turn_.clear();
  clients_.clear();
  server_.reset();
  if (crash == Crash::kPowerCut) clock_.restart_machine();
  clock_.advance();
  open(crash);
  audit_.check(audited_charges(live_, last_instant_ns_), may_lose);
  tickets_.check_after_crash(*server_, may_lose, [this] {
    clock_.pass(kNsPerMs);
    server_->serve_waiting();
    end_turn();
    while (server_->keys().store_in_use().is_open() && store().step()) {
    }
  });
}

bool World::may_lose_acknowledged(Crash crash) const {
  const bool in_memory_only = !denies() && store_failed();
  if (crash != Crash::kPowerCut) return in_memory_only;
  const bool was_in_memory_only = !denies() && storage_failures_ != storage_failures_at_open_;
  return was_in_memory_only || server_->config().durability != server::DurabilityLevel::kAlways;
}

// An orderly stop loses nothing, even if the power goes right after it.
void World::stop() {
  trace("stops");
  end_turn();
  const bool kept = server_->close().ok();
  std::vector<Client*> clients;
  for (const auto& client : clients_) clients.push_back(client.get());
  for (Client* client : clients) deliver(client, SIZE_MAX);
  if (kept) history_.vouch(history_.newest(), true);
  crash(kept ? Crash::kPowerCut : Crash::kKill);
}

// Nothing but time.
void World::rest(int rounds) {
  for (; rounds > 0; --rounds) {
    clock_.pass(50 * kNsPerMs);
    tick();
    end_turn();
    while (server_->keys().store_in_use().is_open() && store().step()) {
    }
  }
}

void World::wait_until_idle() {
  for (int turns = 0; server_->keys().work().wanted() || server_->keys().work().overloaded();
       ++turns) {
    if (turns > kIdleTurnsMax) throw Violation("the server finds no rest");
    clock_.pass(kNsPerMs);
    end_turn();
    while (store().step()) {
    }
  }
}

// The faults end: the server recovers, catches up, rests, serves, and has everything on disk.
void World::settle() {
  trace("the faults end");
  faults_wanted_ = false;
  disk_->faults = {};
  clock_.behave();
  rest(kQuietRounds);
  if (store_failed()) throw Violation("the store stays failed although nothing fails any more");
  wait_until_idle();
  demand_writes_work();
  demand_no_leftovers();
  if (server_->config().durability != server::DurabilityLevel::kNo) {
    history_.vouch(history_.newest(), true);
    crash(Crash::kPowerCut);
  } else {
    crash(Crash::kKill);
  }
  faults_wanted_ = false;
  rest(kQuietRounds);
  wait_until_idle();
  demand_sizes();
}

void World::demand_sizes() {
  for (int i = 0; i < kDatabases; ++i) {
    const std::string wrong = wrong_size(live_, i, server_->keys().size(i), true);
    if (!wrong.empty()) throw Violation(wrong);
  }
}

// What was deleted and what lay in cleared databases has left the disk. Expired records may stay.
void World::demand_no_leftovers() const {
  size_t records_max = kSystemRecordsMax + kPolicyRecordsMax + tickets_.records_max();
  for (const auto& [name, policy] : live_.policies) records_max += 1 + 2 * policy.overrides.size();
  for (const Database& database : live_.databases) {
    for (const auto& [key, record] : database.records) {
      records_max += record.held_until_ns == 0 ? 1 : 1 + kRecordsOfHolds;
    }
  }
  if (disk_->state->size() <= records_max) return;
  throw Violation("the disk keeps " + std::to_string(disk_->state->size()) +
                  " records, of which it needs " + std::to_string(records_max));
}

void World::demand_writes_work() {
  Client* client = connect();
  client->never_reads = false;
  client->ask({.args = {"CL.THROTTLE", "slow:1", "98", "1", "31536000"},
               .bytes = encode({"CL.THROTTLE", "slow:1", "98", "1", "31536000"})});
  client->session->receive(std::exchange(client->unsent, {}), 1);
  note_ran(client, 1, false);
  rest(kQuietRounds);  // a sync that begins later still covers it
  deliver(client, SIZE_MAX);
  if (!client->unanswered.empty()) throw Violation("a write is not answered");
}

}  // namespace weir::simulation
