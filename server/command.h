// A command: one row that says everything about it, and one function that runs it.
//
// COMMAND, HELP, arity checks, the docs and the permissions read the row; nothing about a command
// stands anywhere else.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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
  kSkipSlowLog = 1 << 19,
  kSkipMonitor = 1 << 20,  // shown to monitors before it runs: what it calls is shown behind it
  kStale = 1 << 21,        // Redis' flag "stale" without "loading"
  kAllowBusy = 1 << 22,    // Redis' flag, likewise the next two
  kNoAsyncLoading = 1 << 23,
  kNoMandatoryKeys = 1 << 24,
};

// What becomes of a key, as COMMAND's key specifications have it.
enum class KeyUse : uint8_t {
  kAsFlags,     // by the command's flags: kEdits if it may write, else kReads
  kReads,       // RO access
  kLooks,       // RO: nothing of the value is told
  kEdits,       // RW access update
  kUpdates,     // RW update
  kInserts,     // RW insert
  kDeletes,     // RW delete
  kTakes,       // RW access delete
  kOverwrites,  // OW update
  kCreates,     // OW insert
  kRemoves,     // RM delete
  kByOptions,   // RW access update variable_flags: see more_keys
  kNoKey,       // a name in a key's place, such as a sharded channel
};

// Positions of keys in args, as COMMAND INFO has them: first, last (negative: from the end), step.
// first 0: no keys.
// Where their number is an argument, `numkeys` is its position and they stand behind it.
struct KeyPositions {
  int first = 0;
  int last = 0;
  int step = 0;
  int numkeys = 0;
  KeyUse use = KeyUse::kAsFlags;     // of the first key
  KeyUse others = KeyUse::kAsFlags;  // of the others; kAsFlags: as the first one's
};

// A key among the arguments of a request.
struct KeyReference {
  size_t position = 0;
  KeyUse use = KeyUse::kAsFlags;
};

// The channels among the arguments that a user needs rights for.
enum class ChannelUse : uint8_t { kNone, kFirst, kAll, kAllPatterns };

struct Command {
  std::string_view name;  // lower case; a subcommand is "config|get"
  int arity = 0;          // counts the name; negative: at least so many
  uint32_t flags = 0;
  KeyPositions keys = {};
  // Where options decide on keys: corrects what the positions have told, and adds to it.
  void (*more_keys)(Args args, std::vector<KeyReference>* keys) = nullptr;
  ChannelUse channels = ChannelUse::kNone;
  std::string_view group = {};  // "string", "generic", "connection", "server", "limiter", ...
  // ACL: "set list" in place of what the group tells, "-" for nothing.
  std::string_view categories = {};
  std::string_view usage = {};    // the arguments, as HELP shows them
  std::string_view summary = {};  // one sentence
  std::string_view since = {};    // first Redis version with it, or weir's
  // What proxies of a cluster want to know, as COMMAND INFO has it: words between blanks.
  std::string_view tips = {};
  void (*run)(Call& call) = nullptr;

  constexpr bool has(uint32_t flag) const { return (flags & flag) != 0; }
};

// The rows of each family; every file under commands/ defines one.
using Commands = std::span<const Command>;

}  // namespace weir::server
