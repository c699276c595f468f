// Two or three servers of a shard without faults of their own, for tests that say what happens: a
// log that goes away and comes back, and clients at the primary and at the others.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/shard_servers/machines.h"

namespace weir::server {

class ShardStage : private Machines {
 public:
  // A connection to one server. What has come back since the last look is in take().
  class Client {
   public:
    Client(Node* node, Session* session) : node_(node), session_(session) {}
    void send(std::initializer_list<std::string_view> words) { bytes_ += request(words); }
    std::string take() { return std::exchange(inbox_, {}); }
    bool closed() const { return session_ == nullptr; }

   private:
    friend class ShardStage;
    Node* node_;
    Session* session_;
    std::string bytes_;  // on their way
    std::string inbox_;
  };

  explicit ShardStage(const MemberSettings& settings = {}, size_t nodes = 2);
  ~ShardStage() override;

  // The servers go round every millisecond.
  void pass(int64_t ns);
  // Until each member knows the others by the member registry.
  void meet();
  std::vector<Node*> nodes() const;
  Node* primary() const;
  Node* standby() const;
  Client* connect(Node* node);
  // Sends a request, lets time pass, and answers what has come back.
  std::string call(Client* client, std::initializer_list<std::string_view> words,
                   int64_t ns = 50 * kMs);
  // The same with a connection of its own.
  std::string ask(Node* node, std::initializer_list<std::string_view> words);
  // The metric that INFO replication shows of a server.
  int64_t metric(Node* node, std::string_view name);

  // So much time passes with each look of a server at its clock while a request of the client runs,
  // and the others go on. Answers how much time the request took.
  int64_t run_long(Client* client, std::initializer_list<std::string_view> words,
                   int64_t ns_per_look, const std::function<void()>& meanwhile = {});

  // Somebody who is no member writes a record at the end of the log, as of the present epoch, or
  // something in the member registry.
  void forge(const storage::replication::Body& body);
  void forge_facts(const std::string& name, const storage::replication::MemberFacts& facts) {
    registry_.put(name, encode_facts(facts));
  }

  // Its process ends, and another one begins with its disk.
  void restart(Node* node);

  // The log answers nobody.
  void take_log_away(int64_t ns) { network_.restart_engine(ns); }
  // The log is read, and takes no appends.
  void block_appends(int64_t ns) { network_.block_appends(ns); }
  // The log hears one server no more.
  void cut_off(Node* node, int64_t ns) {
    node->link.requests_cut_until_ns = agenda_.now_ns() + ns;
    node->link.answers_cut_until_ns = agenda_.now_ns() + ns;
  }

 private:
  void serve(Node* node);

  std::vector<std::unique_ptr<Client>> clients_;
};

using StageClient = ShardStage::Client;

}  // namespace weir::server
