// SCAN and RANDOMKEY over more keys than one step visits.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

void add_keys(FakeClient& client, int count) {
  for (int i = 0; i < count; ++i) client.call({"SET", "k" + std::to_string(i), "v"});
}

TEST(KeysWalk, ScanShowsWhatStaysWhileOtherKeysComeAndGo) {
  FakeServer server;
  const auto client = server.connect();
  add_keys(*client, 2000);
  std::multiset<std::string> seen;
  std::string cursor = "0";
  int step = 0;
  do {
    const resp::Value page = decoded(client->call({"SCAN", cursor, "COUNT", "7"}));
    for (const resp::Value& key : page.elements[1].elements) seen.insert(key.text);
    cursor = page.elements[0].text;
    client->call({"SET", "new" + std::to_string(step), "v"});
    client->call({"DEL", "k" + std::to_string(1000 + step++)});
  } while (cursor != "0");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen.count("k" + std::to_string(i)), 1u);
}

TEST(KeysWalk, CursorsFitADoubleAndNoneIsTooLarge) {
  FakeServer server;
  const auto client = server.connect();
  add_keys(*client, 100);
  const resp::Value page = decoded(client->call({"SCAN", "0", "COUNT", "1"}));
  EXPECT_LT(std::stoull(page.elements[0].text), uint64_t{1} << 53);
  EXPECT_EQ(decoded(client->call({"SCAN", "18446744073709551615"})).elements.size(), 2u);
}

TEST(KeysWalk, RandomkeyFindsEveryKeyAndTheOnlyOne) {
  FakeServer server;
  const auto client = server.connect();
  EXPECT_EQ(client->call({"RANDOMKEY"}), "$-1\r\n");
  client->call({"SET", "only", "v"});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client->call({"RANDOMKEY"}), bulk("only"));
  client->call({"DEL", "only"});
  EXPECT_EQ(client->call({"RANDOMKEY"}), "$-1\r\n");
  add_keys(*client, 20);
  std::set<std::string> found;
  for (int i = 0; i < 20'000 && found.size() < 20; ++i)
    found.insert(decoded(client->call({"RANDOMKEY"})).text);
  EXPECT_EQ(found.size(), 20u);
}

}  // namespace
}  // namespace weir::server
