#include "server/cluster/request_slot.h"

#include <cstdlib>
#include <string>

#include "server/command/command_facts.h"

namespace weir::server {
namespace {

// Reads a number of keys as a cluster's node does before the command looks at it itself: as C's
// atoi, which takes what stands before the first byte that is no digit.
int number_of_keys(std::string_view word) {
  constexpr size_t kBytesMax = 64;
  return static_cast<int>(std::strtol(std::string(word.substr(0, kBytesMax)).c_str(), nullptr, 10));
}

}  // namespace

bool RequestSlot::add_key(std::string_view key) {
  const int slot = hash_slot(key);
  if (slot_ == kNoSlot) slot_ = slot;
  crosses_ |= slot != slot_;
  return !crosses_;
}

void RequestSlot::add(const Command& command, Args args) {
  if (crosses_) return;
  const KeyPositions& keys = command.keys;
  if (command.more_keys != nullptr && command.has(kMovableKeys)) {
    for (const KeyReference& key : find_keys(command, args)) {
      if (!add_key(args[key.position])) return;
    }
    return;
  }
  const auto count = static_cast<int>(args.size());
  if (keys.numkeys > 0) {
    if (keys.numkeys >= count) return;
    const int named = number_of_keys(args[static_cast<size_t>(keys.numkeys)]);
    const int begin = keys.numkeys + 1;
    if (named < 1 || named > count - begin) return;  // not even that of the target counts
    for (int at = begin; at < begin + named; ++at) {
      if (!add_key(args[static_cast<size_t>(at)])) return;
    }
  }
  if (keys.first == 0) return;
  const int last = keys.last < 0 ? count + keys.last : keys.last;
  for (int at = keys.first; at <= last && at < count; at += keys.step) {
    if (!add_key(args[static_cast<size_t>(at)])) return;
  }
}

}  // namespace weir::server
