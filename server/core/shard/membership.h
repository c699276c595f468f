// What a server asks of the shard that it is a member of (server/failover/). A server alone has
// none.
//
// A member is the shard's primary, which serves requests for data, or a standby, which applies what
// the primary has done and refuses them.
//
// Membership and PrimaryRules are interfaces because a member of a shard puts a whole Server and
// the shard's protocol together, and so lies on a floor above. The rules stand apart from the rest
// because they are asked with every request: whoever decides is asked, and nobody passes it on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/slot_ranges.h"
#include "server/cluster/cluster_facts.h"
#include "storage/replication/socket_watcher.h"

namespace weir::server {

class MetricWriter;
class Server;
class Snapshots;
struct Command;

// A member as people and clients are told of it.
struct MemberView {
  std::string cluster;  // 32 hexadecimal digits, drawn when the shard was made
  std::string shard;
  std::string node;   // 40 hexadecimal digits
  std::string state;  // "joining", "following", "claiming", "primary", "switching over", "stopped"
  bool serves = false;
  std::string primary_address;  // "host:port" of the primary, as the log has it; "": not known
  std::string primary_node;
  uint64_t epoch = 0;           // the log index of the CLAIM that made the primary
  uint64_t log_index = 0;       // of the newest record that this member has read or appended
  uint64_t turn = 0;            // the newest turn it has applied or made
  uint64_t committed = 0;       // the newest turn of its own that is committed
  std::string stopped_because;  // "": it has not stopped
  // Ten bits of the shard for the versions of settings; nothing: they are this shard's alone.
  std::optional<uint64_t> settings_shard = std::nullopt;
};

// A member of the shard as the members tell one another of themselves; this one as it is. What is
// told may be late or wrong: it is for people, and for clients that look for a member.
struct MemberSeen {
  std::string node;  // 40 hexadecimal digits
  std::string host;  // that clients reach it by
  uint16_t port = 0;
  std::string state;  // as MemberView has it
  bool is_self = false;
  bool is_primary = false;  // by the shared log
  bool is_present = false;  // heard of within ten seconds
  bool is_standby = false;  // present, no primary, and follows the log
  uint64_t log_index = 0;   // of the newest record it has read or appended
  uint64_t turn = 0;        // the newest turn it has applied
  uint64_t lag_turns = 0;   // turns that it lacks, of those that this member knows of
  int64_t age_ms = 0;       // of what it has told
  // What stands for its configuration and for its users; zeros: it has not told.
  std::array<char, 32> configuration{};
  std::array<char, 32> acl{};
};

// What a person wants of this member.
struct MemberOrder {
  enum class Kind {
    kSwitchover,        // the primary gives its role to the standby `node`
    kAskForSwitchover,  // a standby has the primary switch over to it
    kTakeOver,          // this member becomes the primary, whoever is
    kRejoin,            // a member that has stopped goes on with a copy of another one's data
  };
  Kind kind;
  std::string node = {};
};

// A request for data at the primary, as far as the log's state says whether it is served.
struct DataRequest {
  bool writes = false;
  bool leaves_early = false;  // its reply may leave before the log has its turn
  uint64_t permits = 0;       // of which that reply would tell, as far as is known
};

// What the primary answers while the log is slow or away. Asking costs next to nothing.
class PrimaryRules {
 public:
  // Answers the error line for a request that is not served because of the log.
  virtual Result<void, std::string> admit(const DataRequest& request) const = 0;
  // Tells whether the command's reply may ever leave before the log has its turn.
  virtual bool leaves_early(const Command& command) const = 0;

 protected:
  ~PrimaryRules() = default;
};

// The parts of "host:port", where the host may be "[::1]"; empty where the text is.
struct HostAndPort {
  std::string_view host;
  std::string_view port;
};
inline HostAndPort host_and_port(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return {};
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {.host = host, .port = text.substr(colon + 1)};
}

// What members of all shards of a cluster tell one another.
class FactsExchange {
 public:
  virtual ~FactsExchange() = default;
  // What this member tells, as of now.
  virtual ShardFacts facts() = 0;
  // What another one has told, in its question.
  virtual void hear(const ShardFacts& facts) = 0;
  enum class Forget { kIfGone, kInAnyCase };
  // Forgets a shard. The error is a whole line, and tells why it is not forgotten.
  virtual Result<void, std::string> forget(std::string_view shard, Forget how) = 0;
  // Where another process calls itself by this member's node, as one with a copy of its directory
  // does, "host:port"; "": none was heard lately.
  virtual std::string same_node_at() const = 0;
};

class Membership {
 public:
  virtual ~Membership() = default;

  // Begins to follow the shard's log. Fails where this directory cannot. REQUIRES: the data is
  // open.
  virtual Result<void, std::string> begin(Server* server) = 0;
  // Takes in what has come from the log. To be called between turns, before sessions are served.
  virtual void listen() = 0;
  // Sends the log what is due. To be called between turns, after a turn.
  virtual void act() = 0;
  // Tells the log that the primary lives, if that is due, and does nothing else. To be called from
  // time to time while a command runs long.
  virtual void heartbeat() = 0;
  // Where the log has a socket, the watcher is told which; null: nobody watches any more.
  virtual void set_watcher(storage::SocketWatcher* watcher) = 0;
  // The socket is ready. May be called at any time; what has come waits for listen().
  virtual void on_socket_ready() = 0;
  // Answers how long it is until listen() and act() have something to do by themselves, in
  // nanoseconds; kNotDue: not before something comes.
  virtual int64_t next_ns() = 0;

  // The slots that this member's shard has, in order. May be asked before begin().
  virtual SlotRanges slots() const { return all_slots(); }
  // Tells whether requests for data are served.
  virtual bool serves() const = 0;
  // The error line for requests for data while they are not served.
  virtual std::string refusal() const = 0;
  virtual const PrimaryRules& rules() const = 0;
  virtual MemberView view() const = 0;
  // All members that were heard of within an hour, by their nodes' names; this one always.
  virtual std::vector<MemberSeen> members() const = 0;
  // Writes what INFO replication shows of it, beside the role.
  virtual void write_metrics(MetricWriter& out) const = 0;

  // Begins what is ordered. The error is a whole line, and tells why that cannot be.
  virtual Result<void, std::string> order(const MemberOrder& order) = 0;
  // The copies of its data that other members take; null: it gives none.
  virtual Snapshots* snapshots() { return nullptr; }
  // Null: this member asks no other shards, and tells them nothing.
  virtual FactsExchange* facts_exchange() { return nullptr; }
  // What this member knows of the shards of its cluster, the own one among them; nothing if it asks
  // no others.
  virtual std::vector<KnownShard> known_shards() const { return {}; }
  virtual KnownShard known_own_shard() const { return {}; }
  // Of known_shards().
  virtual KnownRevision known_revision() const { return {}; }
  // The process is to end: gives the role of primary away, once a standby follows, and has
  // committed what there is. Called again, it looks for none. listen() and act() go on with it.
  virtual void begin_to_leave() = 0;
  // Tells whether that is done, or will not be.
  virtual bool has_left() const = 0;
};

}  // namespace weir::server
