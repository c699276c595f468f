// The expected bytes were observed on redis-server 7.0.15.
#include "resp/reply.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace weir::resp {
namespace {

using namespace std::string_literals;

struct Forms {
  std::string resp2, resp3;
  bool operator==(const Forms&) const = default;
};

void PrintTo(const Forms& forms, std::ostream* out) {
  *out << testing::PrintToString(forms.resp2) << " / " << testing::PrintToString(forms.resp3);
}

Forms both(const std::function<void(ReplyWriter&)>& write) {
  Forms forms;
  ReplyWriter two(&forms.resp2), three(&forms.resp3, 3);
  write(two);
  write(three);
  return forms;
}

Forms same(const std::string& bytes) { return {bytes, bytes}; }

TEST(ReplyWriterTest, SameInBothProtocols) {
  EXPECT_EQ(both([](auto& r) { r.status("OK"); }), same("+OK\r\n"));
  EXPECT_EQ(both([](auto& r) { r.integer(-1); }), same(":-1\r\n"));
  EXPECT_EQ(both([](auto& r) { r.integer(INT64_MIN); }), same(":-9223372036854775808\r\n"));
  EXPECT_EQ(both([](auto& r) { r.bulk(""); }), same("$0\r\n\r\n"));
  EXPECT_EQ(both([](auto& r) { r.bulk("a\0\r\n"s); }), same("$4\r\na\0\r\n\r\n"s));
  EXPECT_EQ(both([](auto& r) { r.bulk_integer(-12); }), same("$3\r\n-12\r\n"));
  EXPECT_EQ(both([](auto& r) { r.array(0); }), same("*0\r\n"));
  EXPECT_EQ(both([](auto& r) { r.array(5); }), same("*5\r\n"));
  EXPECT_EQ(both([](auto& r) {
              r.integers({0, 9, 10, -1, INT64_MIN});
            }),
            same("*5\r\n:0\r\n:9\r\n:10\r\n:-1\r\n:-9223372036854775808\r\n"));
}

TEST(ReplyWriterTest, ErrorsAreOneLine) {
  EXPECT_EQ(both([](auto& r) { r.error("ERR no"); }), same("-ERR no\r\n"));
  EXPECT_EQ(both([](auto& r) { r.error("ERR a\r\nb"); }), same("-ERR a  b\r\n"));
  EXPECT_EQ(both([](auto& r) { r.error("ERR ab\r\n"); }), same("-ERR ab\r\n"));
}

TEST(ReplyWriterTest, DifferentInThree) {
  EXPECT_EQ(both([](auto& r) { r.null(); }), (Forms{"$-1\r\n", "_\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.null_array(); }), (Forms{"*-1\r\n", "_\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.map(2); }), (Forms{"*4\r\n", "%2\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.set(3); }), (Forms{"*3\r\n", "~3\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.push(3); }), (Forms{"*3\r\n", ">3\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.boolean(true); }), (Forms{":1\r\n", "#t\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.boolean(false); }), (Forms{":0\r\n", "#f\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.big_number("123"); }), (Forms{"$3\r\n123\r\n", "(123\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.verbatim("hi"); }), (Forms{"$2\r\nhi\r\n", "=6\r\ntxt:hi\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.verbatim("", "mkd"); }), (Forms{"$0\r\n\r\n", "=4\r\nmkd:\r\n"}));
}

TEST(ReplyWriterTest, Reals) {
  EXPECT_EQ(both([](auto& r) { r.real(3.5); }), (Forms{"$3\r\n3.5\r\n", ",3.5\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.real(0.1); }),
            (Forms{"$19\r\n0.10000000000000001\r\n", ",0.10000000000000001\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.real_text("0.10000000000000000555"); }),
            (Forms{"$22\r\n0.10000000000000000555\r\n", ",0.10000000000000000555\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.real(3); }), (Forms{"$1\r\n3\r\n", ",3\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.real(1e20); }), (Forms{"$5\r\n1e+20\r\n", ",1e+20\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.real(-0.0); }), (Forms{"$2\r\n-0\r\n", ",-0\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.real(HUGE_VAL); }), (Forms{"$3\r\ninf\r\n", ",inf\r\n"}));
  EXPECT_EQ(both([](auto& r) { r.real(-HUGE_VAL); }), (Forms{"$4\r\n-inf\r\n", ",-inf\r\n"}));
  const double nan = std::copysign(std::numeric_limits<double>::quiet_NaN(), -1);
  EXPECT_EQ(both([=](auto& r) { r.real(nan); }), (Forms{"$4\r\n-nan\r\n", ",-nan\r\n"}));
}

TEST(ReplyWriterTest, AppendsAndFollowsTheProtocol) {
  std::string buffer = "before";
  ReplyWriter reply(&buffer);
  reply.null();
  reply.set_protocol(3);
  EXPECT_EQ(reply.protocol(), 3);
  reply.null();
  EXPECT_EQ(*reply.buffer(), "before$-1\r\n_\r\n");
}

TEST(ReplyMemory, ALargeBulkStringTakesItsOwnSizeOnce) {
  const std::string large(10 << 20, 'x');
  std::string out;
  ReplyWriter(&out).bulk(large);
  EXPECT_EQ(out, "$10485760\r\n" + large + "\r\n");
  EXPECT_LT(out.capacity(), large.size() + 100);
}

TEST(ReplyMemory, ManyLargeBulkStringsMoveSeldom) {
  const std::string large(100 << 10, 'x');
  std::string out;
  ReplyWriter writer(&out);
  size_t moves = 0;
  for (int i = 0; i < 200; ++i) {
    const char* const before = out.data();
    writer.bulk(large);
    moves += out.data() != before;
  }
  EXPECT_LT(moves, 12u);
}

}  // namespace
}  // namespace weir::resp
