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
// 3. What others tell cannot make it grow without bound: kShardsMax shards of kMembersMax members.
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

class ClusterFacts {
 public:
  // What a member has told counts for so long beside what others told later.
  static constexpr int64_t kFreshNs = 2 * kNsPerS;

  enum class Heard {
    kTaken,
    kOtherClusterFirst,  // the first of another cluster: it is worth a line in the log
    kOtherCluster,
    kOlderInstance,  // the shard was restored since
    kTooManyShards,
  };

  struct Self {
    std::string cluster;  // 32 hexadecimal digits
    std::string shard;
    std::string node;
  };

  explicit ClusterFacts(Self self);

  // Begins with what an earlier process knew. A file of another cluster says nothing.
  void restore(const ClusterFile& file);
  // Takes in what a member has told; this one's own facts come in the same way. `now_ns` is of one
  // clock that never runs back, for all calls.
  Heard hear(const ShardFacts& facts, int64_t now_ns);

  // In the order of their names.
  std::vector<KnownShard> shards(int64_t now_ns) const;
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
  // What this member tells of others' addresses.
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
  };
  struct Claim {
    uint64_t version = 0;                // 0: nobody
    const std::string* shard = nullptr;  // a key of shards_, which are never erased
  };
  using Shards = std::map<std::string, Shard, std::less<>>;

  Shards::iterator find_or_add(std::string_view name);
  void claim(const std::string* shard, const std::vector<ToldRange>& ranges);
  void hear_addresses(const ToldAddresses& told);
  static const Told* newest(const Shard& shard, int64_t now_ns);
  KnownMember member_of(const ToldMember& member, const Told& from, const Shard& shard,
                        int64_t now_ns) const;
  KnownShard shown(const std::string& name, const Shard& shard, int64_t now_ns) const;
  std::map<std::string_view, std::vector<ToldRange>> shown_ranges() const;

  const Self self_;
  Shards shards_;
  std::vector<Claim> slots_;  // by slot
  bool has_met_others_ = false;
};

}  // namespace weir::server
