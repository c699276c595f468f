// What a member does beside the protocol: it writes to its state files, tells the others how far it
// is, trims the log if it is primary, and takes a snapshot where the log does not reach back.
#include <algorithm>

#include "tests/replication/time_units.h"
#include "tests/replication/violation.h"
#include "tests/replication/world.h"

namespace weir::storage::replication {
void World::keep_house(size_t index) {
  Node& node = *nodes_[index];
  on_node(index, node.life, [this, index](Process* process, Instants) {
    Node& self = *nodes_[index];
    if (!process->has_stopped()) process->write_back();
    if (self.link.requests_cut_until_ns > agenda_.now_ns() || network_.is_down()) return;
    MemberFacts facts = process->facts();
    for (const auto& [taker, head] : self.checkpoints) {
      Head& oldest = facts.checkpoint_head;
      if (oldest.log_index == 0 || head.log_index < oldest.log_index) oldest = head;
    }
    registry_[self.options.node] = {
        .name = self.options.node, .bytes = encode_facts(facts), .age_ns = agenda_.now_ns()};
    const uint64_t up_to = process->trim_up_to(RegistryView(registry()));
    if (up_to > 0) self.log->trim(up_to);
  });
  agenda_.after(random_.between(200, 2500) * kMs, [this, index] { keep_house(index); });
}

std::vector<RegistryEntry> World::registry() const {
  std::vector<RegistryEntry> entries;
  for (const auto& [name, entry] : registry_) {
    entries.push_back(entry);
    entries.back().age_ns = agenda_.now_ns() - entry.age_ns;
  }
  return entries;
}

// A member that the log does not reach back to takes a snapshot by itself. Any other that has
// stopped needs a person, who sets its files aside.
void World::look_after_stopped() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = *nodes_[i];
    if (node.process == nullptr || !node.process->has_stopped()) continue;
    const bool needs_person = node.process->stop_reason() != Reason::kTrimmed;
    if (needs_person && !is_quiet_ && !random_.one_in(4)) continue;
    if (needs_person) ++metrics_.stops;
    if (!needs_person) counts_.add(Fault::kTrimmedRead);
    end_process(i);
    const bool replays = needs_person && engine_.trimmed(engine_.leader()) == 0;
    if (replays && random_.one_in(2)) {
      node.disk = std::make_shared<Disk>();
      start(i);
    } else {
      take_snapshot(i, false);
    }
  }
  agenda_.after(500 * kMs, [this] { look_after_stopped(); });
}

// From a standby first.
std::optional<size_t> World::snapshot_source(size_t taker) {
  std::optional<size_t> source;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Process* process = nodes_[i]->process.get();
    if (i == taker || process == nullptr || process->has_stopped()) continue;
    if (nodes_[i]->disk->bookmarks().empty()) continue;
    if (!source || process->member().role() == Role::kFollowing) source = i;
  }
  return source;
}

void World::take_snapshot(size_t index, bool again) {
  Node& node = *nodes_[index];
  node.takes_snapshot = true;
  if (again) counts_.add(Fault::kSnapshotAgain);
  const auto source = snapshot_source(index);
  if (!source) {
    agenda_.after(500 * kMs, [this, index] { take_snapshot(index, false); });
    return;
  }
  Node& from = *nodes_[*source];
  auto snapshot = std::make_shared<Disk>(from.disk->checkpoint());
  from.checkpoints[index] = snapshot->bookmarks().back().head;
  trace(node.options.node + " begins a snapshot from " + from.options.node + " with turn " +
        std::to_string(snapshot->newest_turn()));
  agenda_.after(random_.between(20, is_quiet_ ? 500 : 4000) * kMs,
                [this, index, source, life = from.life, snapshot] {
                  open_snapshot(index, *source, life, snapshot);
                });
}

void World::open_snapshot(size_t index, size_t source, uint64_t source_life,
                          std::shared_ptr<Disk> snapshot) {
  Node& from = *nodes_[source];
  from.checkpoints.erase(index);
  if (from.process == nullptr || from.life != source_life) return take_snapshot(index, true);
  counts_.add(Fault::kSnapshot);
  nodes_[index]->disk = std::move(snapshot);
  nodes_[index]->takes_snapshot = false;
  start(index);
}

// Nobody is left whom a snapshot could be taken from, and the log does not begin at its beginning.
// A person goes on with one directory in a new shard. Only an engine that loses what it has
// acknowledged can bring this about.
bool World::has_ended() {
  for (const auto& node : nodes_) {
    if (node->process != nullptr && !node->process->has_stopped()) return false;
  }
  if (options_.loses_acknowledged) return true;
  throw Violation("no member is left:\n" + describe());
}

}  // namespace weir::storage::replication
