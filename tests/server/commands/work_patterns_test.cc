// Patterns: how long they may be, what comparing them is charged, and where a walk with one ends.
#include <gtest/gtest.h>

#include <set>

#include "server/command/arguments.h"
#include "tests/server/rl_fixture.h"
#include "tests/server/work_fixture.h"

namespace weir::server {
namespace {

class PatternsWork : public WorkBudget {
 protected:
  std::string error_of(std::initializer_list<std::string_view> words) {
    const std::string reply = client_->call(words);
    return reply.starts_with("-") ? reply.substr(0, reply.find('\r')) : "";
  }
  // The names of one page; its cursor is kept.
  std::vector<std::string> page(const std::vector<std::string>& words) {
    server_.run_turns();
    client_->take();
    const std::string reply = client_->send(request_of(words));
    resp::Value value;
    size_t consumed = 0;
    EXPECT_EQ(resp::decode(reply, &value, &consumed), resp::DecodeStatus::kValue) << reply;
    cursor_ = value.elements.at(0).text;
    std::vector<std::string> names;
    for (const resp::Value& item : value.elements.at(1).elements) names.push_back(item.text);
    return names;
  }
  // A whole round, page by page; no page takes more than a session's slice and `more`.
  std::multiset<std::string> round(std::vector<std::string> words, size_t cursor_at,
                                   uint64_t more = 0) {
    std::multiset<std::string> names;
    cursor_ = "0";
    pages_ = 0;
    do {
      words[cursor_at] = cursor_;
      server_.run_turns();
      const uint64_t before = units();
      for (std::string& name : page(words)) names.insert(std::move(name));
      EXPECT_LE(units() - before, WorkMeter::kSliceUnits + more);
      ++pages_;
    } while (cursor_ != "0");
    return names;
  }
  void fill_keys(int count) {
    std::string pipeline;
    for (int i = 0; i < count; ++i) pipeline += request({"SET", "k" + std::to_string(i), "v"});
    client_->send(pipeline);
  }

  std::unique_ptr<FakeClient> client_ = server_.connect();
  std::string cursor_;
  int pages_ = 0;
};

TEST_F(PatternsWork, ALongPatternIsRefused) {
  client_->call({"SADD", "set", "m"});
  const std::string longest(kPatternBytesMax, 'x');
  const std::string longer = longest + "x";
  const std::string error = "-ERR a pattern may have at most 4096 bytes, got one of 4097";
  EXPECT_EQ(error_of({"KEYS", longer}), error);
  EXPECT_EQ(error_of({"SCAN", "0", "MATCH", longer}), error);
  EXPECT_EQ(error_of({"SSCAN", "set", "0", "MATCH", longer}), error);
  EXPECT_EQ(error_of({"PUBSUB", "CHANNELS", longer}), error);
  EXPECT_EQ(error_of({"PUBSUB", "SHARDCHANNELS", longer}), error);
  EXPECT_EQ(error_of({"COMMAND", "LIST", "FILTERBY", "PATTERN", longer}), error);
  EXPECT_EQ(error_of({"FUNCTION", "LIST", "LIBRARYNAME", longer}), error);
  EXPECT_EQ(error_of({"PSUBSCRIBE", "p", longer}), error);
  EXPECT_EQ(client_->call({"PUBSUB", "NUMPAT"}), ":0\r\n") << "all or none";
  EXPECT_EQ(error_of({"KEYS", longest}), "");
  EXPECT_EQ(error_of({"SCAN", "0", "MATCH", longest}), "");
  EXPECT_EQ(error_of({"PSUBSCRIBE", longest}), "");
}

TEST_F(PatternsWork, AScanEndsItsPageWhenItsWorkIsUsedUp) {
  fill_keys(25'000);
  const auto names = round({"SCAN", "0", "COUNT", "1000000"}, 1);
  EXPECT_EQ(names.size(), 25'000u);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 25'000u);
  EXPECT_GT(pages_, 3);
  EXPECT_LT(pages_, 30);
  EXPECT_EQ(page({"SCAN", "0", "COUNT", "1000"}).size(), 1000u) << "as many as were asked for";
}

TEST_F(PatternsWork, SoDoWalksOfCollections) {
  fill(*client_, "SADD", "set", 25'000);
  EXPECT_EQ(round({"SSCAN", "set", "0", "COUNT", "1000000"}, 2).size(), 25'000u);
  EXPECT_GT(pages_, 3);
  fill(*client_, "HSET", "hash", 25'000, true);
  EXPECT_EQ(round({"HSCAN", "hash", "0", "COUNT", "1000000"}, 2).size(), 50'000u);
  fill(*client_, "ZADD", "zset", 25'000, true);
  EXPECT_EQ(round({"ZSCAN", "zset", "0", "COUNT", "1000000"}, 2).size(), 50'000u);
}

// Long keys, and a pattern that almost matches at every place.
TEST_F(PatternsWork, ACostlyPatternIsCharged) {
  for (int i = 0; i < 100; ++i) {
    client_->call({"SET", std::string(20'000, 'a') + std::to_string(i), "v"});
  }
  const std::string pattern = "*" + std::string(2000, 'a') + "b*";
  const uint64_t all = cost_of(*client_, request({"KEYS", pattern}));
  EXPECT_GE(all, 100u * 2'000);
  EXPECT_EQ(round({"SCAN", "0", "MATCH", pattern, "COUNT", "100000"}, 1, 10 * all / 100).size(),
            0u);
  EXPECT_GT(pages_, 5);
  auto listener = server_.connect();
  listener->call({"PSUBSCRIBE", pattern});
  const std::string channel(20'000, 'a');
  EXPECT_GE(cost_of(*client_, request({"PUBLISH", channel, "x"})), 2'000u);
  listener->call({"SUBSCRIBE", channel});
  EXPECT_GE(cost_of(*client_, request({"PUBSUB", "CHANNELS", pattern})), 2'000u);
}

}  // namespace
}  // namespace weir::server
