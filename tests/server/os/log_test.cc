// What others choose cannot end a line of the log, or make a terminal obey.
#include "server/os/log.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "base/ascii.h"
#include "tests/server/fake_server.h"
#include "tests/server/real_sockets.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;

TEST(Log, ShowsOtherBytesThanPrintableOnesAsHex) {
  EXPECT_EQ(log_text(""), "");
  EXPECT_EQ(log_text("user ann, \"a\\b\""), "user ann, \"a\\b\"");
  EXPECT_EQ(log_text(std::string_view("a\0b\r\n\x1b[2J\x7f\xc3\xa9", 12)),
            "a\\x00b\\x0d\\x0a\\x1b[2J\\x7f\\xc3\\xa9");
}

TEST(Log, IsPrintableWhateverClientsSay) {
  const TemporaryFolder folder;
  const std::string path = folder.path + "/log";
  {
    FakeServer server;
    auto client = server.connect();
    ASSERT_TRUE(start_log(path, LogLevel::kDebug));  // a FakeServer logs nothing
    client->call({"EVAL", "redis.log(redis.LOG_WARNING, ARGV[1])", "0",
                  "done\n2026-01-01T00:00:00.000+0000 error forged \x1b[31m"});
    client->call({"ACL", "SETUSER", "an\xc2\x9bn", "on"});
    client->call({"ACL", "DELUSER", "an\xc2\x9bn"});
    log_error("storage failed: {}", "/data/\xe2\x80\xae\r/file");
  }
  ASSERT_TRUE(start_log("", LogLevel::kNothing));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("script: done\\x0a2026-01-01T00:00:00.000+0000 error forged "
                                    "\\x1b[31m\n"));
  EXPECT_THAT(text.str(), HasSubstr("ACL SETUSER user=default client=1 "));
  EXPECT_THAT(text.str(), HasSubstr(" changed=\"an\\xc2\\x9bn\" before=\"user an\\xc2\\x9bn on "));
  EXPECT_THAT(text.str(), HasSubstr("storage failed: /data/\\xe2\\x80\\xae\\x0d/file\n"));
  for (const char c : text.str()) EXPECT_TRUE(c == '\n' || is_printable(c)) << int{c};
}

std::string written(LogFormat format, LogLevel level) {
  const TemporaryFolder folder;
  const std::string path = folder.path + "/log";
  EXPECT_TRUE(start_log(path, level, format));
  log_info("a {} \"{}\" \\", 1, "\x1b");
  const LogField fields[] = {{"user", "ann"}, {"said", "a \"b\" \\ \n"}, {"nothing", ""}};
  log_always(EventLevel::kInfo, "audit", fields);
  EXPECT_TRUE(start_log("", LogLevel::kNothing));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Log, HasFieldsAfterTheText) {
  const std::string text = written(LogFormat::kText, LogLevel::kInfo);
  EXPECT_THAT(text, HasSubstr(" info a 1 \"\\x1b\" \\\n"));
  EXPECT_THAT(text,
              HasSubstr(" info audit user=ann said=\"a \\\"b\\\" \\\\ \\x0a\" nothing=\"\"\n"));
}

TEST(Log, IsAnObjectOfJsonForEachLine) {
  const std::string text = written(LogFormat::kJson, LogLevel::kInfo);
  EXPECT_THAT(text, HasSubstr(R"("level":"info","message":"a 1 \"\\x1b\" \\"})"
                              "\n"));
  EXPECT_THAT(text, HasSubstr(R"(,"message":"audit","user":"ann","said":"a \"b\" \\ \\x0a",)"
                              R"("nothing":""})"
                              "\n"));
  EXPECT_THAT(text, ::testing::StartsWith(R"({"time":"2)"));
}

TEST(Log, TellsWhatIsAlwaysToldAtEachLevelButNothing) {
  EXPECT_THAT(written(LogFormat::kText, LogLevel::kError), HasSubstr(" info audit user=ann"));
  EXPECT_EQ(written(LogFormat::kText, LogLevel::kNothing), "");
}

}  // namespace
}  // namespace weir::server
