// The run of a world: time, processes, clients, and the end.
#include "tests/replication/world.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/replication/violation.h"

namespace weir::storage::replication {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;
constexpr int64_t kFaultsNs = 30 * kSecond;
constexpr int64_t kQuietNs = 9 * kSecond;
// Members that claimed in vain while appends failed count up to 33 s.
constexpr int64_t kPatienceNs = 60 * kSecond;

}  // namespace

void WorldFigures::add(const WorldFigures& other) {
  offices += other.offices;
  turns += other.turns;
  reads += other.reads;
  rewinds += other.rewinds;
  snapshots += other.snapshots;
  turns_lost += other.turns_lost;
  early_turns_lost += other.early_turns_lost;
  void_records += other.void_records;
  settled_late += other.settled_late;
  settled_after_ns = std::max(settled_after_ns, other.settled_after_ns);
}

World::World(uint64_t seed, const WorldOptions& options)
    : options_(options),
      random_(seed),
      log_(options.engine),
      checker_(&log_, options.loses_acknowledged) {
  log_.append(0, Head{}, make_genesis());
  log_.make_durable(0, 1);
  typical_delay_ns_ = random_.any_of<int64_t>({kMs / 5, kMs, 5 * kMs, 40 * kMs});
  fault_every_ns_ = random_.any_of<int64_t>({300 * kMs, kSecond, 3 * kSecond, 8 * kSecond});
  const uint64_t members = 2 + random_.below(2);
  const bool early = random_.one_in(3);
  const bool parts = random_.one_in(4);
  const size_t record_bytes_max = random_.any_of<size_t>({60, 200, 256 * 1024});
  for (uint64_t i = 0; i < members; ++i) {
    auto node = std::make_unique<Node>();
    node->options.node = std::string(1, static_cast<char>('A' + i));
    node->options.flaws = options_.process;
    node->options.early_release_ns_max = early ? 3 * kSecond : 0;
    node->options.part_bytes_max = parts ? 40 : 0;
    node->options.record_bytes_max = record_bytes_max;
    if (random_.one_in(5)) {
      node->options.times = {.lease_ns = 750 * kMs, .failover_after_ns = kSecond};
    }
    node->disk = std::make_shared<Disk>();
    node->rate = 0.9 + 0.2 * static_cast<double>(random_.below(1000)) / 1000;
    node->boot_offset_ns = random_.between(0, 1000) * kSecond;
    node->wall_offset_ns = 1'700'000'000 * kSecond + random_.between(-3600, 3600) * kSecond;
    nodes_.push_back(std::move(node));
  }
}

void World::trace(const std::string& line) {
  if (!trace_) return;
  char time[32];
  std::snprintf(time, sizeof time, "%9.4f  ", static_cast<double>(now_ns_) / 1e9);
  trace_(time + line);
}

void World::at(int64_t at_ns, std::function<void()> run) {
  events_.push(
      {.at_ns = std::max(at_ns, now_ns_), .number = ++event_number_, .run = std::move(run)});
}

Instants World::clocks(const Node& node) const {
  const auto elapsed = static_cast<int64_t>(node.rate * static_cast<double>(now_ns_));
  return {.boot_ns = node.boot_offset_ns + elapsed, .wall_ns = node.wall_offset_ns + now_ns_};
}

// Runs it when the process is not paused, if it is still the same process.
void World::on_node(size_t index, uint64_t life, std::function<void(Process*, Instants)> run) {
  Node& node = *nodes_[index];
  if (node.process == nullptr || node.life != life) return;
  if (node.paused_until_ns > now_ns_) {
    at(node.paused_until_ns,
       [this, index, life, run = std::move(run)] { on_node(index, life, run); });
    return;
  }
  run(node.process.get(), clocks(node));
  plan_tick(index);
}

void World::plan_tick(size_t index) {
  Node& node = *nodes_[index];
  const int64_t deadline = node.process->member().next_deadline();
  if (deadline == Member::kNever) return;
  const double elapsed = static_cast<double>(deadline - node.boot_offset_ns) / node.rate;
  const int64_t tick_at = std::max(now_ns_, static_cast<int64_t>(std::ceil(elapsed)) + 1);
  if (node.tick_at_ns > now_ns_ && node.tick_at_ns <= tick_at) return;
  node.tick_at_ns = tick_at;
  at(tick_at, [this, index, tick_at, life = node.life] {
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

void World::start(size_t index) {
  Node& node = *nodes_[index];
  if (node.process != nullptr) return;
  trace(node.options.node + " starts with turn " + std::to_string(node.disk->newest_turn()));
  ++node.life;
  node.tick_at_ns = -1;
  node.process = std::make_unique<Process>(node.options, node.disk, this, &checker_, random_.next(),
                                           clocks(node));
  node.process->set_trace([this](const std::string& line) { trace(line); });
  on_node(index, node.life, [](Process* process, Instants now) { process->tick(now); });
}

void World::end_process(size_t index) {
  Node& node = *nodes_[index];
  if (node.process == nullptr) return;
  figures_.rewinds += node.process->member().figures().rewinds;
  ++node.life;
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
  at(now_ns_ + random_.between(5, 80) * kMs, [this, index] { step_clients(index); });
}

void World::sync_disks(size_t index) {
  if (random_.one_in(2)) nodes_[index]->disk->sync();
  at(now_ns_ + random_.between(20, 600) * kMs, [this, index] { sync_disks(index); });
}

// A person sets a stopped member's files aside, and it joins again from nothing.
void World::look_after_stopped() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = *nodes_[i];
    if (node.process == nullptr || !node.process->has_stopped()) continue;
    if (!is_quiet_ && !random_.one_in(4)) continue;
    ++figures_.snapshots;
    end_process(i);
    node.disk = std::make_shared<Disk>();
    start(i);
  }
  at(now_ns_ + 500 * kMs, [this] { look_after_stopped(); });
}

bool World::is_settled() {
  size_t owners = 0;
  for (const auto& node : nodes_) {
    if (node->process == nullptr || node->process->owes_replies()) return false;
    const Member& member = node->process->member();
    if (member.may_seal()) {
      ++owners;
    } else if (member.role() != Role::kFollowing) {
      return false;
    }
    if (!checker_.agrees(*node->process)) return false;
  }
  return owners == 1;
}

std::string World::describe() {
  std::string text = "log: " + std::to_string(log_.size(log_.primary())) + " records, turns " +
                     std::to_string(checker_.chain().turns());
  for (const auto& node : nodes_) {
    text += "\n" + node->options.node + ": ";
    text += node->process == nullptr
                ? "down"
                : weir::storage::replication::describe(node->process->member());
  }
  return text;
}

WorldFigures World::run() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    at(random_.between(0, 300) * kMs, [this, i] { start(i); });
    at(random_.between(0, 100) * kMs, [this, i] { step_clients(i); });
    at(random_.between(0, 300) * kMs, [this, i] { sync_disks(i); });
  }
  look_after_stopped();
  plan_fault();
  uint64_t turns_wanted = 0;
  int64_t look_at_ns = kFaultsNs + kQuietNs;
  while (true) {
    const Event event = events_.top();
    events_.pop();
    now_ns_ = event.at_ns;
    if (!is_quiet_ && now_ns_ >= kFaultsNs) {
      heal_all();
      turns_wanted = checker_.chain().turns() + 1;
    }
    event.run();
    if (now_ns_ < look_at_ns) continue;
    look_at_ns = now_ns_ + 250 * kMs;
    clients_stopped_ = checker_.chain().turns() >= turns_wanted;
    // A member that is ahead of the log stays so until the log has caught up or differs.
    for (const auto& node : nodes_) {
      if (node->process == nullptr || node->process->member().owns()) continue;
      turns_wanted = std::max(turns_wanted, node->process->newest_turn());
    }
    if (clients_stopped_ && is_settled()) break;
    if (now_ns_ > kFaultsNs + kPatienceNs) {
      throw Violation("not one owner that commits and equal replicas:\n" + describe());
    }
  }
  checker_.check_log();
  for (size_t i = 0; i < nodes_.size(); ++i) end_process(i);
  figures_.offices = checker_.offices();
  figures_.turns = checker_.turns_released();
  figures_.reads = checker_.reads_released();
  figures_.turns_lost = checker_.turns_lost();
  figures_.early_turns_lost = checker_.early_turns_lost();
  figures_.void_records = checker_.chain().void_records();
  figures_.settled_after_ns = now_ns_ - kFaultsNs;
  figures_.settled_late = figures_.settled_after_ns > kQuietNs + kSecond / 2 ? 1 : 0;
  return figures_;
}

}  // namespace weir::storage::replication
