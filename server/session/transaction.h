// What a session has asked to happen at once: the commands queued since MULTI, and the keys it
// watches. It runs nothing: the executor does.
//
// Invariants
// 1. Only commands that were known, fitting and allowed are queued.
// 2. clear() releases what is watched. It holds because EXEC, DISCARD, RESET and
//    Server::disconnect() call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/command/command.h"
#include "storage/keyspace.h"

namespace weir::server {

struct QueuedCommand {
  const Command* command = nullptr;
  std::vector<std::string> args;
};

class Transaction {
 public:
  bool open() const { return open_; }
  void begin() { open_ = true; }
  // A command was refused: EXEC will refuse them all.
  void abort() { aborted_ |= open_; }
  bool aborted() const { return aborted_; }

  void queue(const Command& command, Args args);
  const std::vector<QueuedCommand>& queued() const { return queued_; }
  // Flags that any of the queued commands has.
  uint32_t flags() const { return flags_; }
  // The bytes of the arguments alone; memory_bytes() is what Redis calls multi-mem, with the places
  // for them.
  size_t argument_bytes() const { return argument_bytes_; }
  size_t memory_bytes() const;

  bool watches_anything() const { return !watched_.empty(); }
  // A key watched already stays watched since then.
  void watch(storage::Keyspace& keys, int database, std::string_view key);
  void unwatch(storage::Keyspace& keys);
  // Whether any watched key has changed, or has ended by now. Asks every watch.
  bool watched_changed(const storage::Watches& watches, int64_t now_ms) const;
  // Whether any watched key has changed, as far as that is known without asking: one that has ended
  // is seen by EXEC.
  bool watched_touched() const { return touched_ != nullptr && *touched_; }

  // Makes it as new: nothing is queued, nothing watched.
  void clear(storage::Keyspace& keys);

 private:
  bool open_ = false;
  bool aborted_ = false;
  uint32_t flags_ = 0;
  size_t argument_bytes_ = 0;
  std::vector<QueuedCommand> queued_;
  std::map<std::pair<int, std::string>, storage::WatchId> watched_;
  std::shared_ptr<bool> touched_;  // shared with the watches
};

}  // namespace weir::server
