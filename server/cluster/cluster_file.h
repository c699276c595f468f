// The file CLUSTER in the data directory: what a member knew of its cluster, for its next start.
//
//     cluster <32 hexadecimal digits>
//     shard NAME INSTANCE-MS INSTANCE-RANDOM CLAIM CHANGES
//     slots FIRST-LAST:VERSION ...                       no line: none is shown for this shard
//     member NODE HOST PORT TLS-PORT HOSTNAME ROLE       "-": it has none; primary or standby
//     end CRC64
//
// The lines after a shard's are of that shard. The file lies beside NODE and outside the store, so
// that a checkpoint has none. It is replaced as a whole; what it says may be old, and is no more
// than a hint. DO NOT CHANGE: storage/FORMAT.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/cluster/shard_facts.h"

namespace weir::server {

inline constexpr size_t kClusterFileBytesMax = 2 << 20;

struct FiledShard {
  std::string name = {};
  ShardInstance instance = {};
  uint64_t claim = 0;
  uint64_t changes = 0;
  std::vector<ToldRange> slots = {};
  // Without states, turns and digests.
  std::vector<ToldMember> members = {};
  bool operator==(const FiledShard&) const = default;
};

struct ClusterFile {
  std::string cluster = {};
  std::vector<FiledShard> shards = {};  // in the order of their names
  bool operator==(const ClusterFile&) const = default;
};

std::string cluster_file_text(const ClusterFile& file);
// Refuses whatever cluster_file_text() does not write.
Result<ClusterFile, std::string> parse_cluster_file(std::string_view text);

}  // namespace weir::server
