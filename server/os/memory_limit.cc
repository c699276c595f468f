#include "server/os/memory_limit.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string_view>

namespace weir::server {
namespace {

namespace fs = std::filesystem;

// A version of control groups: where its groups are, and what the file with the limit is called.
struct GroupTree {
  fs::path mounted;
  std::string_view file;
};

// Lines are NUMBER:CONTROLLERS:GROUP; version 2 has no controllers there.
bool is_memory_tree(std::string_view controllers) {
  return ("," + std::string(controllers) + ",").find(",memory,") != std::string::npos;
}

// A number that a version 1 without a limit has is larger than any machine; "max" is no number.
void lower(const fs::path& file, MemoryLimit* limit) {
  int64_t bytes = 0;
  if (!(std::ifstream(file) >> bytes) || bytes <= 0 || bytes >= limit->bytes) return;
  *limit = {.bytes = bytes, .source = file.string()};
}

// Goes from the group to the root of the tree. In a container the tree may begin at the group
// itself, so that the group's own path is not there: its root has the limit then.
void lower_by_groups(const GroupTree& tree, std::string_view group, MemoryLimit* limit) {
  for (fs::path path = fs::path(group).relative_path();; path = path.parent_path()) {
    lower(tree.mounted / path / tree.file, limit);
    if (path.empty()) return;
  }
}

}  // namespace

MemoryLimit memory_limit(const std::string& root) {
  MemoryLimit limit = {
      .bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE),
      .source = "the machine"};
  const fs::path groups = root + "/sys/fs/cgroup";
  std::ifstream lines(root + "/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    const std::string_view group = std::string_view(line).substr(second + 1);
    if (controllers.empty()) {
      lower_by_groups({.mounted = groups, .file = "memory.max"}, group, &limit);
    } else if (is_memory_tree(controllers)) {
      lower_by_groups({.mounted = groups / "memory", .file = "memory.limit_in_bytes"}, group,
                      &limit);
    }
  }
  return limit;
}

}  // namespace weir::server
