// The meaning of the shared log: a pure function of its records, one after the other.
//
// Primary, standby, restart, checker and simulation use this one class, so they cannot disagree.
//
// Each record is one of three things:
//   valid       it has its effect;
//   void        it is skipped by everybody alike: its epoch is older than the current one, or it
//               repeats turns or parts of the current epoch that are there already. A record of
//               turns that begins too low is void as a whole, even if it reaches further: its
//               author appends again what is missing. A CLAIM over any epoch but the current one
//               is void too: one without condition may reach a log that was rewound meanwhile;
//   impossible  everything else: an unknown kind or version, a foreign shard, GENESIS elsewhere
//               than at the beginning (whatever the epoch), and what no correct author could have
//               appended there. Nothing after it may be applied, because what one member does not
//               understand another one may.
//
// Invariants
// 1. Only the order and the bytes of records count: no clock, no configuration, no local state.
// 2. The epoch is an identity. It changes by a valid CLAIM only, and a CLAIM is valid only over the
//    current epoch, so the last valid CLAIM names the primary.
// 3. next_turn grows by one for each accepted turn and never falls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/replication/head.h"
#include "storage/replication/log_bookmark.h"
#include "storage/replication/record.h"

namespace weir::storage::replication {

enum class Validity { kValid, kVoid, kImpossible };

class LogState {
 public:
  // The most bytes that PARTs are put together to: twice what an engine takes in one record.
  static constexpr size_t kPartsBytesMax = 64 << 20;

  struct Outcome {
    Validity validity = Validity::kImpossible;
    Kind kind = Kind::kGenesis;  // unless impossible
    // What a valid record tells: its instant (0: none), and the turns that it completes.
    int64_t instant_ns = 0;
    uint64_t first_turn = 0;
    std::vector<std::string> turns;
  };

  // Before the first record. `shard` is the checksum that every record must carry.
  explicit LogState(uint64_t shard) : shard_(shard) {}
  // Goes on after `bookmark`. The primary's name is unknown until its next HEARTBEAT or CLAIM.
  LogState(uint64_t shard, const LogBookmark& bookmark);

  // REQUIRES: `head` is the identity of `bytes`. An impossible record changes nothing.
  Outcome apply(const Head& head, std::string_view bytes);

  bool has_begun() const { return head_.log_index != 0; }
  const Head& head() const { return head_; }
  const Head& epoch() const { return epoch_; }
  bool has_no_primary() const { return epoch_.log_index <= 1; }  // the epoch is GENESIS, or none
  const Author& primary() const { return primary_; }
  const Times& times() const { return times_; }
  uint64_t next_turn() const { return next_turn_; }
  uint64_t newest_turn() const { return next_turn_ == 0 ? 0 : next_turn_ - 1; }
  // The node that may claim at once, because the newest record is a valid SWITCHOVER to it.
  const std::string& switchover_to() const { return switchover_to_; }
  // How many PARTs of the turn that is being put together are there; 0: no turn is.
  uint64_t parts() const { return parts_; }
  uint64_t parts_wanted() const { return parts_wanted_; }

  // REQUIRES: parts() == 0 and has_begun().
  LogBookmark bookmark() const;

 private:
  Validity judge(const DecodedRecord& record, const Head& head) const;
  Validity judge_turns(const Turns& turns) const;
  Validity judge_part(const Part& part) const;

  void take(const Genesis& genesis, const Head& head, Outcome* outcome);
  void take(const Claim& claim, const Head& head, Outcome* outcome);
  void take(const Turns& turns, const Head& head, Outcome* outcome);
  void take(const Part& part, const Head& head, Outcome* outcome);
  void take(const Heartbeat& heartbeat, const Head& head, Outcome* outcome);
  void take(const Switchover& switchover, const Head& head, Outcome* outcome);
  void drop_parts();

  uint64_t shard_;
  Head head_;
  Head epoch_;
  Author primary_;
  Times times_;
  uint64_t next_turn_ = 0;
  std::string switchover_to_;
  uint64_t parts_ = 0;
  uint64_t parts_wanted_ = 0;
  std::string part_bytes_;
};

}  // namespace weir::storage::replication
