// Sees everything that happens to all members, and throws a Violation where an invariant is broken.
// It judges by the log of the present leader, read by the real LogState.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "storage/replication/early_release.h"
#include "storage/replication/member_actions.h"
#include "tests/replication/chain.h"
#include "tests/replication/over_admission.h"
#include "tests/replication/sim_engine.h"

namespace weir::storage::replication {

class Process;

class Checker {
 public:
  // `loses_acknowledged`: the engine is one of those that may, so what it lost is counted instead.
  Checker(const SimEngine* log, bool loses_acknowledged)
      : log_(log), loses_acknowledged_(loses_acknowledged) {}

  // A strict reply of this turn left (I2, I3, I7).
  void released(const Process& process, uint64_t turn, const std::string& bytes);
  // What time it really is; without a clock nothing is said about it.
  void set_clock(std::function<int64_t()> clock) { clock_ = std::move(clock); }
  int64_t now_ns() const { return clock_ ? clock_() : 0; }
  // A primary has sealed a turn (section "Time": instants pass as time does, over takeovers too).
  // `before` and `after` are the states that it led from and to.
  void sealed(const Process& process, uint64_t before, uint64_t after, int64_t instant_ns);
  // A CLAIM at the wall clock's instant, by a member that saw no record live.
  void claimed_cold(int64_t instant_ns) {
    cold_claims_.push_back({.instant_ns = instant_ns, .real_ns = now_ns()});
    admission_.claimed_cold();
  }
  // The reply of a turn that may take permits left a primary (I4).
  void granted(const OverAdmission::Origin& origin, const std::string& bytes) {
    admission_.granted(origin, bytes);
  }
  // The newest turn whose reply somebody has: no later read may show less (I9).
  uint64_t released_turn() const { return released_turn_; }
  void read_released(const Process& process, uint64_t shown_turn, uint64_t released_before);
  // A primary wrote the turn to its local log (I7, and R2: with the bytes it sealed).
  void committed(const Process& process, uint64_t turn, const std::string& bytes,
                 const std::string* sealed);
  // Answers a number for the promotion.
  uint64_t promoted(const Process& process);
  // The reason must hold: the process has turns that the log contradicts, or the log does not reach
  // back to where the process stands.
  void stopped(const Process& process, Reason reason, size_t branch);
  void failed_over();
  // A schedule in which members stop for other reasons.
  void expect_stops() {
    expects_stops_ = true;
    chain_ = Chain(true);
  }

  // Everything again, at the end (I1, I2).
  void check_log();
  bool agrees(const Process& process);

  const Chain& chain() { return update(); }
  uint64_t promotions() const { return promotions_; }
  uint64_t turns_lost() const { return turns_lost_; }
  // Throws a Violation, but for engines that lose what they acknowledged: those have no bound.
  OverAdmission::Result check_admission(const EarlyOptions& options);
  uint64_t reads_released() const { return reads_released_; }
  uint64_t turns_released() const { return released_.size(); }

 private:
  const Chain& update() {
    chain_.update(*log_, log_->leader());
    return chain_;
  }
  void demand_in_log(uint64_t turn, uint64_t content, const std::string& who);
  bool differs(const Process& process, size_t branch) const;
  bool reaches_back(const Process& process, size_t branch) const;

  const SimEngine* log_;
  bool loses_acknowledged_;
  bool expects_stops_ = false;
  Chain chain_;
  std::map<uint64_t, uint64_t> released_;  // turn -> checksum
  uint64_t released_turn_ = 0;
  uint64_t promotions_ = 0;
  uint64_t turns_lost_ = 0;
  struct Sealed {
    int64_t instant_ns = 0;
    int64_t real_ns = 0;
  };

  OverAdmission admission_;
  std::function<int64_t()> clock_;
  std::map<uint64_t, Sealed> sealed_;  // by the state after
  std::vector<Sealed> cold_claims_;
  uint64_t reads_released_ = 0;
};

}  // namespace weir::storage::replication
