// What goes wrong in a world.
#include <algorithm>

#include "tests/replication/time_units.h"
#include "tests/replication/world.h"

namespace weir::storage::replication {
namespace {

constexpr size_t kNodesMax = 4;

}  // namespace

void World::plan_fault() {
  agenda_.after(random_.between(fault_every_ns_ / 4, 2 * fault_every_ns_), [this] {
    if (is_quiet_) return;
    inject_fault();
    if (random_.one_in(5)) inject_fault();
    plan_fault();
  });
}

void World::inject_fault() {
  const uint64_t kind = random_.below(12);
  if (kind < 5) {
    engine_fault(kind);
  } else {
    member_fault(random_.below(nodes_.size()));
  }
}

void World::engine_fault(uint64_t kind) {
  const int64_t length_ns =
      random_.one_in(3) ? random_.between(200, 8000) * kMs : random_.between(50, 1000) * kMs;
  switch (kind) {
    case 0:
      trace("engine restarts");
      return network_.restart_engine(length_ns / 2);
    case 1:
      return fail_over();
    case 2:
      trace("engine's standby is away");
      return network_.take_standby_away(length_ns);
    case 3:
      trace("appends are blocked");
      return network_.block_appends(length_ns);
    default:
      trace("everything is slow");
      return network_.slow_down(length_ns / 2);
  }
}

void World::fail_over() {
  const size_t size = engine_.size(engine_.leader());
  const size_t less = std::min<size_t>(random_.below(random_.one_in(4) ? 30 : 4), size - 1);
  const size_t kept = options_.loses_acknowledged ? size - less : engine_.durable(engine_.leader());
  trace("engine fails over and keeps " + std::to_string(kept) + " of " + std::to_string(size) +
        " records");
  network_.fail_over(kept);
  checker_.failed_over();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const size_t branch = engine_.leader();
    agenda_.after(random_.between(0, random_.one_in(3) ? 3000 : 300) * kMs, [this, i, branch] {
      Link& link = nodes_[i]->link;
      link.branch = std::max(link.branch, branch);
    });
  }
}

void World::member_fault(size_t index) {
  Node& node = *nodes_[index];
  const int64_t length_ns =
      random_.one_in(3) ? random_.between(500, 8000) * kMs : random_.between(50, 1000) * kMs;
  const uint64_t kind = random_.below(12);
  switch (kind) {
    case 0:
    case 1:
      return crash(index, options_.cuts_power && random_.one_in(2));
    case 2:
    case 3:
      trace(node.options.node + " is stopped for " + std::to_string(length_ns / kMs) + " ms");
      counts_.add(Fault::kPause);
      node.paused_until_ns = agenda_.now_ns() + length_ns;
      return;
    case 4:
    case 5:
    case 6:
      return cut(index, length_ns, kind);
    case 7:
      counts_.add(Fault::kWallStep);
      node.wall_offset_ns += random_.between(-3600, 3600) * kSecond;
      return;
    case 8:
      return switch_over_somewhere();
    case 9:
      if (!options_.operators_claim) return;
      counts_.add(Fault::kOperatorClaim);
      return on_node(index, node.life,
                     [](Process* process, Instants now) { process->claim_by_operator(now); });
    case 10:
      if (random_.one_in(3)) return random_.one_in(2) ? add_twin() : add_member();
      return;
    default:
      return change_times(index);
  }
}

void World::cut(size_t index, int64_t length_ns, uint64_t kind) {
  Node& node = *nodes_[index];
  static constexpr const char* kTexts[] = {" is cut off", " hears nothing", " is not heard"};
  trace(node.options.node + kTexts[kind - 4]);
  counts_.add(kind == 4 ? Fault::kCut : Fault::kCutOneWay);
  if (kind != 5) node.link.requests_cut_until_ns = agenda_.now_ns() + length_ns;
  if (kind != 6) node.link.answers_cut_until_ns = agenda_.now_ns() + length_ns;
}

void World::switch_over_somewhere() {
  const std::string to = nodes_[random_.below(nodes_.size())]->options.node;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    on_node(i, nodes_[i]->life, [this, to](Process* process, Instants now) {
      if (process->member().may_seal()) counts_.add(Fault::kSwitchover);
      process->switch_over(to, now);
    });
  }
}

void World::change_times(size_t index) {
  Node& node = *nodes_[index];
  const int64_t failover_after_ns = random_.any_of<int64_t>({kSecond, 2 * kSecond, 3 * kSecond});
  const Times times{.lease_ns = failover_after_ns / 4 * 3, .failover_after_ns = failover_after_ns};
  node.options.times = times;
  counts_.add(Fault::kTimesChanged);
  on_node(index, node.life,
          [times](Process* process, Instants now) { process->change_times(times, now); });
}

void World::crash(size_t index, bool power_cut) {
  Node& node = *nodes_[index];
  if (node.process == nullptr) return;
  end_process(index);
  counts_.add(power_cut ? Fault::kPowerCut : Fault::kKill);
  if (power_cut) {
    const size_t lost = random_.below(node.disk->unsynced() + 1);
    counts_.add(Fault::kWritesCut, lost);
    node.disk->cut_power(lost);
  }
  trace(node.options.node + (power_cut ? " loses power, has turn " : " is killed, has turn ") +
        std::to_string(node.disk->newest_turn()));
  const int64_t down_ns =
      random_.one_in(2) ? random_.between(1, 300) * kMs : random_.between(300, 6000) * kMs;
  agenda_.after(down_ns, [this, index] { start(index); });
}

// A copied directory runs as a process of its own under the same node's name.
void World::add_twin() {
  if (nodes_.size() >= kNodesMax || !options_.has_twins) return;
  const Node& original = *nodes_[random_.below(nodes_.size())];
  auto twin = std::make_unique<Node>();
  twin->options = original.options;
  twin->disk = std::make_shared<Disk>(*original.disk);
  twin->rate = original.rate;
  twin->boot_offset_ns = original.boot_offset_ns;
  twin->wall_offset_ns = original.wall_offset_ns;
  twin->link.branch = engine_.leader();
  trace(original.options.node + " is copied");
  counts_.add(Fault::kTwin);
  nodes_.push_back(std::move(twin));
  start(nodes_.size() - 1);
  live(nodes_.size() - 1);
}

// With an empty directory, while the shard is at work.
void World::add_member() {
  if (nodes_.size() >= kNodesMax) return;
  add_node(nodes_[0]->options);
  trace(nodes_.back()->options.node + " joins");
  counts_.add(Fault::kNewMember);
  start(nodes_.size() - 1);
  live(nodes_.size() - 1);
}

void World::heal_all() {
  trace("all is quiet from here on");
  is_quiet_ = true;
  network_.be_quiet();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = *nodes_[i];
    node.paused_until_ns = std::min(node.paused_until_ns, agenda_.now_ns() + 1);
    node.link.requests_cut_until_ns = node.link.answers_cut_until_ns = 0;
    agenda_.after(kMs, [this, i] { start(i); });
  }
}

}  // namespace weir::storage::replication
