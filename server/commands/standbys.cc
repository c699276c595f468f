#include "server/commands/standbys.h"

#include "server/core/run/server.h"

namespace weir::server {

std::vector<MemberSeen> standbys_of(Call& call) {
  const Membership* shard = server_of(call).shard_role().membership();
  if (shard == nullptr || !shard->serves()) return {};
  std::vector<MemberSeen> members = shard->members();
  std::erase_if(members,
                [](const MemberSeen& member) { return member.is_self || !member.is_standby; });
  return members;
}

bool is_in_shard(Call& call) { return server_of(call).shard_role().membership() != nullptr; }

bool is_committed(Call& call, uint64_t turn) {
  const Membership* shard = server_of(call).shard_role().membership();
  return shard == nullptr || shard->view().committed >= turn;
}

int64_t standbys_with(Call& call, uint64_t turn) {
  if (!is_in_shard(call) || !is_committed(call, turn)) return 0;
  return static_cast<int64_t>(standbys_of(call).size());
}

uint64_t turn_of_now(Call& call) {
  return call.keys.turn() + (call.keys.running().has_changes() ? 1 : 0);
}

}  // namespace weir::server
