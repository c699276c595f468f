// Some whole servers of one shard in one thread: real Servers with their keyspaces on disks that
// are memory, a simulated log engine, clients, and a virtual time in which machines die, stop, lose
// power or are cut off, and the engine fails over.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>

#include "tests/shard_servers/journal.h"
#include "tests/shard_servers/machines.h"

namespace weir::server {

class ShardCluster : private Machines {
 public:
  ShardCluster(uint64_t seed, size_t nodes, const MemberSettings& settings)
      : Machines(seed, nodes, settings), plan_(settings.replies) {}
  ~ShardCluster() override;

  // Time passes with clients and faults.
  void run(int64_t ns);
  // Nothing goes wrong any more, clients ask nothing, and all machines are there.
  void be_quiet(int64_t ns);
  // One node serves, all have what it has, and what clients were told is true. Fails with what is
  // not.
  void check();

  struct Metrics {
    uint64_t acknowledged = 0, refused = 0, kills = 0, rewinds = 0, closed = 0, rejoins = 0;
    uint64_t stops = 0, copies = 0, trimmed = 0;
    uint64_t away = 0;       // of the refused: because the log did not answer
    uint64_t forgotten = 0;  // permits that a client was told of
  };
  Metrics metrics() const { return metrics_; }

 private:
  void kill(Node* node);
  void end_well(Node* node);
  void look_for_losses(Node* node);
  void rejoin_if_stopped(Node* node);
  Node* source_for(const Node* node);
  void step(Node* node);
  void take_replies(Node* node);
  void lose_client(Node* node);
  void ask(Node* node);
  std::string brief(size_t key);
  void fault();
  void fault_of(Node* node);
  std::string call(Node* node, std::initializer_list<std::string_view> words);
  std::string contents_of(Node* node);
  Node* primary();

  const ReplyPlan plan_;
  std::map<const Node*, Journal::Asked> asked_;  // by whom no reply has come yet
  Journal journal_;
  Metrics metrics_;
  std::map<const Node*, uint64_t> lost_seen_;  // permits, as the living processes have counted them
};

}  // namespace weir::server
