// What a member makes of the records that it reads or has appended, and of a log that is not what
// it was.
//
// A primary whose own CLAIM is lost, and who then finds turns of the primary before it, is
// demoted. It stops only if turns that it had committed differ.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/replication/member_state.h"
#include "storage/replication/shared_log.h"

namespace weir::storage::replication {

class Absorber {
 public:
  explicit Absorber(MemberState* state) : state_(*state) {}

  // The answer to a read. REQUIRES: the member has not stopped.
  void take(const Read& answer, Instants now);
  // Applies a record and acts on it. Answers false where nothing after it may be applied now.
  bool absorb(const Record& record, Instants now);

 private:
  bool absorb_claim(const Head& head, int64_t superseded_lease_ns, Instants now);
  bool absorb_turns(const LogState::Outcome& outcome);
  void meet_impossible(const Head& head);
  void reach_end(bool brought_records, Instants now);
  void begin_search();
  void end_search();

  MemberState& state_;
  std::optional<Head> impossible_at_;  // after one more reading, the same record stops the member
};

}  // namespace weir::storage::replication
