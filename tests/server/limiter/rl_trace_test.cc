// TRACEPARENT: whose trace a request belongs to is told, and decides nothing.
#include <gmock/gmock.h>

#include "server/core/metrics/metrics.h"
#include "server/limiter/policy/trace_words.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kFirstTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const std::string kSecondTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const std::string kTraceWords = " TRACEPARENT " + kFirstTrace;

class RlTrace : public LimiterTest {
 protected:
  // The words that are parsed, and the trace that the call is told.
  std::string words(std::vector<std::string_view> args) {
    std::string output;
    resp::ReplyWriter reply(&output);
    static constexpr Command kCommand{.name = "rl.take"};
    Call call{.host = **server_,
              .limiters = (*server_)->limiters(),
              .session = client_->session(),
              .keys = (*server_)->keys(),
              .reply = reply,
              .command = kCommand,
              .args = args,
              .database = 0,
              .now_ns = 0};
    std::string text;
    for (const std::string_view word : untraced_words(call, 2)) text.append(word).append(" ");
    return text + "| " + std::string(call.trace);
  }
};

TEST_F(RlTrace, EveryRequestTakesOne) {
  EXPECT_EQ(ask("RL.TAKE k 5/1h" + kTraceWords), "[1, 5, 4, 0, 720000, 0]");
  EXPECT_EQ(ask("RL.TAKE k 5/1h traceparent " + kFirstTrace + " COST 2"),
            "[1, 5, 2, 0, 2160000, 0]");
  EXPECT_EQ(ask("RL.PEEK k" + kTraceWords), "[1, 5, 1, 0, 2880000, 0]");
  EXPECT_EQ(ask("RL.ACQUIRE k 5/1h TIMEOUT 1s" + kTraceWords), "[1, 5, 1, 0, 2880000, 0]");
  EXPECT_THAT(ask("RL.RESERVE k 5/1h" + kTraceWords), StartsWith("[1, 0, "));
  EXPECT_EQ(ask("RL.MTAKE 2 a b 5/1h 5/1h" + kTraceWords),
            "[1, -1, [1, 5, 4, 0, 720000, 0], [1, 5, 4, 0, 720000, 0]]");
}

TEST_F(RlTrace, IsRefusedWhereItIsNotValid) {
  const std::string error =
      "(error ERR TRACEPARENT must be as W3C Trace Context has it, such as "
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, got 'x')";
  for (const char* line : {"RL.TAKE k 5/1h", "RL.PEEK k 5/1h", "RL.ACQUIRE k 5/1h TIMEOUT 1s",
                           "RL.RESERVE k 5/1h", "RL.MTAKE 1 k 5/1h"})
    EXPECT_EQ(ask(line + std::string(" TRACEPARENT x")), error) << line;
  EXPECT_EQ(ask("RL.TAKE k 5/1h TRACEPARENT"),
            "(error ERR syntax error: TRACEPARENT must be followed by a value)");
  EXPECT_EQ(ask("RL.TAKE k 5/1h" + kTraceWords + kTraceWords),
            "(error ERR syntax error: TRACEPARENT is given twice)");
  EXPECT_THAT(ask("RL.TAKE k" + kTraceWords), StartsWith("(error ERR "));
  EXPECT_THAT(ask("RL.TAKE k" + kTraceWords + " 5/1h"),
              StartsWith("(error ERR syntax error at 'TRACE"));
  EXPECT_EQ(ask("EXISTS k"), "0");
}

TEST_F(RlTrace, OnlyAWordThatHasAValueOfThatKindIsOne) {
  EXPECT_EQ(ask("RL.TAKE TRACEPARENT 5/1h"), "[1, 5, 4, 0, 720000, 0]") << "a key";
  EXPECT_EQ(ask("RL.TAKE k 5/1h ID TRACEPARENT"), "[1, 5, 4, 0, 720000, 0]") << "an ID";
  EXPECT_EQ(ask("RL.TAKE k 5/1h ID TRACEPARENT" + kTraceWords), "[1, 5, 4, 0, 720000, 0]");
}

TEST_F(RlTrace, WhatFindsRequestsByTheirWordsDoesNotSeeIt) {
  EXPECT_EQ(words({"RL.TAKE", "k", "5/1h", "COST", "2", "TraceParent", kFirstTrace}),
            "5/1h COST 2 | " + kFirstTrace);
  EXPECT_EQ(words({"RL.TAKE", "k", "5/1h", "COST", "2"}), "5/1h COST 2 | ");
  EXPECT_EQ(words({"RL.TAKE", "k", "5/1h", "TRACEPARENT", kFirstTrace, "FULL"}),
            "5/1h TRACEPARENT " + kFirstTrace + " FULL | " + kFirstTrace);
  EXPECT_EQ(words({"RL.TAKE", "k", "5/1h", "TRACEPARENT", "x"}), "5/1h TRACEPARENT x | ");
}

TEST_F(RlTrace, IsNotKeptWithTheRequestsThatAreFoundByTheirWords) {
  RequestCache cache;
  const std::vector<std::string_view> plain = {"5/1h", "COST", "2"};
  const auto traced = [](const std::string& trace) {
    return std::vector<std::string_view>{"5/1h", "TRACEPARENT", trace, "COST", "2"};
  };
  const uint32_t options = kCostOption | kTraceOption;
  const LimiterRequest* kept = *cache.parse(plain, options);
  EXPECT_NE(*cache.parse(traced(kFirstTrace), options), kept);
  EXPECT_EQ(*cache.parse(traced(kFirstTrace), options), *cache.parse(traced(kSecondTrace), options))
      << "the one place of those that are not kept";
}

TEST_F(RlTrace, TheSameIdIsTheSameRequestInAnotherTrace) {
  const std::string first = ask("RL.TAKE k 5/1h ID x" + kTraceWords);
  EXPECT_EQ(ask("RL.TAKE k 5/1h ID x TRACEPARENT " + kSecondTrace), first);
  EXPECT_EQ(ask("RL.TAKE k 5/1h ID x"), first);
  EXPECT_EQ(ask("RL.TAKE k 5/1h ID x COST 2" + kTraceWords),
            "(error ERR ID was used with other arguments)");
}

TEST_F(RlTrace, AKeyThatIsCalledAsTheWordIsAKey) {
  const std::string line = "RL.MTAKE 2 TRACEPARENT " + kFirstTrace + " 5/1h 5/1h ID x";
  const std::string first = ask(line);
  EXPECT_EQ(ask("RL.MTAKE 2 TRACEPARENT " + kSecondTrace + " 5/1h 5/1h ID x"),
            "(error ERR ID was used with other arguments)");
  EXPECT_EQ(ask(line + " TRACEPARENT " + kSecondTrace), first);
}

TEST_F(RlTrace, WhoMayNameAPolicyAloneMayTellATrace) {
  ask("RL.POLICY SET api 5/1h");
  ask("ACL SETUSER app on nopass +@ratelimit ~* policy~api noinline");
  auto app = server_->connect();
  ASSERT_EQ(server::ask(*app, "AUTH app x"), "OK");
  EXPECT_EQ(server::ask(*app, "RL.TAKE k POLICY api" + kTraceWords), "[1, 5, 4, 0, 720000, 0]");
  EXPECT_THAT(server::ask(*app, "RL.TAKE k 5/1h" + kTraceWords), StartsWith("(error NOPERM"));
}

TEST_F(RlTrace, ShowsInTheSlowLog) {
  ask("CONFIG SET slowlog-log-slower-than 0");
  ask("RL.TAKE k 5/1h" + kTraceWords);
  EXPECT_THAT(ask("SLOWLOG GET 1"), HasSubstr("[\"RL.TAKE\", \"k\", \"5/1h\", \"TRACEPARENT\", \"" +
                                              kFirstTrace + "\"]"));
  std::string many = "RL.MTAKE 11 a b c d e f g h i j k";
  for (int i = 0; i < 11; ++i) many += " EACH 5/1h";
  ask(many + kTraceWords);
  EXPECT_THAT(ask("SLOWLOG GET 1"),
              HasSubstr("\"" + kFirstTrace + "\", \"... (6 more arguments)\""));
}

TEST_F(RlTrace, EachSampledRequestIsASpanIfTheyAreWanted) {
  Spans& spans = (*server_)->report().spans;
  ask("RL.TAKE k 5/1h" + kTraceWords);
  EXPECT_TRUE(spans.empty());
  spans.want();
  server_->clock.tick_per_look_ns = 3 * kNsPerMs;
  ask("RL.TAKE k 5/1h" + kTraceWords);
  ask("RL.TAKE k 5/1h" + kTraceWords.substr(0, kTraceWords.size() - 1) + "0");
  ask("RL.TAKE k 5/1h");
  ask("SET word x");
  ask("RL.PEEK word 5/1h TRACEPARENT " + kSecondTrace);
  const std::vector<Span> kept = spans.take();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].name, "rl.take");
  EXPECT_EQ(std::string_view(kept[0].trace_id.data(), 32), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(std::string_view(kept[0].parent_id.data(), 16), "00f067aa0ba902b7");
  EXPECT_GE(kept[0].begin_unix_ns, server_->clock.wall_ns());
  EXPECT_LT(kept[0].begin_unix_ns, server_->clock.wall_ns() + kSecond);
  EXPECT_GE(kept[0].duration_ns, 3 * kNsPerMs);
  EXPECT_FALSE(kept[0].failed);
  EXPECT_EQ(kept[1].name, "rl.peek");
  EXPECT_TRUE(kept[1].failed);
}

TEST_F(RlTrace, WhatWaitsOrIsOfATransactionIsNoSpan) {
  Spans& spans = (*server_)->report().spans;
  spans.want();
  ask("MULTI");
  ask("RL.TAKE k 1/1h" + kTraceWords);
  ask("EXEC");
  EXPECT_EQ(client_->call({"RL.ACQUIRE", "k", "1/1h", "TIMEOUT", "2h", "TRACEPARENT", kFirstTrace}),
            "");
  EXPECT_TRUE(spans.empty());
}

class RlExemplars : public RlTrace {
 protected:
  std::string metrics(MetricsFormat format) { return metrics_text(**server_, format); }
};

TEST_F(RlExemplars, ATraceIsOneOfTheDurationsOfDecisions) {
  server_->clock.tick_per_look_ns = 3 * kNsPerMs;
  ask("RL.TAKE k 5/1h" + kTraceWords);
  const std::string shown =
      "weir_decision_duration_seconds_bucket{le=\"0.004194304\"} 1 # "
      "{trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\",span_id=\"00f067aa0ba902b7\"} 0.003 ";
  EXPECT_THAT(metrics(MetricsFormat::kOpenMetrics), HasSubstr(shown));
  EXPECT_THAT(metrics(MetricsFormat::kPrometheus), Not(HasSubstr("trace_id")));
  ask("CONFIG RESETSTAT");
  EXPECT_THAT(metrics(MetricsFormat::kOpenMetrics), Not(HasSubstr("trace_id")));
}

TEST_F(RlExemplars, ATraceThatIsNotSampledIsNone) {
  ask("RL.TAKE k 5/1h TRACEPARENT " + kFirstTrace.substr(0, kFirstTrace.size() - 1) + "0");
  EXPECT_THAT(metrics(MetricsFormat::kOpenMetrics), Not(HasSubstr("trace_id")));
}

}  // namespace
}  // namespace weir::server
