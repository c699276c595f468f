// A command: one row that says everything about it, and one function that runs it.
//
// COMMAND, HELP, arity checks, the docs and the permissions read the row; nothing about a command
// stands anywhere else.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "resp/reply.h"
#include "storage/keyspace.h"

namespace weir::server {

class Server;
class Session;
struct Command;
enum class EventClass : uint32_t;

using Args = std::span<const std::string_view>;

// One command being run. The instant is the same from its beginning to its end.
struct Call {
  Server& server;
  Session& session;
  storage::Keyspace& keys;
  resp::ReplyWriter& reply;
  const Command& command;
  Args args;  // args[0] is the command's name; a subcommand's name is args[1]
  int64_t now_ns;

  int64_t now_ms() const { return now_ns / 1'000'000; }
  int database() const;
  storage::Ref look_up(std::string_view key) { return keys.look_up(database(), key); }
  // Says what has become of a key, behind the change: see server/pubsub/key_events.h.
  void notify(EventClass event_class, std::string_view event, std::string_view key);
};

enum CommandFlag : uint32_t {
  kWrites = 1 << 0,
  kReads = 1 << 1,  // the keyspace
  kAdmin = 1 << 2,
  kNoScript = 1 << 3,  // not callable from scripts
  kNoAuth = 1 << 4,    // allowed before AUTH
  kFast = 1 << 5,      // O(1) or O(log n)
  kDenyOom = 1 << 6,   // may grow the data set
  kLoading = 1 << 7,   // Redis' flags "loading" and "stale"
  kBlocking = 1 << 8,
  kMovableKeys = 1 << 9,
  kKeepsOnError = 1 << 10,  // what it wrote before an error stays (scripts)
  kContainer = 1 << 11,     // only its subcommands run
  kNoMulti = 1 << 12,
  kPubsub = 1 << 13,
  kMayReplicate = 1 << 14,
  kDangerous = 1 << 15,       // the ACL category; kAdmin implies it
  kWakesNobody = 1 << 16,     // what it writes cannot end another session's wait for its keys
  kNotQueued = 1 << 17,       // runs at once inside a transaction
  kWhenSubscribed = 1 << 18,  // allowed to RESP2 clients that are subscribed
};

// Positions of keys in args, as COMMAND INFO has them: first, last (negative: from the end), step.
// first 0: no keys.
// Where their number is an argument, `numkeys` is its position and they stand behind it.
struct KeyPositions {
  int first = 0;
  int last = 0;
  int step = 0;
  int numkeys = 0;
};

struct Command {
  std::string_view name;  // lower case; a subcommand is "config|get"
  int arity = 0;          // counts the name; negative: at least so many
  uint32_t flags = 0;
  KeyPositions keys = {};
  std::string_view group = {};    // "string", "generic", "connection", "server", "limiter", ...
  std::string_view usage = {};    // the arguments, as HELP shows them
  std::string_view summary = {};  // one sentence
  std::string_view since = {};    // first Redis version with it, or weir's
  void (*run)(Call& call) = nullptr;

  bool has(uint32_t flag) const { return (flags & flag) != 0; }
};

// The rows of each family; every file under commands/ defines one.
using Commands = std::span<const Command>;

}  // namespace weir::server
