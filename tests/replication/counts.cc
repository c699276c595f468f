#include "tests/replication/counts.h"

namespace weir::storage::replication {

const char* name_of(Fault fault) {
  static constexpr const char* kNames[] = {
      "appends answered late",
      "appends lost on the way",
      "answers lost of appends that took effect",
      "appends refused untried",
      "appends refused by the condition",
      "appends sent twice",
      "zombie appends that took effect",
      "zombie appends that were refused",
      "stale reads",
      "stale reads that looked like a rewind",
      "failed reads",
      "records lost that somebody had read",
      "failovers of the engine that lost records",
      "failovers of the engine",
      "appends taken by a leader that was replaced",
      "failovers that brought trimmed records back",
      "restarts of the engine",
      "appends that waited for the engine's standby",
      "appends that met an engine without room",
      "members killed",
      "power cuts of members",
      "writes of local logs lost by power cuts",
      "pauses of members",
      "members cut off",
      "members cut off in one direction",
      "steps of a wall clock",
      "switchovers",
      "claims by a person",
      "changes of the times",
      "copies of a directory that ran",
      "empty members that joined",
      "trims",
      "members that found what they need trimmed",
      "snapshots",
      "snapshots that had to be taken again",
      "replies that left early and were lost",
  };
  static_assert(sizeof kNames / sizeof *kNames == static_cast<size_t>(Fault::kNumber));
  return kNames[static_cast<size_t>(fault)];
}

}  // namespace weir::storage::replication
