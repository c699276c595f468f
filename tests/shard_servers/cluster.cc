#include "tests/shard_servers/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::server {

namespace {

constexpr int64_t kStepNs = 2 * kMs;

}  // namespace

ShardCluster::~ShardCluster() {
  for (const auto& node : nodes_) kill(node.get());
}

void ShardCluster::kill(Node* node) {
  if (!node->server) return;
  lose_client(node);
  look_for_losses(node);
  node->leaves = false;
  EXPECT_EQ(journal_.lost_early(node->member->replies().early_permits(), plan_.early.permits_max),
            "");
  lost_seen_.erase(node);
  stop_process(node);
}

// A demotion takes with it what had left early.
void ShardCluster::look_for_losses(Node* node) {
  const uint64_t lost = node->member->replies().early_permits_lost();
  uint64_t& seen = lost_seen_[node];
  const std::string wrong = journal_.lost_early(lost - seen, plan_.early.permits_max);
  EXPECT_EQ(wrong, "");
  seen = lost;
}

// A standby may have read what the engine then lost, and somebody has written other turns since, or
// all that its directory began with is lost: no way leads back from there but a directory that
// begins anew. Where the log does not keep what it would read, it begins with a checkpoint of
// another one.
void ShardCluster::rejoin_if_stopped(Node* node) {
  if (!node->server || node->member->protocol().role() != storage::replication::Role::kStopped)
    return;
  const std::string why = node->member->view().stopped_because;
  const bool is_too_late = why.find("does not keep") != std::string::npos;
  if (!is_too_late) {
    EXPECT_THAT(why, ::testing::AnyOf(::testing::HasSubstr("other turns"),
                                      ::testing::HasSubstr("knows nothing of")));
  }
  Node* source = is_too_late ? source_for(node) : nullptr;
  if (is_too_late && source == nullptr) return;
  std::shared_ptr<storage::MemoryDisk> disk;
  if (is_too_late) {
    source->store->start_checkpoint("copy");
    disk = source->disk->checkpoints["copy"];
  }
  kill(node);
  wipe(node);
  if (is_too_late) node->disk = std::move(disk);
  node->disk->steady_ns = [clock = node->clock.get()] { return clock->steady_ns(); };
  ++(is_too_late ? metrics_.copies : metrics_.rejoins);
  start(node);
}

Node* ShardCluster::source_for(const Node* node) {
  for (const auto& other : nodes_) {
    const bool is_alive =
        other.get() != node && other->server && other->stopped_until_ns <= agenda_.now_ns();
    if (!is_alive) continue;
    // One that has not read to the end may be too late itself.
    const auto role = other->member->protocol().role();
    if (role == storage::replication::Role::kFollowing ||
        role == storage::replication::Role::kPrimary)
      return other.get();
  }
  return nullptr;
}

// A process that was told to stop has done what it could.
void ShardCluster::end_well(Node* node) {
  kill(node);
  ++metrics_.stops;
  agenda_.after(random_.between(50, 800) * kMs, [this, node] {
    if (!node->server) start(node);
  });
}

void ShardCluster::lose_client(Node* node) {
  if (node->client != nullptr) {
    node->server->disconnect(std::exchange(node->client, nullptr));
  }
  if (const auto asked = asked_.find(node); asked != asked_.end()) {
    journal_.unknown(asked->second);
    asked_.erase(asked);
    ++metrics_.closed;
  }
}

void ShardCluster::step(Node* node) {
  if (!node->server || node->stopped_until_ns > agenda_.now_ns()) return;
  rejoin_if_stopped(node);
  turn(node, [&] {
    if (!node->leaves && !asked_.contains(node) && random_.one_in(3)) ask(node);
  });
  look_for_losses(node);
  take_replies(node);
  if (node->leaves && node->member->has_left()) end_well(node);
}

void ShardCluster::take_replies(Node* node) {
  if (node->client == nullptr) return;
  std::string reply;
  while (!node->client->output().empty()) {
    reply.append(node->client->output());
    node->client->mark_sent(node->client->output().size());
  }
  if (!reply.empty()) {
    const auto asked = asked_.find(node);
    ASSERT_NE(asked, asked_.end()) << reply;
    const std::string wrong = journal_.told(asked->second, reply);
    EXPECT_EQ(wrong, "");
    if (reply.starts_with('-')) ++metrics_.refused;
    if (reply.starts_with("-MASTERDOWN the log")) ++metrics_.away;
    asked_.erase(asked);
  }
  if (node->client->dead()) lose_client(node);
}

void ShardCluster::ask(Node* node) {
  if (node->client == nullptr) {
    const auto session = node->server->connect(FakeServer::local_peer());
    ASSERT_TRUE(session.ok());
    node->client = *session;
  }
  const size_t key = random_.below(Journal::kKeys);
  const std::string limit = "l" + std::to_string(key);
  const std::string counter = "n" + std::to_string(key);
  using Kind = Journal::Asked::Kind;
  const auto kind =
      random_.any_of({Kind::kTake, Kind::kCount, Kind::kCount, Kind::kRead, Kind::kOther});
  std::string words;
  if (kind == Kind::kTake) words = request({"RL.TAKE", limit, "FIXED", "40/3650d"});
  if (kind == Kind::kCount) words = request({"INCR", counter});
  if (kind == Kind::kRead) words = request({"GET", counter});
  if (kind == Kind::kOther) words = brief(key);
  asked_.emplace(node, journal_.asked(kind, key));
  node->client->receive(words, 1024);
}

// What expires soon: in the primary by its clock, in a standby by the instants of the turns that
// come.
std::string ShardCluster::brief(size_t key) {
  const std::string name = "b" + std::to_string(key);
  const std::string ms = std::to_string(random_.between(1, 3'000));
  switch (random_.below(5)) {
    case 0:
      return request({"SET", name, "v", "PX", ms});
    case 1:
      return request({"DEL", name});
    case 2:
      return request({"EVAL",
                      "redis.call('DEL', KEYS[1]) redis.call('SADD', KEYS[1], 'a', 'b') return "
                      "redis.call('PEXPIRE', KEYS[1], ARGV[1])",
                      "1", name, ms});
    case 3:
      return request({"RL.TAKE", "brief" + name, "TOKENBUCKET", "5/1s", "CAPACITY", "5"});
    default:
      return request({"RL.TAKE", "pool" + name, "CONCURRENCY", "3", "LEASE", ms + "ms"});
  }
}

void ShardCluster::run(int64_t ns) {
  const int64_t end_ns = agenda_.now_ns() + ns;
  while (agenda_.now_ns() < end_ns && !::testing::Test::HasFailure()) {
    agenda_.pass(random_.between(1, 2 * kStepNs));
    for (const auto& node : nodes_) step(node.get());
    if (random_.one_in(400)) fault();
  }
}

void ShardCluster::fault() {
  const int64_t length_ns = random_.between(50, random_.one_in(3) ? 6'000 : 800) * kMs;
  switch (random_.below(10)) {
    case 0:
      return network_.restart_engine(length_ns / 2);
    case 1:
      ++metrics_.rewinds;
      network_.fail_over(engine_.durable(engine_.leader()));
      for (const auto& node : nodes_) node->link.branch = engine_.leader();
      return;
    case 2:
      return network_.block_appends(length_ns);
    case 3:
      return network_.slow_down(length_ns / 2);
    default:
      return fault_of(nodes_[random_.below(nodes_.size())].get());
  }
}

void ShardCluster::fault_of(Node* node) {
  const int64_t length_ns = random_.between(50, random_.one_in(3) ? 6'000 : 800) * kMs;
  switch (random_.below(8)) {
    case 0:
    case 1:
      if (!node->server) return;
      kill(node);
      ++metrics_.kills;
      node->disk = random_.one_in(2) ? node->disk->after_kill()
                                     : node->disk->after_power_cut({random_.below(20), false});
      agenda_.after(length_ns, [this, node] {
        if (!node->server) start(node);
      });
      return;
    case 2:
      node->stopped_until_ns = agenda_.now_ns() + length_ns;
      return;
    case 3:
      node->link.requests_cut_until_ns = agenda_.now_ns() + length_ns;
      if (random_.one_in(2)) node->link.answers_cut_until_ns = agenda_.now_ns() + length_ns;
      return;
    case 4:
      return node->clock->step_wall(random_.between(-3'600, 3'600) * kSecond);
    case 6:
      if (!node->server || node->leaves) return;
      node->member->begin_to_leave();
      node->leaves = true;
      return;
    case 5: {
      const Node* to = nodes_[random_.below(nodes_.size())].get();
      if (node->server)
        (void)node->member->order({.kind = MemberOrder::Kind::kSwitchover, .node = to->name});
      return;
    }
    default:
      if (node->server && random_.one_in(2))
        (void)node->member->order({.kind = MemberOrder::Kind::kTakeOver});
  }
}

void ShardCluster::be_quiet(int64_t ns) {
  network_.be_quiet();
  for (const auto& node : nodes_) {
    node->stopped_until_ns = 0;
    if (node->server && node->leaves) kill(node.get());
    if (!node->server) start(node.get());
  }
  const int64_t end_ns = agenda_.now_ns() + ns;
  while (agenda_.now_ns() < end_ns && !::testing::Test::HasFailure()) {
    agenda_.pass(kStepNs);
    for (const auto& node : nodes_) {
      rejoin_if_stopped(node.get());
      turn(node.get(), [] {});
      look_for_losses(node.get());
      take_replies(node.get());
    }
  }
  for (const auto& node : nodes_) lose_client(node.get());
}

Node* ShardCluster::primary() {
  Node* found = nullptr;
  for (const auto& node : nodes_) {
    if (!node->member->serves()) continue;
    EXPECT_EQ(found, nullptr) << "two primaries";
    found = node.get();
  }
  return found;
}

// A request of a client of its own, at a node that is quiet.
std::string ShardCluster::call(Node* node, std::initializer_list<std::string_view> words) {
  Session* session = *node->server->connect(FakeServer::local_peer());
  session->receive(request(words), 1024);
  std::string reply;
  for (int i = 0; i < 10'000 && reply.empty(); ++i) {
    node->server->end_turn();
    agenda_.pass(kStepNs / 4);
    node->server->shard_role().listen();
    reply = session->output();
  }
  node->server->disconnect(session);
  return reply;
}

// All that a standby has applied, as it would serve it.
std::string ShardCluster::contents_of(Node* node) {
  storage::Keyspace& keys = node->server->keys();
  keys.running().begin_command(node->server->timeline().now_ns());
  std::string contents;
  for (size_t key = 0; key < Journal::kKeys; ++key) {
    for (const char* kind : {"l", "n"}) {
      const storage::Ref ref = keys.look_up(0, kind + std::to_string(key));
      contents += ref.exists() ? std::string(ref.value()) : "none";
      contents += "|";
    }
  }
  return contents;
}

void ShardCluster::check() {
  metrics_.trimmed = engine_.trimmed(engine_.leader());
  for (const auto& node : nodes_) {
    ASSERT_EQ(node->member->view().stopped_because, "") << node->name;
  }
  Node* const serves = primary();
  ASSERT_NE(serves, nullptr) << "nobody is the primary";
  for (size_t key = 0; key < Journal::kKeys; ++key) {
    const std::string number = std::to_string(key);
    const std::string limit =
        call(serves, {"RL.PEEK", "l" + number, "FIXED", "40/3650d", "COST", "0"});
    const size_t rest = limit.find("\r\n:40\r\n:");
    ASSERT_NE(rest, std::string::npos) << limit;
    const auto left = std::stoull(limit.substr(rest + 8));
    EXPECT_EQ(journal_.check_limit(key, Journal::kLimit - left), "");
    const std::string counter = call(serves, {"GET", "n" + number});
    const bool is_there = !counter.starts_with("$-1");
    const int64_t value = is_there ? std::stoll(counter.substr(counter.find('\n') + 1)) : 0;
    EXPECT_EQ(journal_.check_counter(key, value), "");
  }
  // A standby may be ahead by turns that the engine lost, until the primary has made others.
  for (int i = 0; i < 100; ++i) call(serves, {"INCR", "more"});
  be_quiet(5 * kSecond);
  ASSERT_EQ(primary(), serves);
  const std::string expected = contents_of(serves);
  for (const auto& node : nodes_) {
    EXPECT_EQ(node->server->keys().turn(), serves->server->keys().turn()) << node->name;
    EXPECT_EQ(contents_of(node.get()), expected) << node->name;
  }
  EXPECT_EQ(journal_.check_forgotten(), "");
  metrics_.forgotten = journal_.forgotten();
  metrics_.acknowledged = journal_.acknowledged();
}

}  // namespace weir::server
