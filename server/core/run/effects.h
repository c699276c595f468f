// What commands leave outside the keyspace while they run, and how it is taken back with them:
// messages, lines for those who monitor, entries of the slow log, verdicts, looks at keys, and the
// metrics of commands that ran inside others.
//
// Nothing is copied aside for this. Each of them stays with its owner, who can drop what came after
// a savepoint; the savepoints are here, set when a command begins. A command that is over keeps
// all: the next one begins after it.
//
// Invariants
// 1. A command that will be run again leaves nothing: drop().
// 2. A command that has failed leaves no message and no line of the audit, because they would tell
//    of what was taken back: drop_messages(). It has run, so what was counted and shown of it
//    stays.
// 3. Of a transaction all commands can be taken back, the first as the last.
#pragma once

#include <cstdint>
#include <vector>

#include "server/core/clients/messages.h"
#include "server/core/run/audit_trail.h"
#include "server/core/run/command_counts.h"
#include "server/limiter/counts/verdict_counts.h"
#include "server/limiter/take/limiters.h"
#include "server/report/report.h"

namespace weir::server {

class Effects {
 public:
  // A place in what each of their owners keeps.
  struct Savepoint {
    size_t message = 0;
    size_t audit = 0;
    Monitors::Savepoint monitor;
    size_t nested = 0;
    uint64_t slow = 0;
    uint64_t hits = 0, misses = 0;
  };
  // Where a transaction began.
  struct Beginning {
    Savepoint savepoint;
    VerdictCounts::Values verdicts;
  };

  Effects(Messages* messages, Limiters* limiters, Report* report, AuditTrail* audit)
      : messages_(*messages), limiters_(*limiters), report_(*report), audit_(*audit) {}

  // A command begins, which is no part of another.
  void begin() {
    nested_.clear();
    limiters_.takings.begin_command();
    begin_next();
  }
  // The next command of a transaction begins.
  void begin_next() {
    begin_ = savepoint();
    limiters_.verdicts.begin_command();
    ++command_;
  }
  // Takes note of metrics that are about to count a command inside the running one.
  void note(CommandMetrics* metrics);

  void drop_messages() { drop_messages_after(begin_); }
  void drop_verdicts() { limiters_.verdicts.take_back(); }
  void drop();

  Beginning here() const {
    return {.savepoint = savepoint(), .verdicts = limiters_.verdicts.values()};
  }
  // Drops the messages since then, and lines of the audit.
  void drop_messages_after(const Beginning& beginning) { drop_messages_after(beginning.savepoint); }
  // From now on the running command's effects are all since then. `drops_verdicts`: without the
  // verdicts, which are dropped at once.
  void reach_back_to(const Beginning& beginning, bool drops_verdicts) {
    begin_ = beginning.savepoint;
    if (drops_verdicts) limiters_.verdicts.take_back_to(beginning.verdicts);
  }

 private:
  // The metrics of a command inside the running one, as they were before.
  struct NestedBefore {
    CommandMetrics* metrics;
    uint64_t calls, timed;
    int64_t timed_ns;
    uint64_t rejected, failed;
  };
  void drop_messages_after(const Savepoint& savepoint) {
    messages_.pubsub().drop_after(savepoint.message);
    audit_.drop_after(savepoint.audit);
  }
  Savepoint savepoint() const {
    return {.message = messages_.pubsub().savepoint(),
            .audit = audit_.savepoint(),
            .monitor = messages_.monitors().savepoint(),
            .nested = nested_.size(),
            .slow = report_.slow_log.savepoint(),
            .hits = report_.stats.keyspace_hits,
            .misses = report_.stats.keyspace_misses};
  }

  Messages& messages_;
  Limiters& limiters_;
  Report& report_;
  AuditTrail& audit_;
  Savepoint begin_;  // of the running command
  std::vector<NestedBefore> nested_;
  uint64_t command_ = 0;  // counts commands, also those of a transaction
};

}  // namespace weir::server
