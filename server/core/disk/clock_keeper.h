// What is stored of the clock, what a reset of it changes, and what the log says of it. Where
// instants are led by others (Timeline::lead_by) nothing is stored: their lead is to another
// machine's clock.
//
// A reset turns no instant back. Log, state, expiries, debts and leases hold instants and do not
// say when they were written: turned back, each would lie so much further ahead, as denials of
// years and keys that do not end, and to shift them would be a walk over all data in one turn. So a
// reset accepts the lead (os/clock.h). What is given up: the numbers of instants never agree with
// the wall clock's again.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/os/clock.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class ClockKeeper {
 public:
  // Instants and the wall clock differ: so much is said in the log and in INFO.
  static constexpr int64_t kToldNs = kNsPerS;

  ClockKeeper(Timeline* timeline, storage::Keyspace* keys) : timeline_(*timeline), keys_(*keys) {}

  // Makes time go on from where it was. To be called once, when the data is open.
  void resume();
  // Tells that the lead is above the stored one: the wall clock was set back.
  bool lead_has_grown() const { return timeline_.to_store().lead_ns > stored_.lead_ns; }
  // Adds the lead to the turn that is about to be committed, if it is another than the stored one.
  void store();
  // Takes back what a turn that could not be committed has changed.
  void take_back();
  // Takes the present lead for granted, as a part of the running command; answers how much of it
  // was not before. Instants stay as they are.
  int64_t reset();
  // Tells the log when instants and the wall clock begin to differ, and when they agree again.
  void look();
  bool differs() const { return timeline_.lead_ns() > kToldNs; }

 private:
  StoredClock read() const;

  Timeline& timeline_;
  storage::Keyspace& keys_;
  StoredClock stored_;
  bool told_ = false;
};

}  // namespace weir::server
