#include "resp/value.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "resp/reply.h"

namespace weir::resp {
namespace {

using namespace std::string_literals;

// The reply as text; "?" if more is needed, "!" if it is wrong.
std::string decoded(std::string_view bytes, const DecodeLimits& limits = {}) {
  Value value;
  size_t consumed = 99;
  switch (decode(bytes, &value, &consumed, limits)) {
    case DecodeStatus::kNeedMore:
      EXPECT_EQ(consumed, 0u);
      return "?";
    case DecodeStatus::kError:
      EXPECT_EQ(consumed, 0u);
      return "!";
    case DecodeStatus::kValue:
      EXPECT_EQ(consumed, bytes.size());
      return to_string(value);
  }
  return {};
}

TEST(ValueTest, DecodesEveryType) {
  EXPECT_EQ(decoded("+OK\r\n"), "OK");
  EXPECT_EQ(decoded("-ERR no\r\n"), "(error ERR no)");
  EXPECT_EQ(decoded("!6\r\nERR no\r\n"), "(error ERR no)");
  EXPECT_EQ(decoded(":-7\r\n"), "-7");
  EXPECT_EQ(decoded("$4\r\na\r\n\"\r\n"), R"("a\x0d\x0a\"")");
  EXPECT_EQ(decoded("$0\r\n\r\n"), "\"\"");
  EXPECT_EQ(decoded("$-1\r\n") + decoded("*-1\r\n") + decoded("_\r\n"), "(nil)(nil)(nil)");
  EXPECT_EQ(decoded("#t\r\n") + decoded("#f\r\n"), "truefalse");
  EXPECT_EQ(decoded(",1.5\r\n") + decoded(",-inf\r\n") + decoded(",nan\r\n"), "1.5-infnan");
  EXPECT_EQ(decoded("(123456789012345678901\r\n"), "123456789012345678901");
  EXPECT_EQ(decoded("=6\r\ntxt:hi\r\n"), "\"hi\"");
  EXPECT_EQ(decoded("*2\r\n:1\r\n*1\r\n$1\r\na\r\n"), "[1, [\"a\"]]");
  EXPECT_EQ(decoded("%2\r\n+a\r\n:1\r\n+b\r\n_\r\n"), "{a: 1, b: (nil)}");
  EXPECT_EQ(decoded("~1\r\n:1\r\n") + decoded(">1\r\n:1\r\n"), "~[1]>[1]");
  EXPECT_EQ(decoded("|1\r\n+ttl\r\n:1\r\n|0\r\n:5\r\n"), "5");
}

TEST(ValueTest, RefusesWhatIsNoReply) {
  for (const std::string& bytes :
       {"PING\r\n"s, "\r\n"s, "+a\rb\r\n"s, ":1x\r\n"s, ":\r\n"s, "$-2\r\n"s, "$x\r\n"s,
        "$1\r\nabc"s, "*-2\r\n"s, "~-1\r\n"s, "%-1\r\n"s, "#x\r\n"s, "_x\r\n"s, ",x\r\n"s,
        "=2\r\nab\r\n"s, "=4\r\ntxt?\r\n"s, "$99999999999999999999\r\n"s, "*1\r\n?\r\n"s,
        "$?\r\n"s}) {
    EXPECT_EQ(decoded(bytes), "!") << testing::PrintToString(bytes);
  }
}

TEST(ValueTest, LimitsHold) {
  const DecodeLimits limits = {
      .depth_max = 3, .bulk_bytes_max = 4, .elements_max = 4, .line_bytes_max = 10};
  EXPECT_EQ(decoded("*1\r\n*1\r\n*0\r\n", limits), "[[[]]]");
  EXPECT_EQ(decoded("*1\r\n*1\r\n*1\r\n*0\r\n", limits), "!");
  EXPECT_EQ(decoded("*1\r\n*1\r\n*1\r\n|0\r\n:1\r\n", limits), "!");
  EXPECT_EQ(decoded("$4\r\nabcd\r\n", limits), "\"abcd\"");
  EXPECT_EQ(decoded("$5\r\n", limits), "!");
  EXPECT_EQ(decoded("*4\r\n", limits) + decoded("*5\r\n", limits), "?!");
  EXPECT_EQ(decoded("%2\r\n", limits) + decoded("%3\r\n", limits), "?!");
  EXPECT_EQ(decoded("+123456789\r\n", limits), "123456789");
  EXPECT_EQ(decoded("+1234567890", limits), "!");
  EXPECT_EQ(decoded(std::string(200000, '*')), "!");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "*1\r\n";
  EXPECT_EQ(decoded(deep), "!");
}

// Writes a random reply in the writer's protocol.
void write_random(ReplyWriter& reply, std::mt19937& random, int depth) {
  switch (random() % (depth < 4 ? 14 : 9)) {
    case 0:
      return reply.status("OK");
    case 1:
      return reply.error("ERR x\r\ny");
    case 2:
      return reply.integer(static_cast<int64_t>(random()) - (1 << 30));
    case 3:
      return reply.bulk(std::string(random() % 20, '\r'));
    case 4:
      return reply.null();
    case 5:
      return reply.boolean(random() % 2 == 0);
    case 6:
      return reply.real(random() / 7.0);
    case 7:
      return reply.big_number("-12345678901234567890");
    case 8:
      return reply.verbatim("text", "mkd");
    default:
      break;
  }
  const unsigned entries = random() % 4;
  const unsigned kind = random() % 4;
  if (kind == 0) reply.array(entries);
  if (kind == 1) reply.set(entries);
  if (kind == 2) reply.push(entries);
  if (kind == 3) reply.map(entries);
  for (unsigned i = 0; i < entries * (kind == 3 ? 2 : 1); ++i) {
    write_random(reply, random, depth + 1);
  }
}

TEST(ValueTest, EveryTruePrefixNeedsMore) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    ReplyWriter reply(&bytes, 2 + round % 2);
    write_random(reply, random, 0);
    for (size_t size = 0; size < bytes.size(); ++size) {
      const std::string prefix = bytes.substr(0, size);
      ASSERT_EQ(decoded(prefix), "?") << testing::PrintToString(bytes) << size;
    }
    Value value, again;
    size_t consumed = 0;
    ASSERT_EQ(decode(bytes + "tail", &value, &consumed), DecodeStatus::kValue);
    ASSERT_EQ(consumed, bytes.size());
    ASSERT_EQ(decode(bytes, &again, &consumed), DecodeStatus::kValue);
    ASSERT_TRUE(value == again);
  }
}

TEST(ValueTest, DamagedRepliesNeverCrash) {
  std::mt19937 random(4);
  for (int round = 0; round < 50000; ++round) {
    std::string bytes;
    ReplyWriter reply(&bytes, 3);
    write_random(reply, random, 0);
    for (unsigned damage = 1 + random() % 3; damage > 0; --damage) {
      bytes[random() % bytes.size()] = "*$%~>|=!+-:,#_(\r\n0123456789"[random() % 27];
    }
    Value value;
    size_t consumed = 0;
    const DecodeStatus status = decode(bytes, &value, &consumed);
    ASSERT_LE(consumed, bytes.size());
    ASSERT_EQ(status == DecodeStatus::kValue, consumed > 0);
  }
}

TEST(ValueTest, Equality) {
  const auto value = [](std::string_view bytes) {
    Value result;
    size_t consumed = 0;
    EXPECT_EQ(decode(bytes, &result, &consumed), DecodeStatus::kValue);
    return result;
  };
  EXPECT_TRUE(value(",nan\r\n") == value(",-nan\r\n"));
  EXPECT_TRUE(value(",1.0\r\n") == value(",1\r\n"));
  EXPECT_FALSE(value(",1\r\n") == value(":1\r\n"));
  EXPECT_FALSE(value("+a\r\n") == value("$1\r\na\r\n"));
  EXPECT_TRUE(value("$-1\r\n") == value("_\r\n"));
  EXPECT_FALSE(value("*1\r\n:1\r\n") == value("*1\r\n:2\r\n"));
}

}  // namespace
}  // namespace weir::resp
