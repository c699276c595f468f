// A command: one row that says everything about it, and one function that runs it.
//
// COMMAND, HELP, arity checks, the docs and the permissions read the row; nothing about a command
// is written anywhere else.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/time_units.h"
#include "base/wall_clock.h"
#include "resp/reply.h"
#include "server/command/audit.h"
#include "server/command/event_class.h"
#include "server/command/work_meter.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class Server;
class Session;
class Waiter;
struct Call;
struct Command;
struct Limiters;

using Args = std::span<const std::string_view>;

// What a command may ask of the code that runs it. It is an interface because commands' rows, and
// what their functions share, lie on floors below the server.
class CallHost {
 public:
  explicit CallHost(Server& server) : server_(server) {}

  // Publishes a key's event after the change (event_class.h).
  virtual void notify(EventClass event_class, std::string_view event, int database,
                      std::string_view key) = 0;
  // Blocks the session whose command is running until the waiter is done. REQUIRES: it may wait.
  virtual void wait(Call& call, std::unique_ptr<Waiter> waiter) = 0;
  virtual uint64_t random() = 0;
  // Counts a look-up that the client sees as a read.
  virtual void count_look_up(bool found) = 0;
  WorkMeter& work() { return work_; }
  // What the running command tells the audit, if its row says that it is told.
  AuditNotes& audit() { return audit_; }
  // What the wall clock is to the instants of commands.
  const WallClock& wall() const { return *wall_; }
  // Answers the whole of it, of which floors below server/core/ know the name only: they cannot ask
  // it for anything.
  Server& server() const { return server_; }

 protected:
  ~CallHost() = default;
  void set_wall(const WallClock* wall) { wall_ = wall; }

 private:
  Server& server_;
  const WallClock* wall_ = &kTrueWallClock;
  WorkMeter work_;
  AuditNotes audit_;
};

// One run of a command. Its instant is the same from the beginning to the end.
struct Call {
  CallHost& host;
  Limiters& limiters;
  Session& session;
  storage::Keyspace& keys;
  resp::ReplyWriter& reply;
  const Command& command;
  Args args;     // args[0] is the command's name; a subcommand's name is args[1]
  int database;  // the session's database when the command began
  int64_t now_ns;
  // The traceparent that the request names, which is valid (base/trace_parent.h); empty: none.
  std::string_view trace = {};

  // Charged by whatever the arguments' number and the reply's size do not tell.
  WorkMeter& work() const { return host.work(); }
  int64_t now_ms() const { return now_ns / kNsPerMs; }
  // What the wall clock says, for what people write and read.
  const WallClock& wall() const { return host.wall(); }
  int64_t wall_ns() const { return wall().at(now_ns); }
  // An instant less this is the wall clock's time.
  int64_t lead_ms() const { return wall().lead_ns / kNsPerMs; }
  storage::Ref look_up(std::string_view key) { return keys.look_up(database, key); }
  void notify(EventClass event_class, std::string_view event, std::string_view key) {
    host.notify(event_class, event, database, key);
  }
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
  // Shown to monitors before it runs; the commands that it calls are shown after it.
  kSkipMonitor = 1 << 20,
  kStale = 1 << 21,      // Redis' flag "stale" without "loading"
  kAllowBusy = 1 << 22,  // Redis' flag; the next two are Redis' flags, too
  kNoAsyncLoading = 1 << 23,
  kNoMandatoryKeys = 1 << 24,
  kRunsQueued = 1 << 25,  // what is queued in the transaction is what it does
  // CLIENT's: CLIENT PAUSE does not hold it up, and CLIENT CACHING is not about it.
  kOfClient = 1 << 26,
  // A shard's primary may answer it before the shared log has it
  // (storage/replication/early_release.h): it takes permits; or it counts, where the option
  // uncommitted-commands says so.
  kTakes = 1 << 27,
  kCounts = 1 << 28,
  // It tells that what was written before it is committed, so in a shard its reply waits for that.
  kTellsOfCommits = 1 << 29,
  // Clients ask it whether the server is well: while the disk takes no writes it is refused as they
  // are.
  kTellsOfHealth = 1 << 30,
};

// What a command does with a key, in the terms of COMMAND's key specifications.
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
  kNoKey,       // the argument is a name in a key's place, such as a sharded channel
};

// Positions of keys in args, as COMMAND INFO has them: first, last (negative: from the end), step.
// If first is 0 there are no keys. Where the number of keys is an argument, `numkeys` is its
// position and the keys follow it.
struct KeyPositions {
  int first = 0;
  int last = 0;
  int step = 0;
  int numkeys = 0;
  KeyUse use = KeyUse::kAsFlags;     // the use of the first key
  KeyUse others = KeyUse::kAsFlags;  // the use of the other keys; kAsFlags: as the first one's
};

// A key among the arguments of a request.
struct KeyReference {
  size_t position = 0;
  KeyUse use = KeyUse::kAsFlags;
};

// Which channels among the arguments a user needs rights for.
enum class ChannelUse : uint8_t { kNone, kFirst, kAll, kAllPatterns };

// Which arguments are secret: monitors and the slow log do not show them.
enum class Secrets : uint8_t {
  kNone,
  kAll,        // all after the command's name
  kAfterAuth,  // the two after the word AUTH
  kPasswords,  // the values of options that are passwords
  kRules,      // all after the command's name; the audit hides passwords alone
};

// What a request does with limits, as far as users may lack the right to it.
struct LimitUse {
  bool is_inline = false;             // it writes a limit, or a rate, itself
  bool is_admins = false;             // it takes with FORCE, or gives back
  std::vector<size_t> policies = {};  // where among the arguments it names them
};

struct Command {
  std::string_view name;  // lower case; a subcommand is "config|get"
  int arity = 0;          // counts the name; negative: the least number
  uint32_t flags = 0;
  KeyPositions keys = {};
  // For commands whose options decide on keys: corrects what the positions have told, and adds to
  // it.
  void (*more_keys)(Args args, std::vector<KeyReference>* keys) = nullptr;
  ChannelUse channels = ChannelUse::kNone;
  Secrets secrets = Secrets::kNone;
  Audit audit = Audit::kUndecided;
  std::string_view group = {};  // "string", "generic", "connection", "server", "ratelimit", ...
  // ACL categories: "set list" in place of what the group tells, "-" for none.
  std::string_view categories = {};
  std::string_view usage = {};    // the arguments as HELP shows them
  std::string_view summary = {};  // one sentence
  std::string_view since = {};    // first Redis version with it, or weir's
  // What proxies of a cluster want to know, as COMMAND INFO has it: words separated by blanks.
  std::string_view tips = {};
  void (*run)(Call& call) = nullptr;
  // Adds what the request does with limits; it may be one that is refused later. Null: nothing.
  void (*limit_use)(Args args, LimitUse* use) = nullptr;
  // Whether CLIENT PAUSE WRITE holds up a request whose arity fits. Null: if the flags say that it
  // writes or may be replicated.
  bool (*may_write)(CallHost& host, Args args) = nullptr;

  constexpr bool has(uint32_t flag) const { return (flags & flag) != 0; }
  constexpr bool is_subcommand() const { return name.find('|') != std::string_view::npos; }
};

// A list of rows; every file under commands/ defines one.
using Commands = std::span<const Command>;

}  // namespace weir::server
