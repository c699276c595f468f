// What a session has asked to happen at once: the commands queued since MULTI, and the keys that it
// watches. A transaction runs nothing: the executor does.
//
// Invariants
// 1. Every queued command is known, has a fitting number of arguments and was allowed, because the
//    executor admits a command before it queues it.
// 2. No watch outlives its session, because clear() releases what is watched, and EXEC, DISCARD,
//    RESET and Server::disconnect() call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/command/command.h"
#include "server/session/kept_bytes.h"
#include "server/session/queued_commands.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class Transaction {
 public:
  // `kept`: where it writes down what it keeps.
  explicit Transaction(KeptBytes* kept) : kept_(*kept) {}

  bool open() const { return open_; }
  void begin() { open_ = true; }
  // Takes note that a command was refused, so that EXEC will refuse them all.
  void abort() { aborted_ |= open_; }
  bool aborted() const { return aborted_; }

  void queue(const Command& command, Args args);
  const QueuedCommands& queued() const { return queued_; }
  // Answers all flags that any of the queued commands has.
  uint32_t flags() const { return flags_; }

  // Watches a key; one that is watched already stays watched from the earlier instant on.
  void watch(storage::Keyspace& keys, int database, std::string_view key);
  void unwatch(storage::Keyspace& keys);
  // Tells whether any watched key has changed, or has expired by now. It asks every watch.
  bool watched_changed(const storage::Watches& watches, int64_t now_ms) const;
  // Tells whether any watched key has changed, as far as that is known without asking every watch:
  // EXEC sees those that have expired.
  bool watched_touched() const { return touched_ != nullptr && *touched_; }

  // Makes the transaction as new: it is not open, and nothing is queued or watched.
  void clear(storage::Keyspace& keys);

 private:
  KeptBytes& kept_;
  bool open_ = false;
  bool aborted_ = false;
  uint32_t flags_ = 0;
  QueuedCommands queued_;
  using Watched = std::map<std::pair<int, std::string>, storage::WatchId>;
  Watched watched_;
  std::shared_ptr<bool> touched_;  // shared with the watches
};

}  // namespace weir::server
