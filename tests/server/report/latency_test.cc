// LATENCY, and INFO's sections of errors and durations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/report/duration_histogram.h"
#include "server/report/error_metrics.h"
#include "server/report/latency_text.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DurationHistogram, CountsUpToPowersExactly) {
  DurationHistogram durations;
  for (const int64_t ns : {int64_t{0}, int64_t{1023}, int64_t{1024}, int64_t{2047}, int64_t{2048},
                           5 * DurationHistogram::kMaxNs, int64_t{-1}})
    durations.add(ns);
  EXPECT_EQ(durations.total(), 7u);
  EXPECT_EQ(durations.below(10), 3u);
  EXPECT_EQ(durations.below(11), 5u);
  EXPECT_EQ(durations.below(12), 6u);
  EXPECT_EQ(durations.below(29), 6u);
  EXPECT_EQ(durations.below(30), 7u);
}

TEST(DurationHistogram, PercentilesAreThreePercentTooHighAtMost) {
  for (const int64_t ns : {100, 1023, 1024, 33'000, 999'999, 1'000'000'000}) {
    DurationHistogram durations;
    durations.add(ns);
    EXPECT_GE(durations.percentile_ns(50), ns);
    EXPECT_LE(durations.percentile_ns(50), ns + std::max<int64_t>(ns * 32 / 1000, 32)) << ns;
  }
  DurationHistogram durations;
  EXPECT_EQ(durations.percentile_ns(50), 0);
  for (int i = 1; i <= 1000; ++i) durations.add(i * 1000);
  EXPECT_NEAR(static_cast<double>(durations.percentile_ns(50)), 500e3, 16e3);
  EXPECT_NEAR(static_cast<double>(durations.percentile_ns(99)), 990e3, 32e3);
  EXPECT_LT(durations.percentile_ns(0), 2048);
}

TEST(ErrorMetrics, TellWordsApartUpToABound) {
  ErrorMetrics errors;
  errors.note("-ERR no such thing\r\n");
  errors.note("ERR another");
  errors.note("-WRONGTYPE\r\n");
  errors.note("-A:B#C x\r\n");
  EXPECT_EQ(errors.counts(), (ErrorMetrics::Counts{{"A_B_C", 1}, {"ERR", 2}, {"WRONGTYPE", 1}}));
  for (int i = 0; i < 1000; ++i) errors.note("E" + std::to_string(i) + " x");
  EXPECT_EQ(errors.counts().size(), ErrorMetrics::kWordsMax + 1);
  EXPECT_EQ(errors.counts().at("ERRORSTATS_OVERFLOW"), 1000 - ErrorMetrics::kWordsMax + 3);
}

TEST(LatencyMonitor, KeepsTheLongestOfASecondAndTheNewestSeconds) {
  LatencyMonitor monitor;
  monitor.note("command", 1, 9 * kSecond);
  EXPECT_TRUE(monitor.events().empty());
  monitor.set_threshold_ms(10);
  monitor.note("command", 1, 10 * kMs - 1);
  EXPECT_EQ(monitor.find("command"), nullptr);
  for (const int64_t ms : {20, 900, 30}) monitor.note("command", 1, ms * kMs);
  ASSERT_EQ(monitor.find("command")->samples.size(), 1u);
  EXPECT_EQ(monitor.find("command")->samples[0].ms, 900);
  for (int64_t s = 2; s <= 161; ++s) monitor.note("command", s, (10 + s) * kMs);
  const LatencyMonitor::Event& event = *monitor.find("command");
  EXPECT_EQ(event.samples.size(), LatencyMonitor::kSamplesMax);
  EXPECT_EQ(event.samples.back().unix_s, 161);
  EXPECT_EQ(event.ms_max, 900);
}

// As redis-server 7.0.15 drew the same seven samples.
TEST(LatencyText, GraphsLookLikeThoseOfRedis) {
  LatencyMonitor::Event event;
  event.samples = {{331, 2}, {332, 50}, {334, 101}, {335, 120}, {337, 1100}, {338, 20}, {339, 5}};
  event.ms_max = 1100;
  EXPECT_EQ(graph_text("command", event, 340),
            "command - high 1100 ms, low 2 ms (all time high 1100 ms)\n" + std::string(80, '-') +
                "\n    #  \n    |  \n    |  \n__oo|__\n\n9865321\nsssssss\n");
  event.samples = {{331, 50}};
  EXPECT_THAT(graph_text("command", event, 331 + 7200),
              HasSubstr(std::string(80, '-') + "\n \n \n \n_\n\n2\nh\n"));
}

class Latency : public ::testing::Test {
 protected:
  static Config config() {
    Config config;
    config.latency_monitor_threshold = 10;
    config.enable_debug_command = DebugAccess::kYes;
    return config;
  }
  std::string call(std::initializer_list<std::string_view> words) { return client_->call(words); }
  // The clock runs on by so much while commands run.
  void hold_up_for(std::string_view seconds) { call({"DEBUG", "SLEEP", seconds}); }

  FakeServer server_{config()};
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(Latency, SlowCommandsAndTurnsAreSampled) {
  hold_up_for("0.5");
  const std::string latest = call({"LATENCY", "LATEST"});
  EXPECT_THAT(latest, HasSubstr("*4\r\n" + bulk("command") + ":1700000000\r\n:500\r\n:500\r\n"));
  EXPECT_THAT(latest, HasSubstr("*4\r\n" + bulk("turn") + ":1700000000\r\n:500\r\n:500\r\n"));
  EXPECT_THAT(latest, Not(HasSubstr("commit")));
  hold_up_for("0.7");
  EXPECT_EQ(call({"LATENCY", "HISTORY", "command"}),
            "*2\r\n*2\r\n:1700000000\r\n:500\r\n*2\r\n:1700000001\r\n:700\r\n");
  EXPECT_EQ(call({"LATENCY", "HISTORY", "nosuch"}), "*0\r\n");
  EXPECT_THAT(call({"LATENCY", "GRAPH", "command"}),
              HasSubstr("command - high 700 ms, low 500 ms (all time high 700 ms)\n"));
  EXPECT_THAT(call({"LATENCY", "DOCTOR"}), HasSubstr("command: 2 samples (mean 600 ms, mean "));
  EXPECT_EQ(call({"LATENCY", "RESET", "nosuch", "turn"}), ":1\r\n");
  EXPECT_EQ(call({"LATENCY", "RESET", "command debug"}), ":1\r\n");  // as what held the loop
  EXPECT_EQ(call({"LATENCY", "RESET"}), ":1\r\n");
  EXPECT_EQ(call({"LATENCY", "LATEST"}), "*0\r\n");
  EXPECT_EQ(call({"LATENCY", "GRAPH", "command"}),
            "-ERR No samples available for event 'command'\r\n");
}

TEST_F(Latency, FastCommandsAndCommitsHaveEventsOfTheirOwn) {
  server_.clock.tick_per_look_ns = 11 * kMs;
  call({"SET", "k", "v"});
  call({"GET", "k"});
  server_.clock.tick_per_look_ns = 0;
  const std::string latest = call({"LATENCY", "LATEST"});
  for (const char* event : {"command", "fast-command", "commit", "turn", "write-back"})
    EXPECT_THAT(latest, HasSubstr(bulk(event)));
}

TEST_F(Latency, NothingIsSampledUnlessAskedFor) {
  EXPECT_EQ(call({"CONFIG", "SET", "latency-monitor-threshold", "0"}), "+OK\r\n");
  hold_up_for("0.5");
  EXPECT_EQ(call({"LATENCY", "LATEST"}), "*0\r\n");
  EXPECT_THAT(call({"LATENCY", "DOCTOR"}), HasSubstr("latency-monitor-threshold"));
  EXPECT_EQ(call({"CONFIG", "SET", "latency-monitor-threshold", "9223372036854775807"}), "+OK\r\n");
  hold_up_for("0.5");
  EXPECT_EQ(call({"LATENCY", "LATEST"}), "*0\r\n");
}

TEST_F(Latency, TheSlowLogKeepsItsOwnThreshold) {
  call({"CONFIG", "SET", "slowlog-log-slower-than", "400000"});
  hold_up_for("0.3");
  EXPECT_EQ(call({"SLOWLOG", "LEN"}), ":0\r\n");
  call({"CONFIG", "SET", "slowlog-log-slower-than", "-1"});
  hold_up_for("0.5");
  EXPECT_EQ(call({"SLOWLOG", "LEN"}), ":0\r\n");
  EXPECT_THAT(call({"LATENCY", "HISTORY", "command"}), HasSubstr(":500\r\n"));
  EXPECT_THAT(call({"LATENCY", "DOCTOR"}), HasSubstr("CONFIG SET slowlog-log-slower-than 10000."));
}

TEST_F(Latency, HistogramsStandForAllCalls) {
  for (int i = 0; i < 40; ++i) call({"SET", "k", "v"});
  call({"CONFIG", "GET", "port"});
  EXPECT_EQ(call({"LATENCY", "HISTOGRAM", "set", "nosuch", "get"}),
            "*2\r\n" + bulk("set") + "*4\r\n" + bulk("calls") + ":40\r\n" + bulk("histogram_usec") +
                "*2\r\n:1\r\n:40\r\n");
  EXPECT_THAT(call({"LATENCY", "HISTOGRAM", "CONFIG"}), HasSubstr(bulk("config|get")));
  EXPECT_THAT(call({"LATENCY", "HISTOGRAM"}), HasSubstr(bulk("set")));
  EXPECT_THAT(call({"INFO", "latencystats"}),
              HasSubstr("\r\nlatency_percentiles_usec_set:p50=0.031,p99=0.031,p99.9=0.031\r\n"));
  call({"CONFIG", "SET", "latency-tracking-info-percentiles", "12.50 100"});
  EXPECT_THAT(call({"INFO", "latencystats"}),
              HasSubstr("\r\nlatency_percentiles_usec_set:p12.5=0.031,p100=0.031\r\n"));
  call({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(call({"LATENCY", "HISTOGRAM", "set"}), "*0\r\n");
  call({"CONFIG", "SET", "latency-tracking", "no"});
  call({"SET", "k", "v"});
  EXPECT_EQ(call({"LATENCY", "HISTOGRAM", "set"}), "*0\r\n");
}

TEST_F(Latency, PercentilesAreChecked) {
  const std::string failed =
      "-ERR CONFIG SET failed (possibly related to argument 'latency-tracking-info-percentiles')";
  EXPECT_THAT(call({"CONFIG", "SET", "latency-tracking-info-percentiles", "50 100.1"}),
              HasSubstr(failed + " - latency-tracking-info-percentiles parameters should sit"));
  EXPECT_THAT(call({"CONFIG", "SET", "latency-tracking-info-percentiles", "50 x"}),
              HasSubstr(failed + " - Invalid latency-tracking-info-percentiles parameters"));
  EXPECT_THAT(call({"CONFIG", "SET", "latency-tracking-info-percentiles", "nan"}),
              HasSubstr(failed));
  EXPECT_EQ(call({"CONFIG", "GET", "latency-tracking-info-percentiles"}),
            "*2\r\n" + bulk("latency-tracking-info-percentiles") + bulk("50 99 99.9"));
  EXPECT_EQ(call({"CONFIG", "SET", "latency-tracking-info-percentiles", ""}), "+OK\r\n");
}

TEST_F(Latency, ErrorsAreCountedByTheirWord) {
  call({"NOSUCH"});
  call({"SET", "k", "v"});
  call({"LPUSH", "k", "v"});
  call({"LPUSH", "k", "v"});
  call({"EVAL", "return redis.error_reply('MY own')", "0"});
  EXPECT_EQ(call({"INFO", "errorstats"}),
            bulk("# Errorstats\r\nerrorstat_ERR:count=1\r\nerrorstat_MY:count=1\r\n"
                 "errorstat_WRONGTYPE:count=2\r\n"));
  EXPECT_THAT(call({"INFO"}), HasSubstr("\r\n# Errorstats\r\n"));
  call({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(call({"INFO", "errorstats"}), bulk("# Errorstats\r\n"));
}

TEST_F(Latency, FunctionsAndScriptsAreCountedInMemory) {
  EXPECT_THAT(call({"INFO", "memory"}), HasSubstr("\r\nnumber_of_libraries:0\r\n"));
  call({"FUNCTION", "LOAD",
        "#!lua name=lib\nredis.register_function('f', function() return 1 end)\n"
        "redis.register_function('g', function() return 1 end)"});
  call({"EVAL", "return 1", "0"});
  const std::string memory = call({"INFO", "memory"});
  EXPECT_THAT(memory, HasSubstr("\r\nnumber_of_libraries:1\r\n"));
  EXPECT_THAT(memory, HasSubstr("\r\nnumber_of_functions:2\r\n"));
  EXPECT_THAT(memory, HasSubstr("\r\nnumber_of_cached_scripts:1\r\n"));
  EXPECT_THAT(memory, Not(HasSubstr("\r\nused_memory_functions:0\r\n")));
  EXPECT_THAT(memory, Not(HasSubstr("\r\nused_memory_vm_functions:0\r\n")));
}

// redis-cli --ldb looks past the refusal of SCRIPT DEBUG.
TEST_F(Latency, WhatWasToBeDebuggedDoesNotRun) {
  EXPECT_THAT(call({"SCRIPT", "DEBUG", "YES"}), HasSubstr("-ERR SCRIPT DEBUG is refused"));
  EXPECT_EQ(call({"EVAL", "return redis.call('SET', 'k', 'v')", "1", "k"}),
            "-ERR there is no script debugger, so the script was not run\r\n");
  EXPECT_EQ(call({"EXISTS", "k"}), ":0\r\n");
  EXPECT_EQ(call({"EVAL", "return 1", "0"}), ":1\r\n");
  call({"SCRIPT", "DEBUG", "SYNC"});
  EXPECT_EQ(call({"SCRIPT", "DEBUG", "NO"}), "+OK\r\n");
  EXPECT_EQ(call({"EVAL", "return 1", "0"}), ":1\r\n");
  EXPECT_EQ(call({"SCRIPT", "DEBUG", "x"}), "-ERR Use SCRIPT DEBUG YES/SYNC/NO\r\n");
}

}  // namespace
}  // namespace weir::server
