// What is asked on a new connection before it is used: whether the shard's streams are there, what
// they are like, and which server leads them. With --new-shard they are made.
//
// Invariants
// 1. A shard's stream is made by --new-shard alone. One that is missing is an error, since an empty
//    log in the place of a lost one would begin the shard anew.
// 2. A stream that is there is never changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/shared_logs/nats/answers.h"
#include "storage/shared_logs/nats/calls.h"
#include "storage/shared_logs/nats/requests.h"

namespace weir::storage::nats {

struct SessionPlan {
  bool makes_shard = false;
  bool allows_weak_engine = false;
  uint64_t bytes_max = 0;  // of the stream
};

// Why such a server or stream may lose what it has acknowledged; empty: it is not known to. What
// the servers' sync_interval is, no client is told.
std::string weakness_of(const StreamInfo& info);

class Session {
 public:
  Session(const Names& names, const SessionPlan& plan) : names_(names), plan_(plan) {}

  enum class Step { kMore, kReady, kFailed };
  // REQUIRES: the last step was kMore, or this is the first.
  Outgoing next() const;
  Step take(const Reply& reply);

  // Of kReady.
  const StreamInfo& info() const { return info_; }
  // Of kFailed: one line, and whether time does not heal it.
  const std::string& failure() const { return failure_; }
  bool needs_person() const { return needs_person_; }

 private:
  enum class State { kLook, kMakeLog, kMakeRegistry, kReadOnce };

  Step fail(std::string failure, bool needs_person);
  Step look(const std::string& answer);
  Step make(const std::string& answer);

  const Names& names_;
  const SessionPlan plan_;
  State state_ = State::kLook;
  uint64_t replicas_ = 3;
  bool has_made_ = false;
  StreamInfo info_;
  std::string failure_;
  bool needs_person_ = false;
};

}  // namespace weir::storage::nats
