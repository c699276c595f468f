// Kuadrant's Reserve and Commit: what is held of limiters, what becomes of it, and what a client
// may make up.
#include "server/http/grpc/reservation.h"

#include "tests/server/http/grpc/rate_limit_fixture.h"

namespace weir::server::grpc {
namespace {

using testing::StartsWith;

class ReservationTest : public RateLimitTest {
 protected:
  // "OK id", "OVER", or the status of an error with its text.
  std::string reserve(const std::vector<AskedDescriptor>& descriptors, uint64_t amount,
                      int64_t ttl_ms = -1, std::string_view domain = "site") {
    return called(kReservePath, reserve_bytes(domain, descriptors, amount, ttl_ms));
  }
  std::string id_of(const std::vector<AskedDescriptor>& descriptors, uint64_t amount,
                    int64_t ttl_ms = -1) {
    const std::string text = reserve(descriptors, amount, ttl_ms);
    EXPECT_THAT(text, StartsWith("OK "));
    return text.substr(3);
  }
  // "released", "taken", or an error.
  std::string commit(const std::vector<AskedDescriptor>& descriptors, std::string_view id,
                     uint64_t amount, std::string_view domain = "site") {
    return called(kCommitPath, commit_bytes(domain, descriptors, id, amount));
  }
  std::string left(std::string_view key) {
    const std::string text = redis("RL.PEEK " + std::string(key) + " COST 0");
    size_t end = 0;
    for (int i = 0; i < 3; ++i) end = text.find(',', end + 1);
    return text.substr(0, end);  // "[1, limit, remaining"
  }
  void pass(int64_t ms) {
    server().clock.advance(ms * kNsPerMs);
    grpc_->chores();
  }

 private:
  std::string called(std::string_view path, std::string_view message) {
    const int32_t stream = client().call(path, message);
    go();
    const Answered& answer = client().of(stream);
    if (answer.status() != "0") return answer.status() + " " + answer.text();
    const std::string response = answer.message();
    if (path == kCommitPath) return number_in(response, {1}) == 1 ? "released" : "taken";
    const auto ids = texts_in(response, {2});
    if (number_in(response, {1}) == 2) return ids.empty() ? "OVER" : "OVER, and an id";
    return "OK " + (ids.size() == 1 ? ids[0] : "(no id)");
  }
};

TEST_F(ReservationTest, WhatIsReservedIsHeldAndBecomesWhatWasUsed) {
  const std::string id = id_of({of("tenant")}, 8);
  EXPECT_EQ(left("t:x"), "[1, 10, 2");
  EXPECT_EQ(reserve({of("tenant")}, 3), "OVER");
  EXPECT_EQ(left("t:x"), "[1, 10, 2");
  EXPECT_EQ(commit({of("tenant")}, id, 5), "released");
  EXPECT_EQ(left("t:x"), "[1, 10, 5");
  EXPECT_EQ(commit({of("tenant")}, id, 5), "released");  // the same again changes nothing
  EXPECT_EQ(left("t:x"), "[1, 10, 5");
  EXPECT_EQ(stats().rls_over_limit, 1u);
}

TEST_F(ReservationTest, MoreThanWasReservedIsADebt) {
  const std::string id = id_of({of("user")}, 2);
  EXPECT_EQ(commit({of("user")}, id, 9), "released");
  EXPECT_EQ(left("u:x"), "[1, 3, -6");
  EXPECT_EQ(reserve({of("user")}, 1), "OVER");
}

TEST_F(ReservationTest, AllDescriptorsAreReservedOrNone) {
  const std::string id = id_of({of("user"), of("tenant")}, 3);
  EXPECT_EQ(reserve({of("user"), of("tenant")}, 1), "OVER");
  EXPECT_EQ(left("t:x"), "[1, 10, 7");
  EXPECT_EQ(commit({of("user"), of("tenant")}, id, 1), "released");
  EXPECT_EQ(left("u:x"), "[1, 3, 2");
  EXPECT_EQ(left("t:x"), "[1, 10, 9");
}

TEST_F(ReservationTest, OneKeyIsReservedOnce) {
  const std::string id = id_of({of("tenant"), of("tenant")}, 3);
  EXPECT_EQ(left("t:x"), "[1, 10, 4");
  EXPECT_EQ(commit({of("tenant"), of("tenant")}, id, 1), "released");
  EXPECT_EQ(left("t:x"), "[1, 10, 8");
  EXPECT_EQ(reserve({of("user"), of("same")}, 1),
            "9 two descriptors have one key and different limits");
}

TEST_F(ReservationTest, WithoutACommitItEndsByItsTimeAndStaysCharged) {
  const std::string id = id_of({of("user")}, 2, 1500);
  EXPECT_EQ(left("u:x"), "[1, 3, 1");
  pass(1501);
  EXPECT_EQ(left("u:x"), "[1, 3, 1");
  pass(70'000);  // nothing is known of it any more
  EXPECT_EQ(redis("RL.SETTLE u:x " + id.substr(2) + " 2"), "(nil)");
  EXPECT_EQ(left("u:x"), "[1, 3, 1");
  EXPECT_EQ(commit({of("user")}, id, 2), "taken");  // as it was charged
  EXPECT_EQ(left("u:x"), "[1, 3, 1");
  EXPECT_EQ(commit({of("user")}, id, 3), "taken");  // and what was used beyond that
  EXPECT_EQ(left("u:x"), "[1, 3, 0");
}

TEST_F(ReservationTest, TimesAreWithinWhatAHoldMayLast) {
  EXPECT_THAT(reserve({of("user")}, 1, 1), StartsWith("OK "));
  EXPECT_THAT(reserve({of("user")}, 1, 400 * kSPerDay * 1000), StartsWith("OK "));
  EXPECT_EQ(reserve({of("user")}, 1, 0), "3 ttl must be above 0");
}

TEST_F(ReservationTest, AnAmountOfZeroLooks) {
  const std::string id = id_of({of("user")}, 0);
  EXPECT_EQ(redis("RL.INFO u:x"), "(nil)");
  EXPECT_EQ(commit({of("user")}, id, 4), "taken");
  EXPECT_EQ(left("u:x"), "[1, 3, -1");
  EXPECT_EQ(reserve({of("user")}, 0), "OVER");
  EXPECT_EQ(commit({of("user")}, id, 0), "taken");
  EXPECT_EQ(left("u:x"), "[1, 3, -1");
}

TEST_F(ReservationTest, WhatIsUnknownIsTakenAsUsed) {
  for (const std::string_view id :
       {"", "x", "5", "5:7:8", "5:x", "5:-1", "-5:7", "1000000000000000000000:7", ":", "5:"}) {
    redis("DEL t:x");
    EXPECT_EQ(commit({of("tenant")}, id, 4), "taken") << id;
    EXPECT_EQ(left("t:x"), "[1, 10, 6") << id;
  }
  EXPECT_EQ(commit({of("tenant", "new")}, "", 0), "taken");
  EXPECT_EQ(redis("RL.INFO t:new"), "(nil)");
}

TEST_F(ReservationTest, WithoutARuleNothingIsHeld) {
  const std::string id = id_of({of("nobody")}, 5);
  EXPECT_EQ(commit({of("nobody")}, id, 5), "taken");
  EXPECT_EQ(stats().rls_unruled, 2u);
  EXPECT_EQ(commit({of("nobody"), of("user")}, id_of({of("nobody"), of("user")}, 2), 1),
            "released");
  EXPECT_EQ(left("u:x"), "[1, 3, 2");
}

TEST_F(ReservationTest, UnlimitedBlockedAndShadow) {
  EXPECT_EQ(commit({of("free")}, id_of({of("free")}, 5), 5), "taken");
  EXPECT_EQ(reserve({of("shut")}, 5), "OVER");
  EXPECT_EQ(reserve({of("shut")}, 0), "OVER");
  (void)id_of({of("shade")}, 1);
  const std::string id = id_of({of("shade")}, 1);  // beyond the limit
  EXPECT_THAT(commit({of("shade")}, id, 1), testing::AnyOf("taken", "released"));
}

TEST_F(ReservationTest, ALimitOfItsOwn) {
  EXPECT_EQ(reserve({with_limit(of("custom"), 0, Unit::kDay)}, 1), "OVER");
  const AskedDescriptor asked = with_limit(of("custom"), 4, Unit::kDay);
  EXPECT_EQ(reserve({asked}, 5), "OVER");
  EXPECT_EQ(commit({asked}, id_of({asked}, 4), 1), "released");
  EXPECT_THAT(reserve({asked}, 3), StartsWith("OK "));
}

TEST_F(ReservationTest, WhatCannotBeReserved) {
  EXPECT_EQ(reserve({of("user")}, 1, -1, ""), "3 the domain is empty");
  EXPECT_EQ(reserve({}, 1), "3 there is no descriptor");
  EXPECT_THAT(reserve({of("user")}, UINT64_MAX), StartsWith("3 the amount is above"));
  EXPECT_THAT(commit({of("user")}, "", UINT64_MAX), StartsWith("3 the amount is above"));
  EXPECT_THAT(reserve({of("user"), of("user")}, 600'000'000'000),
              StartsWith("3 the amount of a key is above"));
  std::vector<AskedDescriptor> many;
  for (int i = 0; i < 17; ++i) many.push_back(of("user", std::to_string(i)));
  EXPECT_EQ(reserve(many, 1), "3 a request asks of 16 keys at most");
  const std::string id = id_of({of("user")}, 2);
  EXPECT_EQ(commit({of("user")}, id, 1), "released");
  EXPECT_THAT(commit({of("user")}, id, 2), StartsWith("9 ERR the hold was settled with another"));
}

}  // namespace
}  // namespace weir::server::grpc
