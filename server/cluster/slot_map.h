// Who is shown to clients of a cluster for each hash slot: shards, and the members of each. A file
// of a topology shows each owner as a shard of one member, and a server alone has all slots.
//
// What is shown may be late or wrong; it decides where clients go, never who serves.
//
// Invariant: a slot is shown for one shard at most.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/cluster/hash_slot.h"
#include "server/cluster/topology.h"

namespace weir::server {

struct ShownMember {
  enum class Health : uint8_t {
    kOnline,
    kLoading,  // it takes in data that it has not served or followed yet
    kFailed,   // it was not heard of for ten seconds, or has stopped
  };

  std::string id = {};        // 40 hexadecimal digits
  std::string host = {};      // without brackets; "": the address by which the asker has come
  std::string hostname = {};  // that is told beside the host; "": none
  int port = 0;
  int tls_port = 0;  // 0: `port`
  bool is_self = false;
  bool is_primary = false;
  bool is_heard = true;  // within ten seconds
  Health health = Health::kOnline;
  int64_t age_ms = 0;  // since it was heard of
  uint64_t turn = 0;   // the newest that it has applied or made

  int port_for(bool over_tls) const { return over_tls && tls_port != 0 ? tls_port : port; }
};

struct ShownShard {
  std::string name = {};
  std::string id = {};                 // 40 hexadecimal digits
  int64_t epoch = 0;                   // grows whenever its slots change
  std::vector<SlotRange> ranges = {};  // in order
  std::vector<ShownMember> members = {};
  int64_t silent_ms = 0;  // since a primary that serves was heard of
  // Nobody names its primary: it is the last one that was known, of an earlier process as a rule.
  bool is_remembered = false;

  // Null: none is known.
  const ShownMember* primary() const;
};

class SlotMap {
 public:
  // In the place of a shard: a slot that is shown for nobody.
  static constexpr size_t kNobody = UINT16_MAX;

  // Nothing is shown yet.
  SlotMap() : of_slot_(kSlots, static_cast<uint16_t>(kNobody)) {}
  // Of shards that this server is a member of one of, or of none. Where several have a slot, it is
  // shown for the first of them. REQUIRES: fewer than kNobody of them.
  explicit SlotMap(std::vector<ShownShard> shards);
  SlotMap(ShownShard first, std::vector<ShownShard> others);
  // Of the owners of a topology, of which this server is `me`, with this id.
  SlotMap(const Topology& topology, size_t me, const std::string& id, const std::string& hostname);

  const std::vector<ShownShard>& shards() const { return shards_; }
  // Answers the shard of a slot, and this server's own, as places in shards(); kNobody: none.
  size_t shard_of(int slot) const { return of_slot_[static_cast<size_t>(slot)]; }
  size_t own() const { return own_; }
  const ShownMember* find(std::string_view id) const;
  const ShownShard* shard_of_member(std::string_view id) const;

  // Shows a shard as it is now; its slots stay. If none of its members is a primary, the one that
  // was shown last goes on being shown, so that clients go on trying it. REQUIRES: a place in
  // shards().
  void show(size_t place, ShownShard shard);

  // A range of a shard, and the shard's place.
  struct Row {
    SlotRange range;
    size_t shard;
  };
  // Answers all ranges in order, of shards that show a primary.
  std::vector<Row> rows() const;
  struct Counts {
    int assigned = 0;  // slots that are shown for a primary
    int quiet = 0;     // of those, slots of shards that are silent for two seconds
    int lost = 0;      // and of those that are so for ten seconds; they are not quiet
    size_t members = 0;
    size_t with_slots = 0;  // shards that have any
  };
  Counts counts() const;
  // Answers 16 hexadecimal digits that are the same for servers that show the same primaries. They
  // are computed once for what is shown.
  const std::string& digest() const;

 private:
  std::vector<ShownShard> shards_;
  std::vector<uint16_t> of_slot_;
  size_t own_ = kNobody;
  mutable std::string digest_;  // "": not computed yet
};

// Answers the 40 hexadecimal digits by which a shard of a cluster is shown: they follow from the
// cluster's id and the shard's name.
std::string shard_id_of(std::string_view cluster, std::string_view name);

}  // namespace weir::server
