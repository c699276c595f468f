// What policies were before they were changed: by whom, and when.
//
//     record "policy-change/<number>" := format(u8 = 1) wall-ms(varint) size(varint) policy
//                                        size(varint) user before        DO NOT CHANGE
//
// Numbers rise, and `before` is the policy's words, empty where there was none. A policy has at
// most kChangesOfPolicyMax, and all together kChangesMax: the oldest goes. So a policy that was
// deleted has its history until others have pushed it out, and one that is changed all day pushes
// out its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/keyspace/keyspace.h"

namespace weir::server {

inline constexpr size_t kChangesOfPolicyMax = 16;
inline constexpr size_t kChangesMax = 2000;
inline constexpr size_t kChangeTextBytesMax = 2048;  // of what was before; longer ones are cut

struct PolicyChange {
  int64_t wall_ms = 0;
  std::string policy = {};
  std::string user = {};
  std::string before = {};
};

struct NumberedChange {
  uint64_t number = 0;  // larger than any before
  PolicyChange change = {};
};

// Keeps changes, in the order of their numbers. Takes time in proportion to how many are kept.
void keep_changes(storage::Keyspace& keys, std::vector<NumberedChange> changes);

// Answers the changes of a policy, the newest first.
std::vector<PolicyChange> changes_of(storage::Keyspace& keys, std::string_view policy);

}  // namespace weir::server
