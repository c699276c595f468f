// What one member knows of the whole cluster: for each shard the newest that its members told, and
// which shard is shown for each slot. It is made of facts (shard_facts.h) and of the file CLUSTER,
// decides nothing, and has no clock.
//
// Invariants
// 1. Facts about a shard count from its own members only. Of what several of them have told lately,
//    that with the latest CLAIM counts, then that of a primary that serves, then the newest: one
//    that was demoted and does not know it yet is not believed for longer than kFreshNs.
// 2. A slot is shown for the shard that has claimed it with the highest version ever heard, and
//    between equals for the shard whose name comes first. So a slot without a primary keeps its
//    last address, and members that heard the same show the same, in whichever order it came.
// 3. What others tell cannot make it grow without bound: kShardsMax shards of kMembersMax members,
//    of which kSlotlessMax are shown for no slot. So names that somebody makes up leave room.
// 4. What no member tells that goes by its log is not believed: see Heard.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time_units.h"
#include "server/cluster/cluster_file.h"
#include "server/cluster/shard_facts.h"

namespace weir::server {

// A member as it is shown. Its ages are those of what was heard, also through other members.
struct KnownMember {
  ToldMember told = {};
  bool is_self = false;
  int64_t age_ns = 0;  // kNeverHeard: since this process began
};

struct KnownShard {
  static constexpr int64_t kNeverHeard = INT64_MAX;

  std::string name = {};
  ShardInstance instance = {};
  uint64_t claim = 0;
  uint64_t changes = 0;
  std::vector<ToldRange> slots = {};  // for which it is shown, in order
  std::vector<KnownMember> members = {};
  bool is_own = false;
  int64_t heard_ns = kNeverHeard;   // since one of its members told anything
  int64_t served_ns = kNeverHeard;  // since one of them told that it serves
  // Of the member whose facts count.
  uint64_t settings = 0;
  std::string settings_digest = {};
  uint64_t decisions_per_s = 0;
  uint64_t busy_permille = 0;
  uint64_t keys = 0;

  const KnownMember* primary() const;  // the last that was known; null: none ever
};

// Numbers that are others whenever what is known is shown otherwise, but for ages, turns and loads.
struct KnownRevision {
  uint64_t members = 0;
  uint64_t slots = 0;  // which shards there are, and what is shown for them
  bool operator==(const KnownRevision&) const = default;
};

class ClusterFacts {
 public:
  // What a member has told counts for so long beside what others told later.
  static constexpr int64_t kFreshNs = 2 * kNsPerS;
  static constexpr size_t kSlotlessMax = 16;
  // A version grows by one each time that another shard gets the slot: so far it would be in two
  // years of once a minute.
  static constexpr uint64_t kVersionStepMax = 1 << 20;
  // Slots change hands twenty times a second at most, which makes so many changes in six years.
  static constexpr uint64_t kChangesStepMax = uint64_t{1} << 32;
  // How far the clock of who made a shard may be ahead of this machine's.
  static constexpr uint64_t kInstanceLeadMs = 3'600'000;
  // What others tell of a shard's addresses does not count for so long after it was forgotten, so
  // that people can tell one member after the other.
  static constexpr int64_t kForgottenNs = 60 * kNsPerS;

  enum class Heard : uint8_t {
    kTaken,
    kOtherCluster,
    kOlderInstance,  // the shard was restored since
    kInstanceAhead,  // made by a clock that is kInstanceLeadMs ahead of this one's
    kFarVersion,     // of a slot, or the number of changes: too far above what was known
    kTooManyShards,
    kTooManySlotless,
  };

  struct Self {
    std::string cluster;  // 32 hexadecimal digits
    std::string shard;
    std::string node;
    ShardInstance instance = {};
  };
  static constexpr uint64_t kNoWallClock = 0;

  explicit ClusterFacts(Self self);

  // Begins with what an earlier process knew. A file of another cluster says nothing, and a shard's
  // instance that is ahead of the wall clock nothing of that shard.
  void restore(const ClusterFile& file, uint64_t wall_ms = kNoWallClock);
  // Takes in what a member has told; this one's own facts come in the same way. `now_ns` is of one
  // clock that never runs back, for all calls. A wall clock that stands before the instance of the
  // own shard is wrong, and refuses nothing.
  Heard hear(const ShardFacts& facts, int64_t now_ns, uint64_t wall_ms = kNoWallClock);
  // Knows nothing of a shard any more; its slots are shown for who claims them besides. Its members
  // may tell of it again. False: it is not known, or the own one.
  bool forget(std::string_view shard, int64_t now_ns);

  const KnownRevision& revision() const { return revision_; }
  // In the order of their names. What members tell of their options and users is not kept.
  std::vector<KnownShard> shards(int64_t now_ns) const;
  // That of this member.
  KnownShard own_shard(int64_t now_ns) const;
  // Of one of them; none: it is not known.
  std::vector<KnownMember> members_of(std::string_view shard, int64_t now_ns) const;
  // The shard that is shown for a slot; "": none ever was.
  std::string_view shard_of(int slot) const;
  // Whether some shard is shown for every slot.
  bool is_whole() const;
  // Where a shard's members may be asked: the primary first, then the others, then what members of
  // other shards told. Never this member.
  std::vector<std::string> addresses_of(std::string_view shard, int64_t now_ns) const;
  // The shards but the own one of which anything was told, in the order of their names.
  std::vector<std::string> other_shards() const;
  // What this member tells of others' addresses: of those that it has heard itself, or that are
  // shown for a slot.
  std::vector<ToldAddresses> addresses(int64_t now_ns) const;
  // What the next process begins with.
  ClusterFile file(int64_t now_ns) const;

 private:
  struct Told {
    ShardFacts facts;
    int64_t at_ns = 0;
  };
  struct Shard {
    ShardInstance instance;
    std::map<std::string, Told> told;    // by who told it
    std::optional<FiledShard> filed;     // until something was told
    std::optional<ToldMember> primary;   // the last that was known
    std::vector<std::string> addresses;  // that members of other shards told, newest first
    int64_t served_at_ns = INT64_MIN;
    uint64_t changes = 0;                // as told last
    std::vector<ToldRange> ranges = {};  // likewise
    size_t slots = 0;                    // for which it is shown
    std::vector<ToldRange> shown = {};   // likewise
  };
  using Shards = std::map<std::string, Shard, std::less<>>;
  using Entry = Shards::value_type;  // which stays where it is until it is forgotten
  struct Claim {
    uint64_t version = 0;    // 0: nobody
    Entry* shard = nullptr;  // of shards_
  };

  Entry* find(std::string_view name);
  Entry* add(std::string_view name, bool is_slotless);
  bool is_ahead(const ShardInstance& instance, uint64_t wall_ms) const;
  bool is_far(const ShardFacts& facts, const Entry* known) const;
  static bool wins(const ToldRange& range, const std::string& shard, const Claim& shown);
  bool wins_any(const ShardFacts& facts) const;
  bool claim(Entry* entry);
  void show_ranges();
  void hear_addresses(const ToldAddresses& told, int64_t now_ns);
  static const Told* newest(const Shard& shard, int64_t now_ns);
  KnownMember member_of(const ToldMember& member, const Told& from, const Shard& shard,
                        int64_t now_ns) const;
  KnownShard shown(const std::string& name, const Shard& shard, int64_t now_ns) const;

  const Self self_;
  KnownRevision revision_;
  Shards shards_;
  std::vector<Claim> slots_;                               // by slot
  std::map<std::string, int64_t, std::less<>> forgotten_;  // when, by name
};

}  // namespace weir::server
