// The end of a reply is where decode() ends, however its bytes come.
#include "resp/reply_end.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <string>

namespace weir::resp {
namespace {

constexpr int64_t kManyValues = 1 << 20;

TEST(ReplyEnd, IsFoundAtWhateverPointsTheBytesAreCut) {
  const std::string reply =
      "*7\r\n|1\r\n+ttl\r\n:1\r\n$4\r\na\r\nb\r\n%1\r\n+k\r\n*2\r\n$-1\r\n*-1\r\n~1\r\n,1.5\r\n"
      ">1\r\n#t\r\n=6\r\ntxt:hi\r\n!2\r\nno\r\n_\r\n";
  Value value;
  size_t consumed = 0;
  ASSERT_EQ(decode(reply, &value, &consumed), DecodeStatus::kValue);
  ASSERT_EQ(consumed, reply.size());
  for (size_t step = 1; step <= reply.size(); ++step) {
    ReplyEnd end(DecodeLimits(), kManyValues);
    for (size_t come = 0; come < reply.size(); come += step)
      ASSERT_EQ(end.look(reply.substr(0, come)), DecodeStatus::kNeedMore) << come;
    ASSERT_EQ(end.look(reply + "+next\r\n"), DecodeStatus::kValue);
    EXPECT_EQ(end.bytes(), reply.size());
  }
}

// What decode() takes has the same end here, and what is refused here is refused there.
TEST(ReplyEnd, AgreesWithDecode) {
  std::mt19937 random(11);
  const std::string_view pieces[] = {
      "*2\r\n", "$3\r\nabc\r\n", ":1\r\n", "%1\r\n", "|1\r\n", "+a\r\n", "$-1\r\n",
      "*0\r\n", "$2\r\na",       "\r\n",   "-1",     "x",      "*9\r\n", "_\r\n"};
  const DecodeLimits limits{.elements_max = 8};
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    for (unsigned i = random() % 8 + 1; i > 0; --i) bytes += pieces[random() % std::size(pieces)];
    Value value;
    size_t consumed = 0;
    const DecodeStatus decoded = decode(bytes, &value, &consumed, limits);
    ReplyEnd end(limits, kManyValues);
    const DecodeStatus found = end.look(bytes);
    if (decoded == DecodeStatus::kValue) {
      ASSERT_EQ(found, DecodeStatus::kValue) << bytes;
      ASSERT_EQ(end.bytes(), consumed) << bytes;
    } else if (found != DecodeStatus::kValue) {
      ASSERT_TRUE(found == decoded || decoded == DecodeStatus::kError) << bytes;
    }
  }
}

TEST(ReplyEnd, ValuesInsideOthersAreBoundedTogether) {
  std::string nested = "*1000\r\n";
  for (int i = 0; i < 1000; ++i) nested += "*3\r\n:1\r\n:2\r\n:3\r\n";
  EXPECT_EQ(ReplyEnd(DecodeLimits(), 4000).look(nested), DecodeStatus::kValue);
  EXPECT_EQ(ReplyEnd(DecodeLimits(), 3999).look(nested), DecodeStatus::kError);
  const std::string attributes = "|1\r\n:1\r\n:2\r\n|1\r\n:1\r\n:2\r\n:7\r\n";
  EXPECT_EQ(ReplyEnd(DecodeLimits(), 4).look(attributes), DecodeStatus::kValue);
  EXPECT_EQ(ReplyEnd(DecodeLimits(), 3).look(attributes), DecodeStatus::kError);
}

// A reply of a million values in four thousand pieces: read anew for each piece it takes minutes.
TEST(ReplyEnd, EachByteIsLookedAtOnce) {
  constexpr int kValues = 1'000'000;
  std::string reply = "*" + std::to_string(kValues) + "\r\n";
  for (int i = 0; i < kValues; ++i) reply += ":1\r\n";
  ReplyEnd end(DecodeLimits(), kValues);
  const std::clock_t begin = std::clock();
  for (size_t come = 1000; come < reply.size(); come += 1000) {
    ASSERT_EQ(end.look(std::string_view(reply).substr(0, come)), DecodeStatus::kNeedMore);
    ASSERT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
  }
  EXPECT_EQ(end.look(reply), DecodeStatus::kValue);
}

}  // namespace
}  // namespace weir::resp
