// key-bytes-max where clients come in: keys of all requests, fields and members that are written.
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

class KeyBound : public testing::Test {
 protected:
  KeyBound() { client_->call({"CONFIG", "SET", "key-bytes-max", "1kb"}); }

  std::string call(std::initializer_list<std::string_view> words) { return client_->call(words); }
  static std::string error(std::string_view what, size_t bytes = 1025) {
    return "-ERR " + std::string(what) +
           " may have at most 1024 bytes (key-bytes-max), got one of " + std::to_string(bytes) +
           "\r\n";
  }

  const std::string longest_ = std::string(1024, 'k');
  const std::string too_long_ = std::string(1025, 'k');
  const std::string key_error_ = error("a key");
  const std::string member_error_ = error("a field or member");
  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(KeyBound, IsOneOfEveryKey) {
  EXPECT_EQ(call({"SET", longest_, "v"}), "+OK\r\n");
  EXPECT_EQ(call({"SET", too_long_, "v"}), key_error_);
  EXPECT_EQ(call({"GET", too_long_}), key_error_);
  EXPECT_EQ(call({"MSET", "a", "1", too_long_, "2"}), key_error_);
  EXPECT_EQ(call({"EXISTS", "a"}), ":0\r\n");
  EXPECT_EQ(call({"MSET", "a", too_long_}), "+OK\r\n");  // which is a value
  EXPECT_EQ(call({"RL.TAKE", too_long_, "10/1m"}), key_error_);
  EXPECT_EQ(call({"RL.MTAKE", "2", "a", too_long_, "10/1m", "10/1m"}), key_error_);
  EXPECT_EQ(call({"RENAME", longest_, too_long_}), key_error_);
  EXPECT_EQ(call({"COPY", longest_, too_long_}), key_error_);
  EXPECT_EQ(call({"SORT", "l", "STORE", too_long_}), key_error_);
  const std::string dump = call({"DUMP", longest_});
  const size_t begin = dump.find('\n') + 1;
  EXPECT_EQ(call({"RESTORE", too_long_, "0", dump.substr(begin, dump.size() - begin - 2)}),
            key_error_);
  EXPECT_EQ(call({"EVAL", "return 1", "1", too_long_}), key_error_);
}

TEST_F(KeyBound, IsOneOfFieldsAndMembersThatAreWritten) {
  EXPECT_EQ(call({"SADD", "s", longest_}), ":1\r\n");
  EXPECT_EQ(call({"SADD", "s", "x", too_long_}), member_error_);
  EXPECT_EQ(call({"SCARD", "s"}), ":1\r\n");
  EXPECT_EQ(call({"SISMEMBER", "s", too_long_}), ":0\r\n");
  EXPECT_EQ(call({"HSET", "h", "f", too_long_}), ":1\r\n");
  EXPECT_EQ(call({"HSET", "h", too_long_, "v"}), member_error_);
  EXPECT_EQ(call({"ZADD", "z", "1", too_long_}), member_error_);
  EXPECT_EQ(call({"EXISTS", "z"}), ":0\r\n");
  EXPECT_EQ(call({"RPUSH", "l", too_long_}), ":1\r\n");
}

TEST_F(KeyBound, HoldsInScriptsAndTransactions) {
  EXPECT_EQ(call({"EVAL", "return redis.pcall('SET', ARGV[1], 'v').err", "0", too_long_}),
            bulk(key_error_.substr(1, key_error_.size() - 3)));
  EXPECT_EQ(call({"EVAL", "redis.call('SET', 'a', 1); return redis.pcall('SADD', 's', ARGV[1])",
                  "0", too_long_}),
            member_error_);
  EXPECT_EQ(call({"EXISTS", "a", "s"}), ":0\r\n");
  call({"MULTI"});
  EXPECT_EQ(call({"SET", too_long_, "v"}), key_error_);
  EXPECT_EQ(call({"EXEC"}).substr(0, 11), "-EXECABORT ");
  call({"MULTI"});
  call({"SET", "a", "1"});
  call({"SADD", "s", too_long_});
  EXPECT_EQ(call({"EXEC"}), "*2\r\n+OK\r\n" + member_error_);
}

TEST_F(KeyBound, CopiesOfLongMembersAreMadeWhereTheyMayBe) {
  call({"CONFIG", "SET", "key-bytes-max", "2kb"});
  call({"SADD", "s", too_long_});
  call({"CONFIG", "SET", "key-bytes-max", "1kb"});
  EXPECT_EQ(call({"COPY", "s", "t"}), member_error_);
  EXPECT_EQ(call({"RENAME", "s", "t"}), "+OK\r\n");
  EXPECT_EQ(call({"SREM", "t", too_long_}), ":1\r\n");
}

TEST_F(KeyBound, KeysThatAreLongerAreReachedByAHigherOne) {
  call({"CONFIG", "SET", "key-bytes-max", "2kb"});
  EXPECT_EQ(call({"SET", too_long_, "v"}), "+OK\r\n");
  call({"CONFIG", "SET", "key-bytes-max", "1kb"});
  EXPECT_EQ(call({"KEYS", "*"}), "*1\r\n" + bulk(too_long_));
  EXPECT_EQ(call({"DEL", too_long_}), key_error_);
  call({"CONFIG", "SET", "key-bytes-max", "2kb"});
  EXPECT_EQ(call({"DEL", too_long_}), ":1\r\n");
}

// What is remembered of a request has the key and the ID in its name.
TEST_F(KeyBound, TheLongestKeyTakesTheLongestId) {
  const std::string id(64, 'i');
  const std::string first = call({"RL.TAKE", longest_, "10/1m", "ID", id});
  EXPECT_EQ(first.substr(0, 4), "*6\r\n");
  EXPECT_EQ(call({"RL.TAKE", longest_, "10/1m", "ID", id}), first);
}

TEST_F(KeyBound, IsAnOption) {
  EXPECT_EQ(call({"CONFIG", "GET", "key-bytes-max"}),
            "*2\r\n" + bulk("key-bytes-max") + bulk("1024"));
  EXPECT_EQ(call({"CONFIG", "SET", "key-bytes-max", "512mb"}), "+OK\r\n");
  for (const std::string_view refused : {"1023", "0", "513mb", "x"})
    EXPECT_EQ(call({"CONFIG", "SET", "key-bytes-max", refused}).substr(0, 5), "-ERR ") << refused;
}

}  // namespace
}  // namespace weir::server
