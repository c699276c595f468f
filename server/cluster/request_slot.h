// Which hash slot a request is for, or several requests together.
#pragma once

#include "server/cluster/hash_slot.h"
#include "server/command/command.h"

namespace weir::server {

class RequestSlot {
 public:
  // Adds the keys of a request whose arity fits, and its sharded channels, which have slots as keys
  // have. Does not look at any after the first that is in another slot than those before it.
  void add(const Command& command, Args args);

  // Answers the slot of the first key, or kNoSlot if there was none.
  int slot() const { return slot_; }
  // Tells whether there were keys of several slots.
  bool crosses() const { return crosses_; }

 private:
  bool add_key(std::string_view key);

  int slot_ = kNoSlot;
  bool crosses_ = false;
};

// Tells whether requests of a row may name several keys. Of most rows they cannot.
inline bool may_name_several_keys(const Command& command) {
  return command.keys.last != command.keys.first || command.keys.numkeys > 0 ||
         command.has(kMovableKeys);
}

}  // namespace weir::server
