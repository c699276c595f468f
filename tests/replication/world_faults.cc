// What goes wrong in a world.
#include <algorithm>

#include "tests/replication/world.h"

namespace weir::storage::replication {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;

}  // namespace

void World::plan_fault() {
  at(now_ns_ + random_.between(fault_every_ns_ / 4, 2 * fault_every_ns_), [this] {
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
      ++engine_run_;
      down_until_ns_ = now_ns_ + length_ns / 2;
      at(down_until_ns_, [this] { make_durable(); });
      break;
    case 1:
      promote();
      break;
    case 2:
      trace("engine's standby is away");
      standby_down_until_ns_ = now_ns_ + length_ns;
      at(standby_down_until_ns_, [this] { make_durable(); });
      break;
    case 3:
      trace("appends are blocked");
      appends_blocked_until_ns_ = now_ns_ + length_ns;
      break;
    default:
      trace("everything is slow");
      slow_until_ns_ = now_ns_ + length_ns / 2;
      break;
  }
}

// The primary is gone, or believes that it is primary still; a standby of it goes on.
void World::promote() {
  const size_t durable =
      options_.loses_acknowledged
          ? log_.size(log_.primary()) - std::min<size_t>(random_.below(random_.one_in(4) ? 30 : 4),
                                                         log_.size(log_.primary()) - 1)
          : log_.durable(log_.primary());
  old_primary_answers_ = random_.one_in(2);
  trace("engine fails over and keeps " + std::to_string(durable) + " of " +
        std::to_string(log_.size(log_.primary())) + " records");
  log_.promote(durable);
  ++engine_run_;
  waiting_.clear();
  checker_.promoted();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const size_t branch = log_.primary();
    at(now_ns_ + random_.between(0, random_.one_in(3) ? 3000 : 300) * kMs, [this, i, branch] {
      Node& node = *nodes_[i];
      node.branch = std::max(node.branch, branch);
    });
  }
}

void World::member_fault(size_t index) {
  Node& node = *nodes_[index];
  const int64_t length_ns =
      random_.one_in(3) ? random_.between(500, 8000) * kMs : random_.between(50, 1000) * kMs;
  switch (random_.below(11)) {
    case 0:
    case 1:
      return crash(index, options_.cuts_power && random_.one_in(2));
    case 2:
    case 3:
      trace(node.options.node + " is stopped for " + std::to_string(length_ns / kMs) + " ms");
      node.paused_until_ns = now_ns_ + length_ns;
      return;
    case 4:
      trace(node.options.node + " is cut off");
      node.answers_cut_until_ns = now_ns_ + length_ns;
      node.requests_cut_until_ns = now_ns_ + length_ns;
      return;
    case 5:
      trace(node.options.node + " hears nothing");
      node.answers_cut_until_ns = now_ns_ + length_ns;
      return;
    case 6:
      trace(node.options.node + " is not heard");
      node.requests_cut_until_ns = now_ns_ + length_ns;
      return;
    case 7:
      node.wall_offset_ns += random_.between(-3600, 3600) * kSecond;
      return;
    case 8: {
      const std::string to = nodes_[random_.below(nodes_.size())]->options.node;
      for (size_t i = 0; i < nodes_.size(); ++i) {
        on_node(i, nodes_[i]->life,
                [to](Process* process, Instants now) { process->hand_over(to, now); });
      }
      return;
    }
    case 9:
      if (options_.operators_claim) {
        on_node(index, node.life,
                [](Process* process, Instants now) { process->claim_by_operator(now); });
      }
      return;
    default:
      if (options_.has_twins && random_.one_in(3)) return add_twin();
      const int64_t failover_after_ns =
          random_.any_of<int64_t>({kSecond, 2 * kSecond, 3 * kSecond});
      const Times times{.lease_ns = failover_after_ns / 4 * 3,
                        .failover_after_ns = failover_after_ns};
      node.options.times = times;
      on_node(index, node.life,
              [times](Process* process, Instants now) { process->change_times(times, now); });
  }
}

void World::crash(size_t index, bool power_cut) {
  Node& node = *nodes_[index];
  if (node.process == nullptr) return;
  end_process(index);
  if (power_cut) node.disk->cut_power(random_.below(node.disk->unsynced() + 1));
  trace(node.options.node + (power_cut ? " loses power, has turn " : " is killed, has turn ") +
        std::to_string(node.disk->newest_turn()));
  const int64_t down_ns =
      random_.one_in(2) ? random_.between(1, 300) * kMs : random_.between(300, 6000) * kMs;
  at(now_ns_ + down_ns, [this, index] { start(index); });
}

// A copied directory runs as a process of its own under the same node's name.
void World::add_twin() {
  if (nodes_.size() >= 4) return;
  const Node& original = *nodes_[random_.below(nodes_.size())];
  auto twin = std::make_unique<Node>(Node{.options = original.options,
                                          .disk = std::make_shared<Disk>(*original.disk),
                                          .process = nullptr,
                                          .rate = original.rate,
                                          .boot_offset_ns = original.boot_offset_ns,
                                          .wall_offset_ns = original.wall_offset_ns,
                                          .branch = log_.primary()});
  trace(original.options.node + " is copied");
  nodes_.push_back(std::move(twin));
  const size_t index = nodes_.size() - 1;
  start(index);
  step_clients(index);
  sync_disks(index);
}

void World::heal_all() {
  trace("all is quiet from here on");
  is_quiet_ = true;
  down_until_ns_ = appends_blocked_until_ns_ = standby_down_until_ns_ = slow_until_ns_ = 0;
  make_durable();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = *nodes_[i];
    node.paused_until_ns = std::min(node.paused_until_ns, now_ns_ + 1);
    node.requests_cut_until_ns = node.answers_cut_until_ns = 0;
    at(now_ns_ + kMs, [this, i] { start(i); });
  }
}

}  // namespace weir::storage::replication
