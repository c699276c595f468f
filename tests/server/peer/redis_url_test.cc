#include "server/peer/redis_url.h"

#include <gtest/gtest.h>

namespace weir::server {
namespace {

TEST(RedisUrl, NamesAServer) {
  auto url = parse_redis_url("redis://h");
  ASSERT_TRUE(url) << url.error();
  EXPECT_EQ(url->host, "h");
  EXPECT_EQ(url->port, 6379);
  EXPECT_EQ(url->database, -1);
  EXPECT_FALSE(url->tls);
  url = parse_redis_url("rediss://bob:p%40s%3as@w@[::1]:7000/12");
  ASSERT_TRUE(url) << url.error();
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->user, "bob");
  EXPECT_EQ(url->password, "p@s:s@w");
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 7000);
  EXPECT_EQ(url->database, 12);
  EXPECT_EQ(url->shown(), "rediss://[::1]:7000");
  url = parse_redis_url("redis://:secret@h/");
  ASSERT_TRUE(url) << url.error();
  EXPECT_EQ(url->user, "");
  EXPECT_EQ(url->password, "secret");
}

TEST(RedisUrl, RefusesWhatNamesNone) {
  for (const char* text :
       {"", "h", "http://h", "redis://", "redis://h:", "redis://h:0", "redis://h:65536",
        "redis://h:-1", "redis://h:1x", "redis://h/x", "redis://h/-1", "redis://[::1",
        "redis://[::1]x", "redis://bob@h", "redis://:s%4@h", "redis://:s%zz@h", "redis://[::1]:"})
    EXPECT_FALSE(parse_redis_url(text)) << text;
  EXPECT_EQ(parse_redis_url("redis://:secret@h:x").error().find("secret"), std::string::npos);
}

TEST(RedisUrl, APasswordIsOverwritten) {
  for (const auto& [before, after] :
       {std::pair{"redis://bob:secret@h:1/2", "redis://bob:******@h:1/2"},
        std::pair{"redis://:a@b@h", "redis://:***@h"}, std::pair{"redis://h:1", "redis://h:1"},
        std::pair{"redis://bob@h:1", "redis://bob@h:1"}}) {
    std::string text = before;
    hide_password(text.data());
    EXPECT_EQ(text, after);
  }
}

}  // namespace
}  // namespace weir::server
