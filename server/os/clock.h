// Where time comes from, and the one instant that commands see.
//
// Everything that is stored counts by instants. What people write and read is the wall clock's
// time, an instant less the lead (base/wall_clock.h), converted once, where it comes in or goes
// out. So a wall clock that is set back hands out nothing and freezes nothing, and TIME, EXAT and
// ALIGN are right as soon as it is. What is given up: a step forward by mistake cannot be told from
// time that passed.
//
// Invariants of the timeline
// 1. An instant never runs back, not over restarts either: now_ns() never answers less than before,
//    and the newest instant used is stored.
// 2. While the wall clock and the steady clock agree, instants are the wall clock's plus the lead.
//    A wall clock that steps back adds to the lead; one that steps forward first uses the lead up,
//    as far as it has not been accepted.
// 3. accept() changes no instant, neither now nor later ones while the clocks agree.
// 4. Where a source leads, instants are the source's at the last synchronise(), and go on with the
//    steady clock if they pass.
#pragma once

#include <cstdint>

#include "base/wall_clock.h"

namespace weir::server {

// Two clocks, in nanoseconds. Tests pass a clock of their own, a bad one if they like.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t wall_ns() = 0;    // since the Unix epoch; may jump
  virtual int64_t steady_ns() = 0;  // since an unknown moment; never runs back
  // As steady_ns(), from a moment of its own, and it goes on while the machine sleeps.
  virtual int64_t boot_ns() { return steady_ns(); }
  // Answers what steady_ns() was at most coarse_step_ns() ago; much cheaper where that is not 0.
  virtual int64_t coarse_steady_ns() { return steady_ns(); }
  virtual int64_t coarse_step_ns() { return 0; }
  virtual void sleep_ns(int64_t duration_ns) = 0;
};

class SystemClock : public Clock {
 public:
  int64_t wall_ns() override;
  int64_t steady_ns() override;
  int64_t boot_ns() override;
  int64_t coarse_steady_ns() override;
  int64_t coarse_step_ns() override;
  void sleep_ns(int64_t duration_ns) override;
};

// What a timeline goes on from, beside its newest instant.
struct StoredClock {
  int64_t lead_ns = 0;
  int64_t accepted_ns = 0;  // how much of the lead was accepted
  int64_t reset_ns = kTrueWallClock.reset_ns;

  friend bool operator==(const StoredClock&, const StoredClock&) = default;
};

// What instants are in the place of the wall clock's: those of several machines that go on where
// another has ended. It is an interface because who knows them, a member of a shard
// (server/failover/), lies on a floor above.
class InstantSource {
 public:
  virtual ~InstantSource() = default;
  // Answers the instant now; it never runs back while it passes.
  virtual int64_t instant_ns() = 0;
  // Tells whether time passes. Where it does not, instants are those of records that come.
  virtual bool passes() const = 0;
};

class Timeline {
 public:
  explicit Timeline(Clock* clock);

  // From now on instants come from a source; the lead is what they are ahead of the wall clock, and
  // may be negative. The source must live as long.
  void lead_by(InstantSource* source);
  bool is_led() const { return source_ != nullptr; }
  // The source has become another: its instants may be earlier ones. Nobody may hold older ones.
  void begin_anew();

  // Continues a run that ended with this instant and this lead.
  void resume(int64_t newest_instant_ns, const StoredClock& stored);
  // Looks at the wall clock; to be called once per turn.
  void synchronise();
  // Answers the instant of the next command, by the steady clock since synchronise().
  int64_t now_ns();
  // Answers what the steady clock said in now_ns().
  int64_t looked_steady_ns() const { return looked_steady_ns_; }
  // What the wall clock is to instants; the object stays the same.
  const WallClock& wall() const { return wall_; }
  // How far instants are ahead of the wall clock beyond what was accepted.
  int64_t lead_ns() const { return wall_.lead_ns - accepted_ns_; }
  int64_t accepted_ns() const { return accepted_ns_; }
  // Takes the present lead for granted, and the wall clock for right: a step forward moves instants
  // again, and calendar windows that lie ahead of the wall clock are over.
  void accept();
  // Takes an accept() back.
  void take_back_accept(const StoredClock& before);
  StoredClock to_store() const { return {wall_.lead_ns, accepted_ns_, wall_.reset_ns}; }
  int64_t steady_ns() { return clock_->steady_ns(); }

 private:
  void follow_source();

  Clock* clock_;
  InstantSource* source_ = nullptr;
  bool passes_ = true;
  int64_t wall_ns_;    // at the last synchronise()
  int64_t steady_ns_;  // likewise
  WallClock wall_;
  int64_t accepted_ns_ = 0;  // 0 to wall_.lead_ns
  int64_t newest_ns_ = 0;
  int64_t looked_steady_ns_ = 0;
};

}  // namespace weir::server
