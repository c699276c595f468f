// What a limiter's record and the elements of its lists may be: whatever commands write, and little
// else.
#include "server/limiter/later/read_limiter.h"

#include "server/limiter/entries/stored_entries.h"
#include "storage/format/codec.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

constexpr std::string_view kRequests[] = {
    "RL.TAKE k GCRA 10/1m",
    "RL.TAKE k SLIDINGLOG 10/1h GCRA 10/1h COST 2 HOLD 1d",
    "RL.TAKE k SLIDINGWINDOW 10/1h SLIDINGCOUNTER 10/1h",
    "RL.TAKE k CONCURRENCY 5 LEASE 1h LEAKY 10/1h",
    "RL.RESERVE k LEAKY 1/1h CAPACITY 20",
    "RL.RESERVE k GCRA 1/1h TOKENBUCKET 1/1h COST 1",
    "RL.TAKE k FIXED 1/1h BAN 1h AFTER 1 WITHIN 1h COST 2",
};

class ReadLimiterTest : public LimiterTest {
 protected:
  storage::Keyspace& keys() { return (*server_)->keys(); }
  void SetUp() override { server_->end_turn(); }
  storage::Ref look_up() {
    keys().running().begin_command((*server_)->timeline().now_ns());
    return keys().look_up(0, "k");
  }
  static storage::HeaderView header_of(const storage::Ref& ref) {
    storage::HeaderView header;
    header.rest = ref.value();
    if (storage::owns_elements(ref.type())) {
      EXPECT_TRUE(storage::parse_header(ref.value(), &header));
    }
    return header;
  }
  const algorithms::Zones& zones() { return (*server_)->limiters().zones.stored(); }

  ReadLimiter limiter_;
};

TEST_F(ReadLimiterTest, WhatCommandsWriteCanBe) {
  for (const std::string_view request : kRequests) {
    ask("DEL k");
    ask(request);
    ask(request);
    const auto header = header_of(look_up());
    ASSERT_FALSE(header.rest.empty()) << request;
    EXPECT_EQ(read_limiter(header.rest, header.lists, zones(), &limiter_).what, "") << request;
    for (size_t i = 0; i < header.lists; ++i) {
      keys().lists().open(0, header.ids[i])->walk(0, [&](const storage::Element& element) {
        EXPECT_TRUE(limiter_.rules[i]->allows(element.member, element.order, element.value))
            << request << ", list " << i;
        return true;
      });
    }
    EXPECT_NE(read_limiter(header.rest, header.lists + 1, zones(), &limiter_).what, "") << request;
  }
}

TEST_F(ReadLimiterTest, ElementsOfNoLimiter) {
  ask(kRequests[1]);
  const auto header = header_of(look_up());
  ASSERT_EQ(header.lists, 2u);
  ASSERT_EQ(read_limiter(header.rest, header.lists, zones(), &limiter_).what, "");
  const std::string id(8, '\1');
  const uint64_t order = storage::order_of_integer(1'700'000'000 * kNsPerS);
  for (size_t i = 0; i < header.lists; ++i) {
    const storage::ElementRule& rule = *limiter_.rules[i];
    EXPECT_FALSE(rule.allows("short", order, "\x02"));
    EXPECT_FALSE(rule.allows(id, 0, "\x02"));
    EXPECT_FALSE(rule.allows(id, order, ""));
    EXPECT_FALSE(rule.allows(id, order, "\xff"));
    EXPECT_FALSE(rule.allows(id, order, "\x02 and more"));
  }
}

// A later version may know what this one does not.
TEST_F(ReadLimiterTest, AnAlgorithmThatIsNotKnown) {
  const storage::Fault fault = read_limiter("\x01\x7f", 0, zones(), &limiter_);
  EXPECT_NE(fault.what, "");
  EXPECT_TRUE(fault.may_be_newer);
  EXPECT_FALSE(read_limiter("", 0, zones(), &limiter_).may_be_newer);
}

}  // namespace
}  // namespace weir::server
