// What a connection does when no append or read wants it: the member registry, trimming, and
// looking whether the server's settings have changed.
//
// Invariants
// 1. Of what is due, something is done after a while even if the connection is never idle: else a
//    busy primary would not trim, and would seem to be gone.
// 2. One trimming takes about a tenth of a second at most, since appends wait for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/replication/shared_log.h"
#include "storage/shared_logs/postgres/session.h"

namespace weir::storage::postgres {

class Maintenance {
 public:
  explicit Maintenance(std::string shard) : shard_(std::move(shard)) {}

  void put(std::string name, std::string facts, int64_t now_ns);
  bool has_written() const { return unwritten_.empty() && doing_ != Task::kPut; }
  // The registry is read as soon as the connection takes it.
  void read_soon() { done_ns_.erase(Task::kRegistry); }
  // As it was last read; ages are of `now_ns`.
  std::vector<replication::RegistryEntry> registry(int64_t now_ns) const;
  void trim(uint64_t up_to);

  // A new connection; what was under way on another is not answered any more.
  void begin(int64_t now_ns);
  // What is to be done now. `is_idle`: nothing else waits for the connection.
  std::optional<Statement> next(int64_t now_ns, bool is_idle);
  // The answer to it.
  void take(const Answer& answer, int64_t now_ns);
  // When next() may have something, if the connection is idle.
  int64_t next_deadline() const;
  // The setting synchronous_standby_names, once it was read anew.
  std::optional<uint64_t> copies() const { return copies_; }
  // Why the member registry could not be read or the log not be trimmed, one line; empty: all is
  // well.
  const std::string& trouble() const { return trouble_; }

 private:
  enum class Task { kNone, kPut, kRegistry, kTrim, kFacts };

  int64_t due_ns(Task task) const;

  const std::string shard_;
  Task doing_ = Task::kNone;
  int64_t begun_ns_ = 0;
  int64_t since_ns_ = 0;
  std::map<Task, int64_t> done_ns_;
  std::map<std::string, std::string> unwritten_;
  int64_t put_ns_ = 0;  // the newest put()
  std::vector<replication::RegistryEntry> registry_;
  int64_t registry_read_ns_ = 0;
  uint64_t trim_up_to_ = 0;
  uint64_t trimming_up_to_ = 0;
  uint64_t trim_records_ = 64;
  std::optional<uint64_t> copies_;
  std::string trouble_;
};

}  // namespace weir::storage::postgres
