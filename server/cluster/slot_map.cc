#include "server/cluster/slot_map.h"

#include <algorithm>
#include <utility>

#include "server/acl/sha256.h"

namespace weir::server {
namespace {

// A primary is asked twice a second.
constexpr int64_t kQuietMs = 2'000;
constexpr int64_t kLostMs = 10'000;
constexpr size_t kShardIdDigits = 40;
constexpr size_t kMapDigestDigits = 16;

bool is_self(const ShownMember& member) { return member.is_self; }

// Whether both count alike in a digest.
bool is_shown_alike(const ShownShard& one, const ShownShard& other) {
  const ShownMember* const a = one.primary();
  const ShownMember* const b = other.primary();
  const bool is_same = a == nullptr || b == nullptr ? a == b : a->id == b->id;
  return is_same && one.name == other.name && one.epoch == other.epoch;
}

ShownShard shard_of_owner(const Owner& owner, int64_t epoch) {
  ShownShard shard{.name = owner.name, .epoch = epoch, .ranges = owner.ranges};
  shard.members.push_back({.id = node_id_of(owner.name),
                           .host = owner.host,
                           .port = owner.port,
                           .tls_port = owner.tls_port,
                           .is_primary = true});
  return shard;
}

}  // namespace

const ShownMember* ShownShard::primary() const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [](const ShownMember& member) { return member.is_primary; });
  return found == members.end() ? nullptr : &*found;
}

SlotMap::SlotMap(std::vector<ShownShard> shards) : SlotMap() {
  shards_ = std::move(shards);
  for (size_t at = 0; at < shards_.size(); ++at) {
    const ShownShard& shard = shards_[at];
    for (const SlotRange& range : shard.ranges) {
      for (int slot = range.first; slot <= range.last; ++slot) {
        uint16_t& of = of_slot_[static_cast<size_t>(slot)];
        if (of == kNobody) of = static_cast<uint16_t>(at);
      }
    }
    if (std::any_of(shard.members.begin(), shard.members.end(), is_self)) own_ = at;
  }
  for (ShownShard& shard : shards_) shard.ranges.clear();
  for (int slot = 0; slot < kSlots; ++slot) {
    if (shard_of(slot) == kNobody) continue;
    std::vector<SlotRange>& ranges = shards_[shard_of(slot)].ranges;
    if (!ranges.empty() && ranges.back().last == slot - 1) {
      ranges.back().last = slot;
    } else {
      ranges.push_back({slot, slot});
    }
  }
}

SlotMap::SlotMap(ShownShard first, std::vector<ShownShard> others)
    : SlotMap([&] {
        others.insert(others.begin(), std::move(first));
        return std::move(others);
      }()) {}

SlotMap::SlotMap(const Topology& topology, size_t me, const std::string& id,
                 const std::string& hostname)
    : SlotMap() {
  for (const Owner& owner : topology.owners())
    shards_.push_back(shard_of_owner(owner, topology.epoch()));
  ShownMember& mine = shards_[me].members[0];
  mine.id = id;
  mine.hostname = hostname;
  mine.is_self = true;
  for (ShownShard& shard : shards_) shard.id = shard.members[0].id;
  for (int slot = 0; slot < kSlots; ++slot)
    of_slot_[static_cast<size_t>(slot)] = static_cast<uint16_t>(topology.owner_of(slot));
  own_ = me;
}

const ShownShard* SlotMap::shard_of_member(std::string_view id) const {
  const auto has_it = [&](const ShownShard& shard) {
    return std::any_of(shard.members.begin(), shard.members.end(),
                       [&](const ShownMember& member) { return member.id == id; });
  };
  const auto found = std::find_if(shards_.begin(), shards_.end(), has_it);
  return found == shards_.end() ? nullptr : &*found;
}

const ShownMember* SlotMap::find(std::string_view id) const {
  for (const ShownShard& shard : shards_) {
    for (const ShownMember& member : shard.members)
      if (member.id == id) return &member;
  }
  return nullptr;
}

void SlotMap::show(size_t place, ShownShard shard) {
  const ShownMember* const last = shards_[place].primary();
  if (last != nullptr && shard.primary() == nullptr) {
    const auto same =
        std::find_if(shard.members.begin(), shard.members.end(),
                     [&](const ShownMember& member) { return member.id == last->id; });
    if (same != shard.members.end()) {
      same->is_primary = true;
    } else {
      shard.members.push_back(*last);
      shard.members.back().is_heard = false;
      shard.members.back().health = ShownMember::Health::kFailed;
    }
  }
  if (!is_shown_alike(shard, shards_[place])) digest_.clear();
  shard.ranges = std::move(shards_[place].ranges);
  shards_[place] = std::move(shard);
}

std::vector<SlotMap::Row> SlotMap::rows() const {
  std::vector<Row> rows;
  for (size_t at = 0; at < shards_.size(); ++at) {
    if (shards_[at].primary() == nullptr) continue;
    for (const SlotRange& range : shards_[at].ranges) rows.push_back({range, at});
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.range.first < b.range.first; });
  return rows;
}

SlotMap::Counts SlotMap::counts() const {
  Counts counts;
  for (const ShownShard& shard : shards_) {
    counts.members += shard.members.size();
    counts.with_slots += shard.ranges.empty() ? 0 : 1;
    if (shard.primary() == nullptr) continue;
    for (const SlotRange& range : shard.ranges) {
      const int slots = range.last - range.first + 1;
      counts.assigned += slots;
      if (shard.silent_ms >= kLostMs) {
        counts.lost += slots;
      } else if (shard.silent_ms >= kQuietMs) {
        counts.quiet += slots;
      }
    }
  }
  return counts;
}

const std::string& SlotMap::digest() const {
  if (!digest_.empty()) return digest_;
  std::string text;
  for (const Row& row : rows()) {
    const ShownShard& shard = shards_[row.shard];
    text += shard.name + " " + std::to_string(shard.epoch) + " " + shard.primary()->id + " " +
            std::to_string(row.range.first) + "-" + std::to_string(row.range.last) + "\n";
  }
  digest_ = acl::sha256_hex(text).substr(0, kMapDigestDigits);
  return digest_;
}

std::string shard_id_of(std::string_view cluster, std::string_view name) {
  const std::string text = "weir cluster shard " + std::string(cluster) + " " + std::string(name);
  return acl::sha256_hex(text).substr(0, kShardIdDigits);
}

}  // namespace weir::server
