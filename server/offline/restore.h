// weir-server --restore: a checkpoint, or the data directory of a server that is stopped, becomes
// the data directory of a server that is to start.
//
// Invariants
// 1. It never writes over anything: the target does not exist, or is empty.
// 2. WEIR.restoring is written first and removed last, and WEIR is written after all else. Until
//    then a server, a check and another restore refuse the target because of WEIR.restoring, so
//    that a copy that was interrupted is not taken for the data.
// 3. When it answers, every byte has been synced.
#pragma once

#include <string>

#include "base/result.h"
#include "server/offline/progress.h"

namespace weir::server {

// Copies the data. Folders get the mode 0750 and files 0640. Where root runs it, all of it gets the
// owner of `target` if that exists, or of the folder that it is made in, so that a service that is
// another user can open it. REQUIRES: the source was checked (check.h).
Result<void, std::string> restore_data(const std::string& source, const std::string& target,
                                       Progress* progress);

// Answers why nothing may be restored to a target; nothing is changed.
Result<void, std::string> check_target(const std::string& source, const std::string& target);

}  // namespace weir::server
