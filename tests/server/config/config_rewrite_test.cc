// CONFIG REWRITE: what changes in the file, what stays, and that it loads to what was configured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "server/config/config_options.h"
#include "server/config/ignored_options.h"
#include "tests/server/config_fixture.h"

namespace weir::server {
namespace {

using testing::HasSubstr;

class ConfigRewriteTest : public ConfigTest {};

TEST_F(ConfigRewriteTest, KeepsWhatItCan) {
  ASSERT_EQ(load_text("# head\nport   7000\n\nmaxclients 500 \n# about timeouts\ntimeout 5\n"
                      "lua-time-limit 7\ntimeout 6\n# tail"),
            "");
  EXPECT_EQ(set({"timeout", "8", "busy-reply-threshold", "9", "maxmemory", "64mb", "requirepass",
                 "two \"words\" \x01"}),
            "OK");
  EXPECT_EQ(rewrite(), "");
  EXPECT_EQ(read_file(path("weir.conf")),
            "# head\nport   7000\n\nmaxclients 500 \n# about timeouts\ntimeout 8\n"
            "busy-reply-threshold 9\n# tail\n\n# Written by CONFIG REWRITE\n"
            "requirepass \"two \\\"words\\\" \\x01\"\nmaxmemory 64mb\n");
  EXPECT_EQ(set({"maxmemory", "1", "hz", "20"}), "OK");
  EXPECT_EQ(rewrite(), "");
  EXPECT_THAT(read_file(path("weir.conf")),
              HasSubstr("\n# Written by CONFIG REWRITE\nrequirepass \"two \\\"words\\\" "
                        "\\x01\"\nmaxmemory 1\nhz 20\n"));
}

TEST_F(ConfigRewriteTest, KeepsOptionsThatAreNotRead) {
  ASSERT_EQ(
      load_text("maxmemory-policy allkeys-lru\nhash-max-ziplist-entries 7\nactivedefrag no\n"), "");
  EXPECT_EQ(set({"maxmemory-policy", "volatile-ttl", "hash-max-listpack-entries", "8",
                 "lfu-log-factor", "11"}),
            "OK");
  EXPECT_EQ(rewrite(), "");
  EXPECT_EQ(read_file(path("weir.conf")),
            "maxmemory-policy volatile-ttl\nhash-max-listpack-entries 8\nactivedefrag no\n\n"
            "# Written by CONFIG REWRITE\nlfu-log-factor 11\n");
  EXPECT_EQ(load({path("weir.conf")}), "");
  EXPECT_EQ(get("lfu-log-factor"), "11");
}

// What CONFIG SET takes is what the file loads to after it, whichever option it is.
TEST_F(ConfigRewriteTest, KeepsEachOptionThatIsNotRead) {
  ASSERT_EQ(load_text("port 1\n"), "");
  for (const IgnoredOption& option : ignored_options()) {
    const bool is_yes = option.value == "yes";
    const std::string other = option.kind == IgnoredOption::Kind::kYesNo ? (is_yes ? "no" : "yes")
                              : option.kind == IgnoredOption::Kind::kEvictionPolicy ? "allkeys-lfu"
                                                                                    : "77";
    EXPECT_EQ(set({option.name, other}), "OK");
    EXPECT_EQ(rewrite(), "");
    EXPECT_EQ(load({path("weir.conf")}), "");
    EXPECT_EQ(get(option.name), other);
  }
}

TEST_F(ConfigRewriteTest, WithoutAChangeLeavesTheFileAlone) {
  ASSERT_EQ(load_text("port 1\r\n#x"), "");
  struct stat before = {}, after = {};
  ::stat(config_.config_file.c_str(), &before);
  EXPECT_EQ(rewrite(), "");
  ::stat(config_.config_file.c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(read_file(path("weir.conf")), "port 1\r\n#x");
}

TEST_F(ConfigRewriteTest, OverrulesIncludes) {
  write("timeout 5\n", "a.conf");
  ASSERT_EQ(load_text("timeout 4\ninclude a.conf\nhz 20\n"), "");
  EXPECT_EQ(set({"timeout", "0"}), "OK");  // the default, which the include does not say
  EXPECT_EQ(rewrite(), "");
  EXPECT_EQ(read_file(path("weir.conf")),
            "include a.conf\nhz 20\n\n# Written by CONFIG REWRITE\ntimeout 0\n");
  EXPECT_EQ(load({path("weir.conf")}), "");
  EXPECT_EQ(config_.timeout, 0);
}

TEST_F(ConfigRewriteTest, RemembersTheCommandLine) {
  ASSERT_EQ(load({write(""), "--bind", "127.0.0.1", "-::1", "--unixsocketperm", "770"}), "");
  EXPECT_EQ(rewrite(), "");
  EXPECT_EQ(read_file(path("weir.conf")),
            "# Written by CONFIG REWRITE\nbind 127.0.0.1 -::1\nunixsocketperm 770\n");
}

TEST_F(ConfigRewriteTest, KeepsModeAndLink) {
  ASSERT_EQ(load_text(""), "");
  ::chmod(path("weir.conf").c_str(), 0640);
  std::filesystem::create_symlink("weir.conf", folder_ / "link.conf");
  ASSERT_EQ(load({path("link.conf")}), "");
  EXPECT_EQ(set({"hz", "5"}), "OK");
  EXPECT_EQ(rewrite(), "");
  struct stat status = {};
  ::stat(path("weir.conf").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link.conf"));
  EXPECT_THAT(read_file(path("weir.conf")), HasSubstr("hz 5\n"));
  auto entries = std::filesystem::directory_iterator(folder_);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 2);  // no temporary file stays
}

TEST_F(ConfigRewriteTest, Errors) {
  EXPECT_EQ(rewrite(), "ERR The server is running without a config file");
  ASSERT_EQ(load_text(""), "");
  write("port x\n");
  EXPECT_EQ(rewrite(), "ERR Rewriting config file: " + path("weir.conf") +
                           ":1: port must be between 0 and 65535, got 'x'");
  std::filesystem::remove(path("weir.conf"));
  EXPECT_EQ(rewrite(), "ERR Rewriting config file: No such file or directory");
}

// Any value that is accepted survives REWRITE and a new start.
TEST_F(ConfigRewriteTest, EveryAcceptedValueComesBack) {
  std::mt19937 random(2);
  ASSERT_EQ(load_text(read_file(kWeirConf)), "");
  const Views values = {"1",   "5000", "64mb", "yes",   "no",     "AKE",    "a b\n'\"",    "",
                        "100", "1gb",  "30",   "local", "always", "memory", "normal 1 2 3"};
  for (int i = 0; i < 300; ++i) {
    const Option& option = config_options()[random() % config_options().size()];
    set({option.name, values[random() % values.size()]});
    ASSERT_EQ(rewrite(), "");
    const Config before = config_;
    ASSERT_EQ(load({path("weir.conf")}), "");
    ASSERT_EQ(config_get(config_, Views{"*"}), config_get(before, Views{"*"}));
  }
  EXPECT_THAT(read_file(path("weir.conf")), HasSubstr("# The TCP port, 0 to 65535."));
}

}  // namespace
}  // namespace weir::server
