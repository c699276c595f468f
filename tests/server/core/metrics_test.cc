// What /metrics counts of verdicts and of waits.
#include "server/core/metrics/metrics.h"

#include <sstream>

#include "server/limiter/take/limiters.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class Metrics : public LimiterTest {
 protected:
  // The value of a metric, or "none".
  std::string value(const std::string& metric) {
    std::istringstream lines(metrics_text(**server_, MetricsFormat::kPrometheus));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(metric + " ")) return line.substr(metric.size() + 1);
    }
    return "none";
  }
  // allowed, denied, banned, shadow_allowed, shadow_denied
  std::string outcomes(const std::string& metric, const std::string& labels = "") {
    std::string text;
    for (const char* outcome : {"allowed", "denied", "banned", "shadow_allowed", "shadow_denied"})
      text += (text.empty() ? "" : " ") +
              value("weir_" + metric + "_total{" + labels + "outcome=\"" + outcome + "\"}");
    return text;
  }
  std::string of_all() { return outcomes("verdicts"); }
  std::string of(const std::string& algorithm) {
    return outcomes("algorithm_verdicts", "algorithm=\"" + algorithm + "\",");
  }
  std::string of_policy(const std::string& policy) {
    return outcomes("policy_verdicts", "policy=\"" + policy + "\",");
  }
  void ask_times(int times, std::string_view line) {
    for (int i = 0; i < times; ++i) ask(line);
  }
  std::unique_ptr<FakeClient> asking(std::string_view line) {
    auto client = server_->connect();
    send(*client, line);
    server_->run_turns();
    EXPECT_EQ(heard(*client), "") << line;
    return client;
  }
  // served, timed_out, unblocked, left
  std::string ends(const std::string& command) {
    std::string text;
    for (const char* end : {"served", "timed_out", "unblocked", "left"})
      text += (text.empty() ? "" : " ") +
              value("weir_command_waits_total{command=\"" + command + "\",end=\"" + end + "\"}");
    return text;
  }
  std::string info(std::string_view name) {
    const std::string text = client_->call({"INFO", "clients"});
    const size_t at = text.find(std::string(name) + ":") + name.size() + 1;
    return text.substr(at, text.find('\r', at) - at);
  }
};

TEST_F(Metrics, VerdictsAreToldApartByAlgorithm) {
  ask_times(3, "CL.THROTTLE t 0 2 60");
  ask_times(2, "RL.TAKE f FIXED 1/1m");
  ask_times(4, "RL.TAKE l SLIDINGLOG 3/1m");
  EXPECT_EQ(of("GCRA"), "1 2 0 0 0");
  EXPECT_EQ(of("FIXED"), "1 1 0 0 0");
  EXPECT_EQ(of("SLIDINGLOG"), "3 1 0 0 0");
  EXPECT_EQ(of("LEAKY"), "none none none none none");
  EXPECT_EQ(of_all(), "5 4 0 0 0");
  EXPECT_EQ(value("weir_permits_total"), "5");
  ask("CONFIG RESETSTAT");
  EXPECT_EQ(of("GCRA"), "none none none none none");
  EXPECT_EQ(of_all(), "0 0 0 0 0");
}

// Denied: the longest wait. Allowed: the least rest.
TEST_F(Metrics, ARequestOfSeveralLimitsCountsForTheOneThatDecides) {
  ask_times(2, "RL.TAKE k FIXED 1/1h GCRA 100/1s BURST 5");
  EXPECT_EQ(of("FIXED"), "1 1 0 0 0");
  EXPECT_EQ(of("GCRA"), "none none none none none");
  ask("RL.TAKE m FIXED 10/1h GCRA 100/1s BURST 5");
  EXPECT_EQ(of("GCRA"), "1 0 0 0 0");
  ask("RL.MTAKE 2 k m FIXED 1/1h GCRA 100/1s");
  EXPECT_EQ(of("FIXED"), "1 2 0 0 0");
  EXPECT_EQ(of_all(), "2 2 0 0 0");
}

TEST_F(Metrics, ABanIsADenialAndToldApart) {
  ask("RL.POLICY SET p GCRA 1/1h BAN 2h AFTER 2 WITHIN 1h");
  ask_times(4, "RL.TAKE k POLICY p");  // one, a denial, the one that begins the ban, one in it
  EXPECT_EQ(of("GCRA"), "1 3 2 0 0");
  EXPECT_EQ(of_all(), "1 3 2 0 0");
  EXPECT_EQ(of_policy("p"), "1 3 2 none 0");
  ask("RL.ACQUIRE k POLICY p TIMEOUT 1s");
  ask("RL.RESERVE k GCRA 1/1h");
  ask("RL.MTAKE 2 free k GCRA 9/1h GCRA 9/1h");
  EXPECT_EQ(of_all(), "1 6 5 0 0");
  EXPECT_EQ(of("GCRA"), "1 6 5 0 0");
  EXPECT_NE(ask("INFO limiter").find("denied:6\\x0d\\x0abanned:5\\x0d\\x0a"), std::string::npos);
}

TEST_F(Metrics, ShadowIsToldApart) {
  ask_times(2, "RL.TAKE k FIXED 1/1h SHADOW");
  EXPECT_EQ(of("FIXED"), "0 0 0 1 1");
  ask("RL.POLICY SET s LEAKY 1/1h SHADOW");
  ask_times(2, "RL.TAKE m POLICY s GCRA 100/1m BURST 9");
  EXPECT_EQ(of("LEAKY"), "0 0 0 0 1");
  EXPECT_EQ(of("GCRA"), "2 0 0 0 0");
  ask_times(2, "RL.RESERVE r POLICY s GCRA 100/1m BURST 9");
  EXPECT_EQ(of("LEAKY"), "0 0 0 0 2");
  EXPECT_EQ(of_all(), "2 0 0 1 3");
}

TEST_F(Metrics, APolicyThatBlocksIsOfNoAlgorithm) {
  ask("RL.POLICY SET b BLOCKED");
  ask("RL.TAKE k POLICY b");
  ask("RL.RESERVE k POLICY b");
  EXPECT_EQ(of("none"), "0 2 0 0 0");
  EXPECT_EQ(of_policy("b"), "0 2 0 none 0");
}

TEST_F(Metrics, QueuesAndBookingsAreCountedForTheirLimits) {
  ask("RL.RESERVE k FIXED 1/1m MAXWAIT 0");
  ask_times(2, "RL.RESERVE g GCRA 1/1m MAXWAIT 1s");
  EXPECT_EQ(of("GCRA"), "0 1 0 0 0");
  ask("RL.TAKE q TOKENBUCKET 1/1m");
  const auto waiter = asking("RL.ACQUIRE q TOKENBUCKET 1/1m TIMEOUT 5m");
  ask("RL.TAKE q TOKENBUCKET 1/1m");
  EXPECT_EQ(of("TOKENBUCKET"), "1 1 0 0 0");
  ask("RL.ACQUIRE q TOKENBUCKET 1/1m TIMEOUT 1s");
  EXPECT_EQ(of("TOKENBUCKET"), "1 2 0 0 0");
}

// A script that has to be run again counts once; what other commands have counted stays.
TEST_F(Metrics, WhatIsTakenBackIsNotCounted) {
  VerdictCounts counts;
  counts.begin_command();
  counts.count(1, Outcome::kAllowed);
  counts.begin_command();
  counts.count(1, Outcome::kAllowed);
  counts.count(1, Outcome::kAllowed);
  counts.count(2, Outcome::kDenied);
  counts.count_permits(7);
  counts.take_back();
  EXPECT_EQ(counts.of(1, Outcome::kAllowed), 1u);
  EXPECT_EQ(counts.of(Outcome::kDenied), 0u);
  EXPECT_EQ(counts.permits(), 0u);
  const VerdictCounts::Values before = counts.values();
  counts.begin_command();
  counts.count_ban();
  counts.begin_command();
  counts.count_ban();
  counts.take_back_to(before);
  counts.take_back();
  EXPECT_EQ(counts.bans(), 0u);
  EXPECT_EQ(counts.of(1, Outcome::kAllowed), 1u);
}

TEST_F(Metrics, WaitsAreCountedWithTheirLength) {
  EXPECT_EQ(ends("blpop"), "none none none none");
  const auto served = asking("BLPOP l 0");
  const auto late = asking("BLPOP m 3");
  const auto unblocked = asking("BLPOP n 0");
  const auto left = asking("BLPOP n 0");
  EXPECT_EQ(value("weir_command_waiting{command=\"blpop\"}"), "4");
  server_->advance(2 * kSecond);
  ask("RPUSH l a");
  ask("CLIENT UNBLOCK " + std::to_string(unblocked->session().id));
  left->leave();
  server_->advance(1 * kSecond);
  EXPECT_EQ(ends("blpop"), "1 1 1 1");
  EXPECT_EQ(value("weir_command_waiting{command=\"blpop\"}"), "0");
  const std::string name = "weir_command_wait_duration_seconds";
  EXPECT_EQ(value(name + "_count{command=\"blpop\"}"), "4");
  EXPECT_EQ(value(name + "_bucket{command=\"blpop\",le=\"1.073741824\"}"), "0");
  EXPECT_EQ(value(name + "_bucket{command=\"blpop\",le=\"4.294967296\"}"), "4");
  ask("CONFIG RESETSTAT");
  EXPECT_EQ(ends("blpop"), "0 0 0 0");
}

TEST_F(Metrics, AWaitForPermitsIsOneToItsEnd) {
  ask("RL.TAKE k LEAKY 1/10s CAPACITY 3");
  const auto waiter = asking("RL.ACQUIRE k LEAKY 1/10s CAPACITY 3 TIMEOUT 1h");
  EXPECT_EQ(value("weir_command_waiting{command=\"rl.acquire\"}"), "1");
  server_->advance(5 * kSecond);
  EXPECT_EQ(ends("rl.acquire"), "0 0 0 0");
  int seconds = 5;
  for (; heard(*waiter).empty() && seconds < 60; ++seconds) server_->advance(1 * kSecond);
  EXPECT_EQ(ends("rl.acquire"), "1 0 0 0");
  EXPECT_EQ(value("weir_command_wait_duration_seconds_sum{command=\"rl.acquire\"}"),
            std::to_string(seconds));
  EXPECT_EQ(value("weir_command_waiting{command=\"rl.acquire\"}"), "0");
}

TEST_F(Metrics, AWaitInTheQueueAndThenInTheFunnelIsOne) {
  ask("RL.TAKE k GCRA 1/10s LEAKY 1/1m CAPACITY 9");
  const auto waiter = asking("RL.ACQUIRE k GCRA 1/10s LEAKY 1/1m CAPACITY 9 TIMEOUT 1h");
  int seconds = 0;
  for (; heard(*waiter).empty() && seconds < 200; ++seconds) server_->advance(1 * kSecond);
  EXPECT_GT(seconds, 20);
  EXPECT_EQ(ends("rl.acquire"), "1 0 0 0");
  EXPECT_EQ(value("weir_command_waiting{command=\"rl.acquire\"}"), "0");
  EXPECT_EQ(value("weir_command_wait_duration_seconds_sum{command=\"rl.acquire\"}"),
            std::to_string(seconds));
}

TEST_F(Metrics, TheLongestQueueIsKnown) {
  EXPECT_EQ(info("wait_queues") + " " + info("wait_queue_longest"), "0 0");
  const auto one = asking("BLPOP a b a 0");
  EXPECT_EQ(info("wait_queues") + " " + info("wait_queue_longest"), "2 1");
  const auto two = asking("BLPOP b c 0");
  const auto three = asking("BLPOP b 0");
  EXPECT_EQ(info("wait_queues") + " " + info("wait_queue_longest"), "3 3");
  ask("RPUSH c x");
  EXPECT_EQ(info("wait_queues") + " " + info("wait_queue_longest"), "2 2");
  one->leave();
  server_->run_turns();
  EXPECT_EQ(info("wait_queues") + " " + info("wait_queue_longest"), "1 1");
  EXPECT_EQ(value("weir_wait_queue_longest"), "1");
  ask("RPUSH b x");
  EXPECT_EQ(info("wait_queues") + " " + info("wait_queue_longest"), "0 0");
}

TEST_F(Metrics, AWaitThatItsTransactionMayNotHaveIsNone) {
  ask("MULTI");
  ask("BLPOP l 0");
  ask("EXEC");
  EXPECT_EQ(ends("blpop"), "none none none none");
}

}  // namespace
}  // namespace weir::server
