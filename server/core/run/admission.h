// Whether a request may run: the gates that it comes to, one after another. The first that is shut
// answers the error.
//
// A gate is a row of a table (admission.cc): its name, whether it has anything to ask of a request,
// and what it answers if it has. Most requests are asked nothing.
//
// Invariant: asking changes nothing, except for what is noted of denials, and for the slot that a
// cluster keeps for the command (Cluster::begin_command).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/command/command.h"

namespace weir::server {

class Cluster;
class CommandTable;
class ShardRole;
class Session;
class StorageHealth;
struct Config;

namespace acl {
class Acl;
}  // namespace acl

class Admission {
 public:
  struct Needs {
    const CommandTable* commands;
    const Config* config;
    acl::Acl* acl;
    Cluster* cluster;
    const ShardRole* shard_role;
    const StorageHealth* health;
  };
  struct Request {
    Session& session;
    const Command* command;  // null: the request names none
    Args args;
  };

  explicit Admission(const Needs& needs) : needs_(needs) {}

  // Tells whether a request may run; the error is a whole line.
  Result<void, std::string> admit(const Request& request) const;
  // Answers what the gates ask for, in their order.
  static std::vector<std::string_view> gates();

 private:
  Needs needs_;
};

}  // namespace weir::server
