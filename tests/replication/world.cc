// The run of a world: time, processes, clients, and the end.
#include "tests/replication/world.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/replication/time_units.h"
#include "tests/replication/violation.h"

namespace weir::storage::replication {
namespace {

constexpr int64_t kFaultsNs = 30 * kSecond;
constexpr int64_t kQuietNs = 9 * kSecond;
// Clients stop before that, or what they had sent to a slow log is still on its way at the end.
constexpr int64_t kClientsNs = 5 * kSecond;
// Members that claimed in vain while appends failed count up to 33 s.
constexpr int64_t kPatienceNs = 60 * kSecond;

// What all members of a world have in common.
ProcessOptions process_options(simulation::Random* random, const WorldOptions& world) {
  ProcessOptions options;
  options.flaws = world.process;
  const bool early = random->one_in(3);
  const bool parts = random->one_in(4);
  if (early) {
    options.early = {.age_ns_max = random->any_of<int64_t>({kSecond, 3 * kSecond}),
                     .permits_max = random->any_of<uint64_t>({0, 12}),
                     .uncommitted_bytes_max = random->any_of<size_t>({SIZE_MAX, 200})};
    options.commit_wait_ns = random->any_of<int64_t>({0, 20 * kMs});
  }
  options.part_bytes_max = parts ? 40 : 0;
  options.record_bytes_max = random->any_of<size_t>({60, 200, 256 * 1024});
  options.uncommitted_bytes_max = random->any_of<size_t>({200, 2000});
  options.turns_kept = random->any_of<uint64_t>({UINT64_MAX, 20, 200});
  // An engine that keeps what it acknowledged loses at most what is on its way.
  options.bookmarks_kept = world.loses_acknowledged ? 1 : 12;
  options.trimming.retained_bytes = random->any_of<uint64_t>({100, 2000, 1'000'000});
  options.trimming.bytes_max =
      random->any_of<uint64_t>({options.trimming.retained_bytes, 1'000'000});
  return options;
}

}  // namespace

void WorldMetrics::add(const WorldMetrics& other) {
  promotions += other.promotions;
  turns += other.turns;
  reads += other.reads;
  rewinds += other.rewinds;
  stops += other.stops;
  turns_lost += other.turns_lost;
  void_records += other.void_records;
  admission.takes += other.admission.takes;
  admission.early += other.admission.early;
  admission.lost += other.admission.lost;
  admission.keys_over += other.admission.keys_over;
  admission.windows += other.admission.windows;
  shards_ended += other.shards_ended;
  settled_late += other.settled_late;
  settled_after_ns = std::max(settled_after_ns, other.settled_after_ns);
  faults.add(other.faults);
}

World::World(uint64_t seed, const WorldOptions& options)
    : options_(options),
      random_(seed),
      engine_(options.engine),
      network_(&agenda_, &engine_, &random_, &counts_),
      checker_(&engine_, options.loses_acknowledged) {
  checker_.set_clock([this] { return agenda_.now_ns(); });
  const uint8_t version = seed % 2 == 0 ? kRecordVersion : kFirstRecordVersion;
  engine_.append(0, Head{}, make_genesis(version));
  engine_.make_durable(0, 1);
  if (options.loses_acknowledged) network_.set_lossy();
  network_.set_typical_delay(random_.any_of<int64_t>({kMs / 5, kMs, 5 * kMs, 40 * kMs}));
  fault_every_ns_ = random_.any_of<int64_t>({300 * kMs, kSecond, 3 * kSecond, 8 * kSecond});
  const uint64_t members = 2 + random_.below(2);
  ProcessOptions process = process_options(&random_, options_);
  process.record_version = version;
  for (uint64_t i = 0; i < members; ++i) add_node(process);
}

void World::add_node(ProcessOptions options) {
  options.node = std::string(1, static_cast<char>('A' + nodes_.size()));
  if (random_.one_in(5)) options.times = {.lease_ns = 750 * kMs, .failover_after_ns = kSecond};
  auto node = std::make_unique<Node>();
  options.runs_long = random_.one_in(3);
  node->options = std::move(options);
  node->disk = std::make_shared<Disk>();
  node->rate = 0.9 + 0.2 * static_cast<double>(random_.below(1000)) / 1000;
  node->boot_offset_ns = random_.between(0, 1000) * kSecond;
  node->wall_offset_ns = 1'700'000'000 * kSecond + random_.between(-3600, 3600) * kSecond;
  node->link.branch = engine_.leader();
  nodes_.push_back(std::move(node));
}

void World::trace(const std::string& line) {
  if (!trace_) return;
  char time[32];
  std::snprintf(time, sizeof time, "%9.4f  ", static_cast<double>(agenda_.now_ns()) / 1e9);
  trace_(time + line);
}

Instants World::clocks(const Node& node) const {
  const auto elapsed = static_cast<int64_t>(node.rate * static_cast<double>(agenda_.now_ns()));
  return {.boot_ns = node.boot_offset_ns + elapsed,
          .wall_ns = node.wall_offset_ns + agenda_.now_ns()};
}

// Runs it when the process is not paused, if it is still the same process.
void World::on_node(size_t index, uint64_t life, std::function<void(Process*, Instants)> run) {
  Node& node = *nodes_[index];
  if (node.process == nullptr || node.life != life) return;
  if (node.paused_until_ns > agenda_.now_ns()) {
    agenda_.at(node.paused_until_ns,
               [this, index, life, run = std::move(run)] { on_node(index, life, run); });
    return;
  }
  node.log->tick(clocks(node).boot_ns);
  run(node.process.get(), clocks(node));
  plan_tick(index);
}

void World::plan_tick(size_t index) {
  Node& node = *nodes_[index];
  const int64_t deadline =
      std::min(node.process->member().next_deadline(), node.log->next_deadline());
  if (deadline == Member::kNever) return;
  const double elapsed = static_cast<double>(deadline - node.boot_offset_ns) / node.rate;
  const int64_t now_ns = agenda_.now_ns();
  const int64_t tick_at = std::max(now_ns, static_cast<int64_t>(std::ceil(elapsed)) + 1);
  if (node.tick_at_ns > now_ns && node.tick_at_ns <= tick_at) return;
  node.tick_at_ns = tick_at;
  agenda_.at(tick_at, [this, index, tick_at, life = node.life] {
    if (nodes_[index]->tick_at_ns != tick_at) return;
    nodes_[index]->tick_at_ns = -1;
    on_node(index, life, [](Process* process, Instants now) { process->tick(now); });
  });
}

size_t World::index_of(const Process* process) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const auto& node) { return node->process.get() == process; });
  return static_cast<size_t>(found - nodes_.begin());
}

void World::append(Process* process, std::optional<Head> expected, std::string record) {
  const size_t index = index_of(process);
  Node& node = *nodes_[index];
  node.log->append(expected, std::move(record),
                   [this, index, life = node.life, branch = node.link.branch](Appended answer) {
                     on_node(index, life, [answer, branch](Process* to, Instants now) {
                       to->set_branch(branch);
                       to->deliver(answer, now);
                     });
                   });
}

void World::read(Process* process, Head after, size_t bytes_max) {
  const size_t index = index_of(process);
  Node& node = *nodes_[index];
  node.log->read(after, bytes_max,
                 [this, index, life = node.life, branch = node.link.branch](const Read& answer) {
                   const bool is_misled = nodes_[index]->link.is_misled;
                   on_node(index, life, [answer, branch, is_misled](Process* to, Instants now) {
                     to->set_branch(branch);
                     if (is_misled) to->set_misled();
                     to->deliver(answer, now);
                   });
                 });
}

void World::start(size_t index) {
  Node& node = *nodes_[index];
  if (node.process != nullptr || node.takes_snapshot) return;
  trace(node.options.node + " starts with turn " + std::to_string(node.disk->newest_turn()));
  ++node.life;
  node.link.is_misled = false;
  node.tick_at_ns = -1;
  node.log = std::make_unique<SimLog>(&network_, &node.link);
  node.log->tick(clocks(node).boot_ns);
  node.process = std::make_unique<Process>(node.options, node.disk, this, &checker_, random_.next(),
                                           clocks(node));
  node.process->set_trace([this](const std::string& line) { trace(line); });
  on_node(index, node.life, [](Process* process, Instants now) { process->tick(now); });
}

void World::end_process(size_t index) {
  Node& node = *nodes_[index];
  if (node.process == nullptr) return;
  metrics_.rewinds += node.process->member().metrics().rewinds;
  ++node.life;
  node.log.reset();
  node.process.reset();
}

void World::step_clients(size_t index) {
  Node& node = *nodes_[index];
  if (node.process != nullptr && !clients_stopped_) {
    const uint64_t writes = random_.one_in(10) ? random_.below(8) : random_.below(2);
    const bool reads = random_.one_in(2);
    on_node(index, node.life, [writes, reads](Process* process, Instants now) {
      for (uint64_t i = 0; i < writes; ++i) process->write(now);
      if (reads) process->ask_to_read(now);
    });
  }
  agenda_.after(random_.between(5, 80) * kMs, [this, index] { step_clients(index); });
}

void World::sync_disks(size_t index) {
  if (random_.one_in(2)) nodes_[index]->disk->sync();
  agenda_.after(random_.between(20, 600) * kMs, [this, index] { sync_disks(index); });
}

void World::live(size_t index) {
  agenda_.after(random_.between(0, 100) * kMs, [this, index] { step_clients(index); });
  agenda_.after(random_.between(0, 300) * kMs, [this, index] { sync_disks(index); });
  agenda_.after(random_.between(0, 2000) * kMs, [this, index] { keep_house(index); });
}

bool World::is_settled() {
  size_t primaries = 0;
  for (const auto& node : nodes_) {
    if (node->process == nullptr || node->process->owes_replies()) return false;
    const Member& member = node->process->member();
    if (member.may_seal()) {
      ++primaries;
    } else if (member.role() != Role::kFollowing) {
      return false;
    }
    if (!checker_.agrees(*node->process)) return false;
  }
  return primaries == 1;
}

std::string World::describe() {
  std::string text = "log: " + std::to_string(engine_.size(engine_.leader())) + " records, turns " +
                     std::to_string(checker_.chain().turns());
  for (const auto& node : nodes_) {
    text += "\n" + node->options.node + ": ";
    text += node->process == nullptr
                ? "down"
                : weir::storage::replication::describe(node->process->member());
  }
  return text;
}

// Answers whether the world has come to its end.
bool World::look(uint64_t* turns_wanted) {
  clients_stopped_ = checker_.chain().turns() >= *turns_wanted;
  // A member that is ahead of the log stays so until the log has caught up or differs.
  for (const auto& node : nodes_) {
    if (node->process == nullptr || node->process->member().is_primary()) continue;
    *turns_wanted = std::max(*turns_wanted, node->process->newest_turn());
  }
  if (agenda_.now_ns() < kFaultsNs + kQuietNs) return false;
  if (has_ended()) {
    ++metrics_.shards_ended;
    return true;
  }
  if (clients_stopped_ && is_settled()) return true;
  trace("is not settled, " + describe());
  if (agenda_.now_ns() > kFaultsNs + kPatienceNs) {
    throw Violation("not one primary that commits and equal replicas:\n" + describe());
  }
  return false;
}

WorldMetrics World::run() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    agenda_.at(random_.between(0, 300) * kMs, [this, i] { start(i); });
    live(i);
  }
  look_after_stopped();
  plan_fault();
  uint64_t turns_wanted = 0;
  int64_t look_at_ns = kFaultsNs + kClientsNs;
  while (true) {
    const auto event = agenda_.take_next();
    if (!is_quiet_ && agenda_.now_ns() >= kFaultsNs) {
      heal_all();
      turns_wanted = checker_.chain().turns() + 1;
    }
    event();
    if (agenda_.now_ns() < look_at_ns) continue;
    look_at_ns = agenda_.now_ns() + 250 * kMs;
    if (look(&turns_wanted)) break;
  }
  return metrics();
}

WorldMetrics World::metrics() {
  checker_.check_log();
  metrics_.admission = checker_.check_admission(nodes_[0]->options.early);
  for (size_t i = 0; i < nodes_.size(); ++i) end_process(i);
  metrics_.promotions = checker_.promotions();
  metrics_.turns = checker_.turns_released();
  metrics_.reads = checker_.reads_released();
  metrics_.turns_lost = checker_.turns_lost();
  metrics_.void_records = checker_.chain().void_records();
  metrics_.settled_after_ns = agenda_.now_ns() - kFaultsNs;
  metrics_.settled_late = metrics_.settled_after_ns > kQuietNs + kSecond / 2 ? 1 : 0;
  counts_.add(Fault::kEarlyLost, metrics_.admission.lost);
  metrics_.faults = counts_;
  return metrics_;
}

}  // namespace weir::storage::replication
