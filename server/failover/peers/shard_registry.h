// The members of a shard as they tell one another of themselves, in the member registry that the
// engine of the shared log keeps beside it.
//
// Every member writes its facts every two seconds, and at once if its role has changed. What is
// read there may be late, wrong or missing; nothing depends on it but where clients go, and how
// much of the log is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/core/shard/membership.h"
#include "storage/replication/member_registry.h"
#include "storage/replication/shared_log.h"

namespace weir::server {

// "host:port" of the members whose data can be copied, but this one's: standbys first, and among
// them the one that has most.
std::vector<std::string> sources_of(const storage::replication::RegistryView& registry,
                                    const std::string& self);

class ShardRegistry {
 public:
  static constexpr int64_t kEveryNs = 2 * kNsPerS;
  static constexpr int64_t kSoonNs = 200 * kNsPerMs;

  // `registry` is null where the engine has none: then a member knows itself alone.
  explicit ShardRegistry(storage::replication::MemberRegistry* registry) : registry_(registry) {}

  // When facts are to be written next, by CLOCK_BOOTTIME.
  int64_t next_ns(storage::replication::Role role) const;
  void write(const storage::replication::MemberFacts& own, int64_t boot_ns);
  // Tells whether the others can know that this member leaves.
  bool has_told_leaving() const;
  // Reads what the others tell more often than it is due. To be called while somebody waits for it.
  void read_soon(int64_t boot_ns);

  // What all members have told, but the one whose facts these are: it is as it is. The registry
  // counts as read once this member is found there.
  storage::replication::RegistryView view(const storage::replication::MemberFacts& own) const;
  // `primary` is the primary's node as the log has it.
  std::vector<MemberSeen> members(const storage::replication::MemberFacts& own,
                                  const std::string& primary) const;

 private:
  storage::replication::MemberRegistry* const registry_;
  storage::replication::Role written_role_ = storage::replication::Role::kJoining;
  int64_t written_ns_ = -kEveryNs;
  int64_t read_soon_ns_ = -kSoonNs;
};

}  // namespace weir::server
