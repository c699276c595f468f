// What is kept for clients beside their buffers falls under maxmemory-clients, and shows.
#include <string>
#include <vector>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

Config with_clients_memory(int64_t bytes) {
  Config config;
  config.maxmemory_clients = bytes;
  config.key_bytes_max = 16 * kMb;  // so that few requests keep much
  return config;
}

std::string field(const std::string& line, const std::string& name) {
  const size_t begin = line.find(" " + name + "=") + name.size() + 2;
  return line.substr(begin, line.find(' ', begin) - begin);
}

// A client that has asked for this, of which something with a name of two megabytes is kept.
std::unique_ptr<FakeClient> client_that(FakeServer* server,
                                        const std::vector<std::vector<std::string>>& requests) {
  auto client = server->connect();
  for (const auto& words : requests) {
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words) bytes += bulk(word);
    client->send(bytes);
  }
  return client;
}

TEST(KeptBound, WhoHasTheServerKeepMoreThanItMayEnds) {
  const std::string name(2 * kMb, 'n');
  const std::vector<std::vector<std::vector<std::string>>> attacks = {
      {{"BLPOP", name, "0"}},
      {{"BLMOVE", name, "b", "LEFT", "LEFT", "0"}},
      {{"BZPOPMIN", name, "0"}},
      {{"RL.TAKE", name, "1/1d"}, {"RL.ACQUIRE", name, "1/1d", "TIMEOUT", "0"}},
      {{"RL.TAKE", name, "LEAKY", "1/1d", "CAPACITY", "10"},
       {"RL.ACQUIRE", name, "LEAKY", "1/1d", "CAPACITY", "10", "TIMEOUT", "0"}},
      {{"WATCH", name}},
      {{"MULTI"}, {"GET", name}},
      {{"SUBSCRIBE", name}},
      {{"SSUBSCRIBE", name}},
      {{"CLIENT", "TRACKING", "ON", "BCAST", "REDIRECT", "1", "PREFIX", name}}};
  for (const auto& requests : attacks) {
    FakeServer server(with_clients_memory(kMb));
    auto bystander = server.connect();
    auto attacker = client_that(&server, requests);
    EXPECT_TRUE(attacker->closed()) << requests.back()[0];
    EXPECT_EQ(bystander->call({"PING"}), "+PONG\r\n");
    EXPECT_LT(server->sessions().bounds().bytes(), static_cast<size_t>(kMb));
  }
}

TEST(KeptBound, TheNumberOfWordsCountsAsTheirLengthDoes) {
  FakeServer server(with_clients_memory(8 * kMb));
  auto watcher = server.connect();
  std::string watch = "*50001\r\n" + bulk("WATCH");
  for (int i = 0; i < 50'000; ++i) watch += bulk(std::to_string(i));
  watcher->send(watch);  // 0.6 MB
  EXPECT_TRUE(watcher->closed());
  auto unfinished = server.connect();
  unfinished->push("*1000000\r\n");
  for (int i = 0; i < 90 && !unfinished->closed(); ++i) {
    std::string words;
    for (int n = 0; n < 10'000; ++n) words += "$0\r\n\r\n";
    unfinished->push(words);  // 60 KB
    server.run_turns();
  }
  EXPECT_TRUE(unfinished->closed());
}

TEST(KeptBound, ALargeRequestLeavesNothingBehind) {
  FakeServer server(with_clients_memory(64 * kMb));
  auto client = server.connect();
  client->call({"PING"});
  const size_t before = client->session().memory_bytes();
  std::string request = "*200001\r\n" + bulk("DEL");
  for (int i = 0; i < 200'000; ++i) request += bulk("k");
  client->push(request.substr(0, 1 << 20));
  EXPECT_GT(client->session().memory_bytes(), before + kMb);
  client->send(request.substr(1 << 20));
  EXPECT_LT(client->session().memory_bytes(), before + 4096);
}

TEST(KeptBound, NamesThatWereReadAreForgottenBeforeAClientEnds) {
  FakeServer server(with_clients_memory(kMb));
  auto client = server.connect();
  client->call({"HELLO", "3"});
  client->call({"CLIENT", "TRACKING", "ON"});
  size_t told = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string reply = client->call({"GET", std::to_string(i) + std::string(50'000, 'k')});
    if (reply.find("invalidate") != reply.npos) ++told;
  }
  EXPECT_FALSE(client->closed());
  EXPECT_GT(told, 70u);  // as if they had changed
  EXPECT_LT(server->messages().tracking().bytes(), static_cast<size_t>(kMb));
  EXPECT_LT(server->messages().tracking().keys(), 25u);
}

TEST(KeptBound, WhatIsKeptShowsInClientList) {
  FakeServer server(with_clients_memory(64 * kMb));
  auto asker = server.connect();
  auto waiter = server.connect();
  waiter->call({"BLPOP", std::string(100'000, 'k'), "0"});
  const std::string line = server->sessions().describe(waiter->session());
  EXPECT_EQ(field(line, "argv-mem"), "100006");  // as Redis 7.0 shows it
  EXPECT_GT(std::stoul(field(line, "tot-mem")), 200'000u);
  const size_t sum = server->sessions().bytes();
  EXPECT_GE(sum, 200'000u);
  asker->call({"LPUSH", std::string(100'000, 'k'), "x"});
  EXPECT_EQ(field(server->sessions().describe(waiter->session()), "argv-mem"), "0");
  EXPECT_LT(server->sessions().bytes(), sum - 200'000);
  auto watcher = server.connect();
  watcher->call({"WATCH", std::string(100'000, 'k')});
  EXPECT_GT(std::stoul(field(server->sessions().describe(watcher->session()), "multi-mem")),
            100'000u);
  watcher->call({"UNWATCH"});
  EXPECT_EQ(field(server->sessions().describe(watcher->session()), "multi-mem"), "0");
}

TEST(KeptBound, TheLargestOfVeryManyEndsWhoeverMayBeEvicted) {
  FakeServer server(with_clients_memory(4 * kMb));
  std::vector<std::unique_ptr<FakeClient>> small;
  for (int i = 0; i < 200; ++i) {
    small.push_back(server.connect());
    small.back()->call({"BLPOP", std::to_string(i), "0"});
  }
  auto spared = server.connect();
  spared->call({"CLIENT", "NO-EVICT", "ON"});
  spared->call({"WATCH", std::string(kMb, 'w')});  // with two copies of the name
  auto large = server.connect();
  large->call({"WATCH", std::string(kMb / 2, 'w')});
  auto larger = server.connect();
  larger->call({"WATCH", std::string(kMb, 'w')});
  EXPECT_FALSE(spared->closed());
  EXPECT_TRUE(larger->closed());
  EXPECT_FALSE(large->closed());
  for (const auto& client : small) EXPECT_FALSE(client->closed());
  spared->call({"RESET"});  // may be evicted again
  spared->call({"WATCH", std::string(kMb, 'w')});
  auto last = server.connect();
  last->call({"BLPOP", std::string(kMb, 'b'), "0"});
  EXPECT_EQ(server->sessions().bounds().evicted(), 2u);
}

TEST(KeptBound, AllWhoWaitForAKeyShareItsName) {
  FakeServer server(with_clients_memory(64 * kMb));
  const std::string key(100'000, 'k');
  std::vector<std::unique_ptr<FakeClient>> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.push_back(server.connect());
    waiters.back()->call({"BLPOP", key, "0"});
  }
  const auto& queue = server->waiting().queue(0, key);
  ASSERT_EQ(queue.size(), 3u);
  EXPECT_EQ(queue[0]->keys[0].name, queue[2]->keys[0].name);
}

}  // namespace
}  // namespace weir::server
