// weir-server --import: copies the keys of a Redis that serves into a weir that serves.
//
// A client of both: SCAN tells the keys; DUMP and PTTL, in one MULTI so that they are of one
// moment, are asked for each; RESTORE puts it into weir. Nothing is written to the source.
//
// What is promised
// 1. Each key is copied as it was at one moment between its SCAN and the end, with its expiry. The
//    keys are not of one moment: a source that is written to goes on, and what changes in it after
//    a key was copied stays there.
// 2. A key that is in the source from the begin to the end, and that weir can hold, is in weir at
//    the end (SCAN promises so, and nothing is passed over in silence).
// 3. A key that weir has is left alone unless told otherwise: RESTORE without REPLACE decides that,
//    however late it appears there.
// 4. What is not taken is counted by its reason, with one key's name for each.
//
// A dump of a later Redis than 7.2 has another version number around the same forms of values; what
// is of these forms is taken, and others are refused by name.
#pragma once

#include <span>

#include "server/command/command_table.h"

namespace weir::server {

// Answers the exit code: 0 if all keys are in weir, 2 if some were not taken, 1 if it did not end.
int run_import(int argc, char** argv, std::span<const Commands> lists);

}  // namespace weir::server
