// Facts of members for tests.
#pragma once

#include <cstdint>
#include <string>

#include "server/cluster/shard_facts.h"

namespace weir::server {

inline const std::string kTestCluster = "00112233445566778899aabbccddeeff";

// "a1" is the first member of shard a.
inline std::string node_named(const std::string& name) {
  std::string node(40, '0');
  for (size_t at = 0; at < name.size(); ++at) {
    node[2 * at] = "0123456789abcdef"[static_cast<uint8_t>(name[at]) >> 4];
    node[2 * at + 1] = "0123456789abcdef"[name[at] & 15];
  }
  return node;
}

inline ToldMember member_named(const std::string& name, int port) {
  return {.node = node_named(name), .host = "10.0.0.1", .port = port, .state = "following"};
}

// Facts of a shard "a" of two, "a1" with port 7001, the primary, and "a2", as the former tells.
inline ShardFacts facts_named(const std::string& shard, int port, SlotRange slots) {
  ShardFacts facts;
  facts.cluster = kTestCluster;
  facts.shard = shard;
  facts.node = node_named(shard + "1");
  facts.serves = true;
  facts.claim = 7;
  facts.slots = {{.slots = slots, .version = 1}};
  facts.members = {member_named(shard + "1", port), member_named(shard + "2", port + 1)};
  facts.members[0].is_primary = true;
  facts.members[0].state = "primary";
  return facts;
}

// The same as another member tells it.
inline ShardFacts told_by(const std::string& name, ShardFacts facts) {
  facts.node = node_named(name);
  facts.serves = false;
  return facts;
}

}  // namespace weir::server
