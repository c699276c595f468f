#include "server/failover/peers/member_words.h"

namespace weir::server {

using storage::replication::LogFacts;
using storage::replication::Reason;
using storage::replication::Role;

std::string_view words_of(Reason reason) {
  switch (reason) {
    case Reason::kFenced:
      return "another member has taken over";
    case Reason::kSwitchedOver:
      return "there was a switchover";
    case Reason::kImpossible:
      return "the shared log holds a record that this weir-server does not understand";
    case Reason::kTurnsDiffer:
      return "the shared log has other turns than this member's directory";
    case Reason::kTwin:
      return "another process writes in the name of this one";
    case Reason::kRewoundTooFar:
      return "the shared log knows nothing of what this member's directory holds";
    case Reason::kTrimmed:
      return "the shared log does not keep what this member needs next";
    case Reason::kDamaged:
      return "the shared log is damaged";
    case Reason::kBadTurns:
      return "the shared log holds a turn that no primary can have made";
  }
  return "";
}

std::string_view words_of(Role role) {
  switch (role) {
    case Role::kJoining:
      return "joining";
    case Role::kFollowing:
      return "following";
    case Role::kClaiming:
      return "claiming";
    case Role::kPrimary:
      return "primary";
    case Role::kSwitchingOver:
      return "switching over";
    case Role::kStopped:
      return "stopped";
    case Role::kLeaving:
      return "leaving";
  }
  return "";
}

std::string_view words_of(LogFacts::Fsync fsync) {
  switch (fsync) {
    case LogFacts::Fsync::kNo:
      return "no";
    case LogFacts::Fsync::kYes:
      return "yes";
    case LogFacts::Fsync::kUnknown:
      return "unknown";
  }
  return "";
}

}  // namespace weir::server
