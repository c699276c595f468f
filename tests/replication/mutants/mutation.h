// Faults that the tests of the protocol must find. make_mutants.py plants each of them in a copy of
// storage/replication/, behind a question of this kind; the product itself knows nothing of them.
#pragma once

#include "tests/replication/violation.h"

namespace weir::storage::replication {

// The letters are those of the table in mutants.cc.
extern char active_mutation;

inline bool mutated(char letter) { return active_mutation == letter; }

}  // namespace weir::storage::replication
