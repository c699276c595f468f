// Looks at turns that another keyspace has made before anything of them is applied: a log that
// several machines share may hold what no keyspace wrote.
//
// Keyspace::follow() asks for all turns of a batch first. A refusal of its says that nothing was
// done.
//
// What passes can be applied without a broken invariant here, and each record of it means something
// (format/meaning.h), whatever else it says. Whether it is what the primary meant cannot be told:
// who may write to the log may write any turn.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/time_units.h"
#include "storage/format/element_key.h"
#include "storage/format/meaning.h"
#include "storage/format/record.h"
#include "storage/format/status.h"
#include "storage/keyspace/list_names.h"
#include "storage/memtable/working_set.h"

namespace weir::storage {

class TurnCheck {
 public:
  // The year 2255. Sums with a later instant could overflow.
  static constexpr int64_t kInstantNsMax = 9'000'000'000 * kNsPerS;

  // `set` is what the turns will be applied to; no list of its has an id of `elements_bound` or
  // more. `meaning` may be null: then nothing is known of types. `names` has begun the batch.
  TurnCheck(const WorkingSet& set, ElementsId elements_bound, Meaning* meaning, ListNames* names);

  // To be called for one turn after the other. What is refused names the fault.
  Status look(std::string_view record);

 private:
  struct Name {
    Generation generation = 0;
    std::string_view key;
    auto operator<=>(const Name&) const = default;
  };

  Status look_at(const TurnEntry& entry);
  Status look_at_system(const TurnEntry& entry);
  Status look_at_database(const TurnEntry& entry);
  Status look_at_names();
  Status look_at_record(const TurnEntry& entry);
  Status look_at_header(const HeaderView& header) const;
  Status look_at_element(const TurnEntry& entry);
  Status look_for_doubles();

  Meaning* meaning_;
  ListNames& lists_;
  std::vector<Name> looked_at_;  // of the turn

  std::vector<Generation> names_;  // of the databases in their order; 0: it has none yet
  std::vector<Generation> names_before_;
  uint64_t next_generation_;
  uint64_t next_before_ = 0;  // the turn
  uint64_t next_elements_id_;
  bool names_changed_ = false;
  bool is_past_system_ = false;
};

}  // namespace weir::storage
