// How much memory this process may have, and what says so. The kernel ends a process that takes
// more than its control group has, so the group's limit counts as the machine's size.
#pragma once

#include <cstdint>
#include <string>

namespace weir::server {

struct MemoryLimit {
  int64_t bytes = 0;
  std::string source;  // "the machine", or the file that has the limit
};

// Answers the least of the machine's memory and the limits of the process's control group and of
// all groups that this is in, of either version. What cannot be read limits nothing. `root` is
// where the files /proc/self/cgroup and /sys/fs/cgroup are looked for; tests give another one.
MemoryLimit memory_limit(const std::string& root = "");

}  // namespace weir::server
