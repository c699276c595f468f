// Reads the file of policies (policies-file) at the start, on SIGHUP and for RL.POLICY RELOAD.
//
// Policies are records; the rules for descriptors are this process' alone, so that a command that
// is taken back after it has read the file leaves the rules of the file.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/command/audit.h"
#include "server/limiter/policy/policies_file.h"
#include "server/os/reloaded.h"

namespace weir::server {

class AuditTrail;
class CallHost;
class StorageHealth;
class Timeline;
struct Config;
struct Limiters;

// What the file is read into.
struct PoliciesNeeds {
  const Config* config;
  Limiters* limiters;
  storage::Keyspace* keys;
  Timeline* timeline;
  CallHost* host;
};

// Who reads the file, and what for.
struct PoliciesReload {
  std::string user;    // whom the history names
  bool apply = false;  // make the changes, as a part of the running command
  // Answers a whole error line if the user may not reach a policy. Empty: there is no user.
  std::function<Result<void, std::string>(std::string_view policy)> may_reach = {};
};

// What reading the file changes.
struct PoliciesDiff {
  std::vector<PolicyEdit> policies;
  std::vector<std::string> rules = {};  // lines, each after "- " or "+ "
};

// Reads the file and answers what it changes. Fails, and changes nothing, with a whole error line:
// there is no such option, the file cannot be read, lines of it are wrong, there would be too many,
// or the user may not reach what would change.
Result<PoliciesDiff, std::string> reload_policies(const PoliciesNeeds& needs,
                                                  const PoliciesReload& how);

// Answers what the audit is told of it: a rule's change is one of "rls".
std::vector<AuditChange> changes_of(const PoliciesDiff& diff);

// Applies the file, if the option is set, in a command of its own between turns. Nobody has asked
// for what it changes, so the audit is told of that here.
Result<Reloaded, std::string> reload_policies_between_turns(const PoliciesNeeds& needs,
                                                            const StorageHealth& health,
                                                            AuditTrail* audit);

}  // namespace weir::server
