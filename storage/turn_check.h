// Looks at turns that another keyspace has made before anything of them is applied: a log that
// several machines share may hold what no keyspace wrote.
//
// Keyspace::follow() asks for all turns of a batch first. A refusal of its says that nothing was
// done.
//
// What passes can be applied without a broken invariant here, whatever else it says. Whether it is
// what the owner meant cannot be told: who may write to the log may write any turn.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/time_units.h"
#include "storage/element_key.h"
#include "storage/record.h"
#include "storage/status.h"
#include "storage/working_set.h"

namespace weir::storage {

class TurnCheck {
 public:
  // The year 2255. Sums with a later instant could overflow.
  static constexpr int64_t kInstantNsMax = 9'000'000'000 * kNsPerS;

  // `set` is what the turns will be applied to; no list of its has an id of `elements_bound` or
  // more.
  TurnCheck(const WorkingSet& set, ElementsId elements_bound);

  // To be called for one turn after the other. What is refused names the fault.
  Status look(std::string_view record);

 private:
  Status look_at(const TurnEntry& entry);
  Status look_at_system(const TurnEntry& entry);
  Status look_at_database(const TurnEntry& entry);
  Status look_at_names();
  Status look_at_record(const TurnEntry& entry) const;
  Status look_at_owner(const TurnEntry& entry) const;
  Status look_at_element(const TurnEntry& entry) const;

  std::vector<Incarnation> names_;  // of the databases in their order; 0: it has none yet
  std::vector<Incarnation> names_before_;
  uint64_t next_incarnation_;
  uint64_t next_before_ = 0;  // the turn
  uint64_t next_elements_id_;
  bool names_changed_ = false;
  bool is_past_system_ = false;
};

}  // namespace weir::storage
