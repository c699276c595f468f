// Sorted sets where no Redis 7.0 can be asked: what came later, what is random, what outlives a
// restart. Everything else is compared with Redis by tests/differential.
#include <map>
#include <set>

#include "resp/value.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

class ZsetTest : public ::testing::Test {
 protected:
  std::string call(std::initializer_list<std::string_view> words) { return client_->call(words); }

  // Members named by their score, from first to last.
  void add_numbers(std::string_view key, int first, int last) {
    for (int number = first; number <= last; ++number) {
      const std::string text = std::to_string(number);
      call({"ZADD", key, text, text});
    }
  }

  void restart() {
    client_.reset();
    server_ = nullptr;
    server_ = std::make_unique<FakeServer>(Config(), disk_);
    client_ = server_->connect();
  }

  std::shared_ptr<storage::MemoryDisk> disk_ = storage::make_memory_disk({1, 2});
  std::unique_ptr<FakeServer> server_ = std::make_unique<FakeServer>(Config(), disk_);
  std::unique_ptr<FakeClient> client_ = server_->connect();
};

TEST_F(ZsetTest, RankAnswersTheScoreIfAsked) {
  call({"ZADD", "z", "1", "a", "2.5", "b", "3", "c"});
  EXPECT_EQ(call({"ZRANK", "z", "b"}), ":1\r\n");
  EXPECT_EQ(call({"ZRANK", "z", "b", "WithScore"}), "*2\r\n:1\r\n" + bulk("2.5"));
  EXPECT_EQ(call({"ZREVRANK", "z", "a", "WITHSCORE"}), "*2\r\n:2\r\n" + bulk("1"));
  EXPECT_EQ(call({"ZRANK", "z", "x", "WITHSCORE"}), "*-1\r\n");
  EXPECT_EQ(call({"ZRANK", "nokey", "x", "WITHSCORE"}), "*-1\r\n");
  EXPECT_EQ(call({"ZRANK", "nokey", "x"}), "$-1\r\n");
  EXPECT_EQ(call({"ZRANK", "z", "b", "WITHSCORES"}), "-ERR syntax error\r\n");
  EXPECT_EQ(call({"ZRANK", "z", "b", "WITHSCORE", "x"}),
            "-ERR wrong number of arguments for 'zrank' command\r\n");
  call({"HELLO", "3"});
  EXPECT_EQ(call({"ZREVRANK", "z", "b", "WITHSCORE"}), "*2\r\n:1\r\n,2.5\r\n");
  EXPECT_EQ(call({"ZREVRANK", "z", "x", "WITHSCORE"}), "_\r\n");
}

TEST_F(ZsetTest, IsWhatItWasAfterARestart) {
  add_numbers("small", 1, 3);
  add_numbers("large", 1, 200);
  call({"ZADD", "large", "-0", "zero"});
  call({"ZADD", "small", "inf", "", "-inf", "lowest", "1795227160663.3306", "x"});
  call({"PEXPIREAT", "small", "9999999999999"});
  const std::string small = call({"ZRANGE", "small", "0", "-1", "WITHSCORES"});
  const std::string large = call({"ZRANGE", "large", "0", "-1", "WITHSCORES"});
  restart();
  EXPECT_EQ(call({"ZRANGE", "small", "0", "-1", "WITHSCORES"}), small);
  EXPECT_EQ(call({"ZRANGE", "large", "0", "-1", "WITHSCORES"}), large);
  EXPECT_EQ(call({"ZSCORE", "large", "zero"}), bulk("-0"));
  EXPECT_EQ(call({"PEXPIRETIME", "small"}), ":9999999999999\r\n");
  EXPECT_EQ(call({"OBJECT", "ENCODING", "small"}), bulk("listpack"));
  EXPECT_EQ(call({"OBJECT", "ENCODING", "large"}), bulk("skiplist"));
}

TEST_F(ZsetTest, OnceLargeStaysLarge) {
  add_numbers("z", 1, 128);
  EXPECT_EQ(call({"OBJECT", "ENCODING", "z"}), bulk("listpack"));
  call({"ZADD", "z", "5", "128"});
  EXPECT_EQ(call({"OBJECT", "ENCODING", "z"}), bulk("listpack"));
  call({"ZADD", "z", "129", "129"});
  EXPECT_EQ(call({"OBJECT", "ENCODING", "z"}), bulk("skiplist"));
  call({"ZREMRANGEBYRANK", "z", "1", "-1"});
  EXPECT_EQ(call({"OBJECT", "ENCODING", "z"}), bulk("skiplist"));
  call({"ZPOPMIN", "z"});
  EXPECT_EQ(call({"EXISTS", "z"}), ":0\r\n");
  call({"ZADD", "z", "1", std::string(64, 'm')});
  EXPECT_EQ(call({"OBJECT", "ENCODING", "z"}), bulk("listpack"));
  call({"ZADD", "z", "1", std::string(65, 'm')});
  EXPECT_EQ(call({"OBJECT", "ENCODING", "z"}), bulk("skiplist"));
}

TEST_F(ZsetTest, AnErrorLeavesNothingBehind) {
  EXPECT_EQ(call({"ZADD", "z", "1", "a", "x", "b"}), "-ERR value is not a valid float\r\n");
  EXPECT_EQ(call({"EXISTS", "z"}), ":0\r\n");
  call({"ZADD", "z", "inf", "a"});
  EXPECT_EQ(call({"ZINCRBY", "z", "-inf", "a"}), "-ERR resulting score is not a number (NaN)\r\n");
  EXPECT_EQ(call({"ZSCORE", "z", "a"}), bulk("inf"));
}

TEST_F(ZsetTest, RandomMembersCoverTheSetAndRepeatOnlyIfAsked) {
  for (const int size : {5, 300}) {
    call({"DEL", "z"});
    add_numbers("z", 1, size);
    std::map<std::string, int> seen;
    for (int i = 0; i < 40 * size; ++i) ++seen[call({"ZRANDMEMBER", "z"})];
    EXPECT_EQ(seen.size(), static_cast<size_t>(size));
    EXPECT_GE(seen.size(), 1U);
    for (const auto& [member, times] : seen) EXPECT_LT(times, 100) << member;
  }
  std::set<std::string> distinct;
  const std::string picked = call({"ZRANDMEMBER", "z", "100"});
  for (size_t at = picked.find('$'); at != std::string::npos; at = picked.find('$', at + 1))
    distinct.insert(picked.substr(at, picked.find('$', at + 1) - at));
  EXPECT_TRUE(picked.starts_with("*100\r\n"));
  EXPECT_EQ(distinct.size(), 100U);
  EXPECT_TRUE(call({"ZRANDMEMBER", "z", "-1000"}).starts_with("*1000\r\n"));
  EXPECT_EQ(call({"ZRANDMEMBER", "z", "-10000000"}), "-ERR value is out of range\r\n");
}

TEST_F(ZsetTest, ScanShowsWhatStaysOnceThroughChanges) {
  add_numbers("z", 1, 1000);
  std::map<std::string, int> seen;
  std::string cursor = "0";
  int next = 2000;
  do {
    const std::string page = call({"ZSCAN", "z", cursor, "COUNT", "7"});
    const size_t begin = page.find("\r\n", 4) + 2;
    cursor = page.substr(begin, page.find("\r\n", begin) - begin);
    size_t at = page.find("\r\n", page.find('*', begin)) + 2;
    while (at < page.size()) {
      const size_t text = page.find("\r\n", at) + 2;
      const size_t end = page.find("\r\n", text);
      ++seen[page.substr(text, end - text)];
      at = page.find("\r\n", page.find("\r\n", end + 2) + 2) + 2;  // past the score
    }
    const std::string member = std::to_string(++next);
    call({"ZADD", "z", "1", member});
    call({"ZREM", "z", std::to_string(next - 1)});
  } while (cursor != "0");
  for (int number = 1; number <= 1000; ++number)
    EXPECT_EQ(seen[std::to_string(number)], 1) << number;
}

TEST_F(ZsetTest, ADestinationMayBeItsOwnSource) {
  add_numbers("z", 1, 300);
  EXPECT_EQ(call({"ZRANGESTORE", "z", "z", "1", "-2"}), ":298\r\n");
  EXPECT_EQ(call({"ZUNIONSTORE", "z", "2", "z", "z", "WEIGHTS", "1", "2"}), ":298\r\n");
  EXPECT_EQ(call({"ZRANGE", "z", "0", "0", "WITHSCORES"}), "*2\r\n" + bulk("2") + bulk("6"));
  EXPECT_EQ(call({"ZDIFFSTORE", "z", "2", "z", "z"}), ":0\r\n");
  EXPECT_EQ(call({"EXISTS", "z"}), ":0\r\n");
}

}  // namespace
}  // namespace weir::server
