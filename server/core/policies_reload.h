// Reads the file of policies (policies-file) at the start, on SIGHUP and for RL.POLICY RELOAD.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "server/limiter/policies_file.h"

namespace weir::server {

class Server;

// Reads the file and answers what it changes. With `apply` that is changed as a part of the running
// command, in the history by `user`. Fails, and changes nothing, with an error line without code:
// there is no such option, the file cannot be read, lines of it are wrong, there would be too many.
Result<std::vector<PolicyEdit>, std::string> reload_policies(Server& server,
                                                             const std::string& user, bool apply);

// Applies the file, if the option is set, in a command of its own between turns.
Result<void, std::string> reload_policies_between_turns(Server& server);

}  // namespace weir::server
