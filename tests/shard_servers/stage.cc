#include "tests/shard_servers/stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace weir::server {

ShardStage::ShardStage(const MemberSettings& settings, size_t nodes)
    : Machines(1, nodes, settings) {
  network_.be_quiet();
  network_.set_typical_delay(kMs);
  for (int i = 0; i < 100 && primary() == nullptr; ++i) pass(100 * kMs);
  pass(300 * kMs);  // the others have read who it is
  EXPECT_NE(primary(), nullptr);
}

ShardStage::~ShardStage() {
  for (const auto& client : clients_) {
    if (!client->closed()) client->node_->server->disconnect(client->session_);
  }
  for (const auto& node : nodes_) stop_process(node.get());
}

void ShardStage::pass(int64_t ns) {
  for (const int64_t end_ns = agenda_.now_ns() + ns; agenda_.now_ns() < end_ns;) {
    agenda_.pass(kMs);
    for (const auto& node : nodes_) serve(node.get());
  }
}

void ShardStage::serve(Node* node) {
  turn(node, [&] {
    for (const auto& client : clients_) {
      if (client->node_ != node || client->closed() || client->bytes_.empty()) continue;
      client->session_->receive(std::exchange(client->bytes_, {}), 1024);
    }
  });
  for (const auto& client : clients_) {
    if (client->node_ != node || client->closed()) continue;
    while (!client->session_->dead() && !client->session_->output().empty()) {
      client->inbox_.append(client->session_->output());
      client->session_->mark_sent(client->session_->output().size());
    }
    const Session& session = *client->session_;
    if (session.dead() || (session.closing() && session.replies().unsent_bytes() == 0))
      node->server->disconnect(std::exchange(client->session_, nullptr));
  }
}

int64_t ShardStage::run_long(Client* client, std::initializer_list<std::string_view> words,
                             int64_t ns_per_look, const std::function<void()>& meanwhile) {
  Node* const busy = client->node_;
  bool is_inside = false;
  client->send(words);
  const int64_t begin_ns = agenda_.now_ns();
  busy->clock->on_look = [&] {
    if (std::exchange(is_inside, true)) return;
    agenda_.pass(ns_per_look);
    if (meanwhile) meanwhile();
    for (const auto& node : nodes_) {
      if (node.get() != busy) serve(node.get());
    }
    is_inside = false;
  };
  turn(busy, [&] { client->session_->receive(std::exchange(client->bytes_, {}), 1024); });
  busy->clock->on_look = {};
  return agenda_.now_ns() - begin_ns;
}

std::vector<Node*> ShardStage::nodes() const {
  std::vector<Node*> all;
  for (const auto& node : nodes_) all.push_back(node.get());
  return all;
}

Node* ShardStage::primary() const {
  for (const auto& node : nodes_) {
    if (node->member->serves()) return node.get();
  }
  return nullptr;
}

Node* ShardStage::standby() const {
  for (const auto& node : nodes_) {
    if (!node->member->serves()) return node.get();
  }
  return nullptr;
}

void ShardStage::meet() {
  const auto know_all = [&] {
    return std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& node) {
      return node->member->members().size() >= nodes_.size();
    });
  };
  for (int i = 0; i < 100 && !know_all(); ++i) pass(500 * kMs);
  EXPECT_TRUE(know_all());
}

void ShardStage::restart(Node* node) {
  for (const auto& client : clients_) {
    if (client->node_ == node && !client->closed())
      node->server->disconnect(std::exchange(client->session_, nullptr));
  }
  stop_process(node);
  start(node);
}

void ShardStage::forge(const storage::replication::Body& body) {
  const storage::replication::Head epoch = nodes_[0]->member->protocol().log_state().epoch();
  engine_.append(engine_.leader(), std::nullopt,
                 encode_record({.nonce = 77, .shard = checksum(), .epoch = epoch}, body));
  engine_.make_durable(engine_.leader(), engine_.size(engine_.leader()));
}

ShardStage::Client* ShardStage::connect(Node* node) {
  const auto session = node->server->connect(FakeServer::local_peer());
  EXPECT_TRUE(session.ok());
  clients_.push_back(std::make_unique<Client>(node, *session));
  return clients_.back().get();
}

std::string ShardStage::call(Client* client, std::initializer_list<std::string_view> words,
                             int64_t ns) {
  client->send(words);
  pass(ns);
  return client->take();
}

std::string ShardStage::ask(Node* node, std::initializer_list<std::string_view> words) {
  return call(connect(node), words);
}

int64_t ShardStage::metric(Node* node, std::string_view name) {
  const std::string info = ask(node, {"INFO", "replication"});
  const std::string line = "\n" + std::string(name) + ":";
  const size_t at = info.find(line);
  EXPECT_NE(at, std::string::npos) << name << " is not in " << info;
  return at == std::string::npos ? -1 : std::atoll(info.c_str() + at + line.size());
}

}  // namespace weir::server
