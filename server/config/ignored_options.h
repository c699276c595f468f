// Options of Redis that have no meaning here and do no harm: how Redis lays values out in memory,
// how hard it looks for what to evict, how it writes files that weir does not have.
//
// Tools set them and go on. A value is checked, kept and answered by CONFIG GET; nothing reads it.
// An option whose value would be a promise (replicas, snapshots, append-only files) is not here: it
// is refused with a reason (refused_options.h), or has its one true value in config_options.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "server/config/config.h"

namespace weir::server {

struct IgnoredOption {
  enum class Kind : uint8_t { kYesNo, kNumber, kBytes, kEvictionPolicy };

  std::string_view name;
  std::string_view alias;  // Redis' older name; empty if there is none
  std::string_view value;  // Redis 7.0's default
  Kind kind;
};

std::span<const IgnoredOption> ignored_options();

// Finds one by name or alias, in any case; null if there is none.
const IgnoredOption* find_ignored(std::string_view name);

// Keeps a value. False: Redis would refuse it too.
bool set_ignored(const IgnoredOption& option, std::string_view value, Config* config);

std::string_view ignored_value(const IgnoredOption& option, const Config& config);

}  // namespace weir::server
