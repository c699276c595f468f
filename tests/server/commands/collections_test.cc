// Hashes and sets where replies may not be compared with Redis to the byte: what is random, what is
// refused, what eviction and restarts must leave alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using Words = std::vector<std::string>;

resp::Value ask(FakeClient& client, std::initializer_list<std::string_view> words) {
  return decoded(client.call(words));
}

Words texts(const resp::Value& value) {
  Words found;
  for (const resp::Value& element : value.elements) found.push_back(element.text);
  return found;
}

void add_members(FakeClient& client, int count, const std::string& prefix) {
  for (int i = 0; i < count; ++i) client.call({"SADD", "s", prefix + std::to_string(i)});
}

TEST(Collections, SpopTakesEachMemberOnceAndTheKeyGoesWithTheLast) {
  FakeServer server;
  const auto client = server.connect();
  add_members(*client, 40, "m");
  std::multiset<std::string> popped;
  for (const std::string& member : texts(ask(*client, {"SPOP", "s", "15"}))) popped.insert(member);
  EXPECT_EQ(popped.size(), 15u);
  EXPECT_EQ(ask(*client, {"SCARD", "s"}).integer, 25);
  for (int i = 0; i < 25; ++i) popped.insert(ask(*client, {"SPOP", "s"}).text);
  EXPECT_EQ(std::set<std::string>(popped.begin(), popped.end()).size(), 40u);
  EXPECT_TRUE(ask(*client, {"SPOP", "s"}).is_null());
  EXPECT_EQ(ask(*client, {"EXISTS", "s"}).integer, 0);
}

// With 20 members and 4000 draws each is expected 200 times; 100 is seven deviations off.
TEST(Collections, EveryMemberIsPickedAboutAsOften) {
  FakeServer server;
  const auto client = server.connect();
  add_members(*client, 20, "m");
  std::map<std::string, int> once, with_repetitions, distinct;
  for (int i = 0; i < 4000; ++i) ++once[ask(*client, {"SRANDMEMBER", "s"}).text];
  for (const std::string& member : texts(ask(*client, {"SRANDMEMBER", "s", "-4000"})))
    ++with_repetitions[member];
  for (int i = 0; i < 800; ++i) {
    for (const std::string& member : texts(ask(*client, {"SRANDMEMBER", "s", "5"})))
      ++distinct[member];
  }
  for (const auto& counts : {once, with_repetitions, distinct}) {
    EXPECT_EQ(counts.size(), 20u);
    for (const auto& [member, count] : counts) {
      EXPECT_GT(count, 100) << member;
      EXPECT_LT(count, 300) << member;
    }
  }
}

TEST(Collections, PositiveCountsPickDifferentElements) {
  FakeServer server;
  const auto client = server.connect();
  add_members(*client, 30, "m");
  for (const std::string_view count : {"1", "7", "29", "30", "31", "9223372036854775807"}) {
    const Words members = texts(ask(*client, {"SRANDMEMBER", "s", count}));
    const size_t wanted = count.size() > 2 ? 30 : std::min(30, std::stoi(std::string(count)));
    EXPECT_EQ(members.size(), wanted);
    EXPECT_EQ(std::set<std::string>(members.begin(), members.end()).size(), wanted);
  }
  EXPECT_EQ(ask(*client, {"SCARD", "s"}).integer, 30);
}

TEST(Collections, HrandfieldPairsFieldsWithTheirValues) {
  FakeServer server;
  const auto client = server.connect();
  for (int i = 0; i < 50; ++i) {
    client->call({"HSET", "h", "f" + std::to_string(i), "v" + std::to_string(i)});
  }
  for (const std::string_view count : {"10", "-100"}) {
    const Words flat = texts(ask(*client, {"HRANDFIELD", "h", count, "WITHVALUES"}));
    ASSERT_EQ(flat.size(), count == "10" ? 20u : 200u);
    for (size_t i = 0; i < flat.size(); i += 2) EXPECT_EQ("v" + flat[i].substr(1), flat[i + 1]);
  }
  client->call({"HELLO", "3"});
  const resp::Value pairs = ask(*client, {"HRANDFIELD", "h", "10", "WITHVALUES"});
  ASSERT_EQ(pairs.elements.size(), 10u);
  for (const resp::Value& pair : pairs.elements) {
    ASSERT_EQ(pair.elements.size(), 2u);
    EXPECT_EQ("v" + pair.elements[0].text.substr(1), pair.elements[1].text);
  }
}

TEST(Collections, RepetitionsHaveABound) {
  FakeServer server;
  const auto client = server.connect();
  client->call({"SADD", "s", "m"});
  client->call({"HSET", "h", "f", "v"});
  EXPECT_TRUE(ask(*client, {"SRANDMEMBER", "s", "-1048577"}).is_error());
  EXPECT_TRUE(ask(*client, {"HRANDFIELD", "h", "-9223372036854775807"}).is_error());
}

TEST(Collections, FieldExpiryIsRefusedByName) {
  FakeServer server;
  const auto client = server.connect();
  client->call({"HSET", "h", "f", "v"});
  EXPECT_EQ(client->call({"HEXPIRE", "h", "10", "FIELDS", "1", "f"}),
            "-ERR HEXPIRE is not supported: only whole keys expire, see EXPIRE\r\n");
  EXPECT_EQ(client->call({"HTTL", "h", "FIELDS", "1", "f"}),
            "-ERR HTTL is not supported: only whole keys expire, see EXPIRE\r\n");
  EXPECT_EQ(client->call({"HLEN", "h"}), ":1\r\n");
}

TEST(Collections, FieldsKeepTheirOrderOverARestart) {
  const auto disk = storage::make_memory_disk({1, 2});
  const Words fields = {"zeta", "alpha", "", "10", "9", "mid"};
  const auto order = [](FakeClient& client) { return texts(ask(client, {"HKEYS", "h"})); };
  {
    FakeServer server({}, disk);
    const auto client = server.connect();
    for (const std::string& field : fields) client->call({"HSET", "h", field, "1"});
    client->call({"HSET", "h", "alpha", "2"});
    client->call({"HINCRBY", "h", "zeta", "5"});
    EXPECT_EQ(order(*client), fields);
    EXPECT_TRUE(server->close().ok());
  }
  FakeServer server({}, disk);
  const auto client = server.connect();
  EXPECT_EQ(order(*client), fields);
  client->call({"HDEL", "h", "alpha"});
  client->call({"HSET", "h", "alpha", "3"});
  EXPECT_EQ(order(*client), (Words{"zeta", "", "10", "9", "mid", "alpha"}));
}

TEST(Collections, TheFormStaysLargeOverARestart) {
  const auto disk = storage::make_memory_disk({1, 2});
  {
    FakeServer server({}, disk);
    const auto client = server.connect();
    client->call({"HSET", "h", "f", std::string(65, 'v')});
    client->call({"HSET", "h", "f", "short"});
    client->call({"SADD", "s", "1", "word"});
    client->call({"SREM", "s", "word"});
    EXPECT_TRUE(server->close().ok());
  }
  FakeServer server({}, disk);
  const auto client = server.connect();
  EXPECT_EQ(client->call({"OBJECT", "ENCODING", "h"}), bulk("hashtable"));
  EXPECT_EQ(client->call({"OBJECT", "ENCODING", "s"}), bulk("hashtable"));
  client->call({"DEL", "h"});
  client->call({"HSET", "h", "f", "v"});
  EXPECT_EQ(client->call({"OBJECT", "ENCODING", "h"}), bulk("listpack"));
}

TEST(Collections, IntegersStandInNumericOrder) {
  FakeServer server;
  const auto client = server.connect();
  client->call({"SADD", "s", "10", "9", "-1", "100", "0"});
  client->call({"SADD", "t", "9", "-1", "7"});
  EXPECT_EQ(texts(ask(*client, {"SMEMBERS", "s"})), (Words{"-1", "0", "9", "10", "100"}));
  EXPECT_EQ(texts(ask(*client, {"SUNION", "s", "t"})), (Words{"-1", "0", "7", "9", "10", "100"}));
  EXPECT_EQ(texts(ask(*client, {"SINTER", "s", "t"})), (Words{"-1", "9"}));
  EXPECT_EQ(texts(ask(*client, {"SSCAN", "s", "0"}).elements[1]),
            (Words{"-1", "0", "9", "10", "100"}));
}

TEST(Collections, AnErrorLeavesNothingBehind) {
  FakeServer server;
  const auto client = server.connect();
  client->call({"SET", "string", "x"});
  EXPECT_TRUE(ask(*client, {"HINCRBYFLOAT", "h", "f", "abc"}).is_error());
  EXPECT_TRUE(ask(*client, {"SMOVE", "nokey", "string", "m"}).integer == 0);
  client->call({"SADD", "s", "m"});
  EXPECT_TRUE(ask(*client, {"SMOVE", "s", "string", "m"}).is_error());
  EXPECT_EQ(client->call({"EXISTS", "h", "s"}), ":1\r\n");
  EXPECT_EQ(client->call({"SISMEMBER", "s", "m"}), ":1\r\n");
}

TEST(Collections, TheKeyGoesWithTheLastElement) {
  FakeServer server;
  const auto client = server.connect();
  client->call({"HSET", "h", "f", "v", "g", "w"});
  client->call({"SADD", "s", "m", "n"});
  EXPECT_EQ(client->call({"HDEL", "h", "f", "g", "none"}), ":2\r\n");
  EXPECT_EQ(client->call({"SREM", "s", "m", "n", "none"}), ":2\r\n");
  client->call({"SADD", "s", "m"});
  client->call({"SMOVE", "s", "t", "m"});
  EXPECT_EQ(client->call({"EXISTS", "h", "s"}), ":0\r\n");
}

TEST(Collections, ADestinationMayBeASource) {
  FakeServer server;
  const auto client = server.connect();
  client->call({"SADD", "s", "a", "b", "c"});
  client->call({"SADD", "t", "b"});
  EXPECT_EQ(client->call({"SDIFFSTORE", "s", "s", "t"}), ":2\r\n");
  EXPECT_EQ(client->call({"SUNIONSTORE", "t", "t", "s"}), ":3\r\n");
  EXPECT_EQ(client->call({"SINTERSTORE", "t", "t", "nokey"}), ":0\r\n");
  EXPECT_EQ(client->call({"EXISTS", "t"}), ":0\r\n");
}

TEST(Collections, MemoryUsageGrowsWithTheElements) {
  FakeServer server;
  const auto client = server.connect();
  client->call({"HSET", "h", "f", "v"});
  const int64_t one = ask(*client, {"MEMORY", "USAGE", "h"}).integer;
  for (int i = 0; i < 99; ++i) client->call({"HSET", "h", "f" + std::to_string(i), "v"});
  EXPECT_GT(ask(*client, {"MEMORY", "USAGE", "h", "SAMPLES", "0"}).integer, 50 * one);
  EXPECT_GT(ask(*client, {"MEMORY", "USAGE", "h"}).integer, 50 * one);
}

}  // namespace
}  // namespace weir::server
