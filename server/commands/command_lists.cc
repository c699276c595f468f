#include "server/commands/command_lists.h"

#include <array>

namespace weir::server {

// The last one is of members of a shard only.
std::span<const Commands> shard_command_lists() {
  static const std::array kLists = {
      connection_commands(),
      throttle_commands(),
      strings_commands(),
      strings_set_commands(),
      strings_edit_commands(),
      zset_commands(),
      zset_read_commands(),
      zset_ranges_commands(),
      zset_pop_commands(),
      zset_algebra_commands(),
      keys_commands(),
      object_commands(),
      dump_commands(),
      hash_commands(),
      hash_write_commands(),
      hash_expiry_commands(),
      set_commands(),
      set_algebra_commands(),
      keys_walk_commands(),
      expiry_commands(),
      databases_commands(),
      client_commands(),
      command_info_commands(),
      config_commands(),
      debug_commands(),
      info_commands(),
      persistence_commands(),
      scripting_commands(),
      transactions_commands(),
      pubsub_commands(),
      server_commands(),
      rl_take_commands(),
      rl_give_commands(),
      rl_wait_commands(),
      rl_info_commands(),
      rl_policy_commands(),
      rl_policy_reload_commands(),
      rl_help_commands(),
      gcra_commands(),
      increx_commands(),
      list_commands(),
      list_read_commands(),
      list_pop_commands(),
      list_blocking_commands(),
      latency_commands(),
      sort_commands(),
      slowlog_commands(),
      waitaof_commands(),
      functions_commands(),
      script_kill_commands(),
      acl_commands(),
      tracking_commands(),
      memory_commands(),
      standalone_commands(),
      weir_commands(),
      weir_snapshot_commands(),
      weir_settings_commands(),
      rl_report_commands(),
      cluster_commands(),
      cluster_changes_commands(),
      failover_commands(),
      sentinel_commands(),
  };
  return kLists;
}

std::span<const Commands> command_lists() {
  return shard_command_lists().first(shard_command_lists().size() - 1);
}

}  // namespace weir::server
