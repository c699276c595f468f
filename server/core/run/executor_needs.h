// What those who run commands are handed: the parts of the server that commands work with.
#pragma once

#include "server/command/command.h"
#include "server/command/command_table.h"
#include "server/waiting/waiting.h"

namespace weir::server {

namespace acl {
class Acl;
}
class BusyScript;
class Clock;
class Messages;
class ShardRole;
class Report;
class Sessions;
class StorageHealth;
class Timeline;
struct Config;

struct ExecutorNeeds {
  CallHost* host;
  const CommandTable* commands;
  const Config* config;
  Clock* clock;
  Timeline* timeline;
  storage::Keyspace* keys;
  Report* report;
  Waiting* waiting;
  Limiters* limiters;
  Sessions* sessions;
  acl::Acl* acl;
  Messages* messages;
  StorageHealth* health;
  ShardRole* shard_role;
  BusyScript* busy;
};

}  // namespace weir::server
