// Files in UTF-8 that an editor has marked as such.
#include "base/byte_order_mark.h"

#include "server/os/plain_file.h"
#include "tests/server/config_fixture.h"

namespace weir::server {
namespace {

TEST(ByteOrderMark, IsLeftOutAtTheBeginningAlone) {
  EXPECT_EQ(without_byte_order_mark("\xef\xbb\xbf"
                                    "port 1"),
            "port 1");
  EXPECT_EQ(without_byte_order_mark("\xef\xbb\xbf\xef\xbb\xbf"), "\xef\xbb\xbf");
  for (const std::string text : {"", "\xef\xbb", "port 1 \xef\xbb\xbf"})
    EXPECT_EQ(without_byte_order_mark(text), text);
}

TEST_F(ConfigTest, AByteOrderMarkIsNoPartOfAFile) {
  write("\xef\xbb\xbftimeout 9\n", "a.conf");
  EXPECT_EQ(load_text("\xef\xbb\xbf# by an editor\ninclude a.conf\n"), "");
  EXPECT_EQ(config_.timeout, 9);
  EXPECT_EQ(load_text("\xef\xbb\xbfprot 1\n"),
            "weir.conf:1: unknown option 'prot', did you mean 'port'?");
  EXPECT_EQ(load_text("timeout 1\n\xef\xbb\xbftimeout 2\n"),
            "weir.conf:2: unknown option '\xef\xbb\xbftimeout', did you mean 'timeout'?");
}

TEST_F(ConfigTest, ARewriteLeavesTheByteOrderMarkOut) {
  ASSERT_EQ(load_text("\xef\xbb\xbftimeout 9\n"), "");
  EXPECT_EQ(set({"timeout", "8"}), "OK");
  EXPECT_EQ(rewrite(), "");
  EXPECT_EQ(read_file(path("weir.conf")), "timeout 8\n");
}

TEST_F(ConfigTest, OtherFilesMayHaveAByteOrderMarkToo) {
  std::string text;
  ASSERT_TRUE(read_plain_file(write("\xef\xbb\xbfpolicy a 1/1s\n"), 100, "100", &text));
  EXPECT_EQ(text, "policy a 1/1s\n");
}

}  // namespace
}  // namespace weir::server
