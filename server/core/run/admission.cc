#include "server/core/run/admission.h"

#include <iterator>
#include <utility>

#include "server/acl/acl.h"
#include "server/command/command_errors.h"
#include "server/command/key_bound.h"
#include "server/config/config.h"
#include "server/core/disk/storage_health.h"
#include "server/core/run/cluster.h"
#include "server/core/shard/shard_role.h"
#include "server/session/session.h"

namespace weir::server {
namespace {

using Needs = Admission::Needs;
using Request = Admission::Request;
using Answer = Result<void, std::string>;

struct Gate {
  std::string_view name;  // of what it asks for
  bool (*asks)(const Needs& needs, const Request& request);
  Answer (*answer)(const Needs& needs, const Request& request);
};

bool writes(const Request& request) {
  const Command& command = *request.command;
  return command.has(kWrites | kTellsOfHealth) ||
         (command.has(kRunsQueued) && (request.session.transaction().flags() & kWrites) != 0);
}

// What a gate may take for granted is what those before it have asked for.
constexpr Gate kGates[] = {
    {"a command", [](const Needs&, const Request& request) { return request.command == nullptr; },
     [](const Needs& needs, const Request& request) -> Answer {
       return unknown_command_error(*needs.commands, request.args);
     }},
    {"its arity",
     [](const Needs&, const Request& request) {
       return !arity_fits(*request.command, request.args.size()) || request.command->run == nullptr;
     },
     [](const Needs&, const Request& request) -> Answer { return arity_error(*request.command); }},
    {"a login",
     [](const Needs& needs, const Request& request) {
       return !request.session.client().authenticated() && !request.command->has(kNoAuth) &&
              needs.acl->asks_for_login();
     },
     [](const Needs&, const Request&) -> Answer { return "NOAUTH Authentication required."; }},
    {"no transaction",
     [](const Needs&, const Request& request) {
       return request.session.transaction().open() && request.command->has(kNoMulti);
     },
     [](const Needs&, const Request&) -> Answer {
       return "ERR Command not allowed inside a transaction";
     }},
    {"short keys",
     [](const Needs& needs, const Request& request) {
       return !are_short(*request.command, request.args, needs.config->key_bytes_max);
     },
     [](const Needs& needs, const Request& request) {
       return check_keys_among(*request.command, request.args, needs.config->key_bytes_max);
     }},
    {"rights",
     [](const Needs&, const Request& request) {
       return !request.session.client().user().unrestricted();
     },
     [](const Needs& needs, const Request& request) {
       return needs.acl->allow(request.session, *request.command, request.args);
     }},
    {"a slot of this node",
     [](const Needs& needs, const Request& request) {
       return needs.config->cluster_enabled &&
              !needs.cluster->admits_at_once(*request.command, request.args);
     },
     [](const Needs& needs, const Request& request) {
       return needs.cluster->admit(request.session, *request.command, request.args);
     }},
    {"the role in the shard",
     [](const Needs& needs, const Request&) { return needs.shard_role->membership() != nullptr; },
     [](const Needs& needs, const Request& request) -> Answer {
       auto answer = needs.shard_role->admit(request.session, *request.command);
       if (!needs.config->cluster_enabled || needs.shard_role->serves()) return answer;
       return needs.cluster->lead(request.session, answer);
     }},
    {"a disk that takes writes",
     [](const Needs& needs, const Request& request) {
       return needs.health->writes_denied() && writes(request);
     },
     [](const Needs& needs, const Request&) -> Answer { return needs.health->error(); }},
    {"no subscription",
     [](const Needs&, const Request& request) {
       return request.session.replies().protocol() == 2 &&
              request.session.listening().subscribed() && !request.command->has(kWhenSubscribed);
     },
     [](const Needs&, const Request& request) -> Answer {
       return "ERR Can't execute '" + std::string(request.command->name) +
              "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this "
              "context";
     }},
    {"no MONITOR",
     [](const Needs&, const Request& request) {
       return request.session.listening().monitors &&
              request.command->has(kReads | kWrites | kMayReplicate);
     },
     [](const Needs&, const Request&) -> Answer {
       return "ERR Replica can't interact with the keyspace";
     }},
};

// A template for each row, so that the compiler knows what it calls: a gate that asks nothing costs
// its test.
template <size_t kRow>
bool refuses(const Needs& needs, const Request& request, Answer* answer) {
  constexpr Gate kGate = kGates[kRow];
  if (!kGate.asks(needs, request)) [[likely]]
    return false;
  *answer = kGate.answer(needs, request);
  return !answer->ok();
}

template <size_t... kRows>
Answer first_answer(const Needs& needs, const Request& request, std::index_sequence<kRows...>) {
  Answer answer;
  static_cast<void>((refuses<kRows>(needs, request, &answer) || ...));
  return answer;
}

}  // namespace

Result<void, std::string> Admission::admit(const Request& request) const {
  return first_answer(needs_, request, std::make_index_sequence<std::size(kGates)>());
}

std::vector<std::string_view> Admission::gates() {
  std::vector<std::string_view> names;
  for (const Gate& gate : kGates) names.push_back(gate.name);
  return names;
}

}  // namespace weir::server
