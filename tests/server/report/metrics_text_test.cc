// Metrics as Prometheus reads them.
#include "server/report/metrics_text.h"

#include <gtest/gtest.h>

#include "server/report/duration_histogram.h"
#include "server/report/exemplars.h"

namespace weir::server {
namespace {

// Writes some metrics of each kind and answers the text.
std::string text_of(MetricsFormat format, const std::function<void(MetricWriter&)>& write) {
  CollectedMetrics out;
  write(out);
  return text_of(out, format);
}

std::string prometheus(const std::function<void(MetricWriter&)>& write) {
  return text_of(MetricsFormat::kPrometheus, write);
}

TEST(MetricsText, ACounterHasItsSuffixOnce) {
  const auto write = [](MetricWriter& out) {
    out.counter({"total_commands_processed", "Commands."}, 12);
  };
  EXPECT_EQ(prometheus(write),
            "# HELP weir_commands_processed_total Commands.\n"
            "# TYPE weir_commands_processed_total counter\n"
            "weir_commands_processed_total 12\n");
  EXPECT_EQ(text_of(MetricsFormat::kOpenMetrics, write),
            "# HELP weir_commands_processed Commands.\n"
            "# TYPE weir_commands_processed counter\n"
            "weir_commands_processed_total 12\n"
            "# EOF\n");
}

TEST(MetricsText, ValuesAreInBaseUnits) {
  const std::string text = prometheus([](MetricWriter& out) {
    out.gauge({"unsynced_age_ms", "Age.", MetricUnit::kMilliseconds}, 13);
    out.gauge({"turn_us_max", "Longest.", MetricUnit::kMicroseconds}, 250);
    out.gauge({"used_memory", "Memory.", MetricUnit::kMemory}, int64_t{1} << 60);
    out.gauge({"log_bytes", "Log.", MetricUnit::kBytes}, 512);
    out.gauge({"full", "Share.", MetricUnit::kPercent}, 12.5, 1);
  });
  EXPECT_NE(text.find("\nweir_unsynced_age_seconds 0.013\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nweir_turn_max_seconds 0.00025\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nweir_used_memory_bytes 1152921504606846976\n"), std::string::npos);
  EXPECT_NE(text.find("\nweir_log_bytes 512\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nweir_full_ratio 0.125\n"), std::string::npos) << text;
}

TEST(MetricsText, OpenMetricsTellsTheUnit) {
  const std::string text = text_of(MetricsFormat::kOpenMetrics, [](MetricWriter& out) {
    out.counter({"used_cpu_sys", "CPU.", MetricUnit::kSeconds}, 1.5, 6);
  });
  EXPECT_EQ(text,
            "# HELP weir_used_cpu_sys_seconds CPU.\n"
            "# TYPE weir_used_cpu_sys_seconds counter\n"
            "# UNIT weir_used_cpu_sys_seconds seconds\n"
            "weir_used_cpu_sys_seconds_total 1.500000\n"
            "# EOF\n");
}

TEST(MetricsText, RowsOfATableAreOneMetricWithALabel) {
  const std::string text = prometheus([](MetricWriter& out) {
    for (const std::string_view command : {"get", "rl.policy|set"}) {
      out.row(kCommandMetrics, command, [&out] {
        out.counter({"calls", "Runs."}, 1);
        out.counter({"usec", "Time.", MetricUnit::kMicroseconds}, 2000000);
      });
    }
  });
  EXPECT_EQ(text,
            "# HELP weir_command_calls_total Runs.\n"
            "# TYPE weir_command_calls_total counter\n"
            "weir_command_calls_total{command=\"get\"} 1\n"
            "weir_command_calls_total{command=\"rl.policy|set\"} 1\n"
            "# HELP weir_command_seconds_total Time.\n"
            "# TYPE weir_command_seconds_total counter\n"
            "weir_command_seconds_total{command=\"get\"} 2\n"
            "weir_command_seconds_total{command=\"rl.policy|set\"} 2\n");
}

TEST(MetricsText, ALabelMayBeMadeOfAnyBytes) {
  const std::string text = prometheus([](MetricWriter& out) {
    out.row(kErrorMetrics, "a\"b\\c\n\xff", [&out] { out.counter({"count", "Errors."}, 1); });
  });
  EXPECT_NE(text.find("\nweir_error_count_total{error=\"a\\\"b\\\\x5cc\\\\x0a\\\\xff\"} 1\n"),
            std::string::npos)
      << text;
}

TEST(MetricsText, AHistogramIsCumulative) {
  DurationHistogram durations;
  durations.add(500);
  durations.add(3000);
  durations.add(5'000'000'000);  // counts as a second
  const std::string text = prometheus([&durations](MetricWriter& out) {
    out.histogram({"turn_duration", "Turns.", MetricUnit::kSeconds}, durations);
  });
  EXPECT_NE(text.find("# TYPE weir_turn_duration_seconds histogram\n"
                      "weir_turn_duration_seconds_bucket{le=\"1.024e-06\"} 1\n"
                      "weir_turn_duration_seconds_bucket{le=\"2.048e-06\"} 1\n"
                      "weir_turn_duration_seconds_bucket{le=\"4.096e-06\"} 2\n"),
            std::string::npos)
      << text;
  EXPECT_TRUE(
      text.ends_with("weir_turn_duration_seconds_bucket{le=\"+Inf\"} 3\n"
                     "weir_turn_duration_seconds_sum 1.0000035\n"
                     "weir_turn_duration_seconds_count 3\n"))
      << text;
}

TEST(MetricsText, EachBucketHasItsNewestExemplar) {
  DurationHistogram durations;
  Exemplars exemplars;
  const auto note = [&](std::string_view trace, int64_t duration_ns, bool is_sampled = true) {
    durations.add(duration_ns);
    exemplars.note({.trace_id = trace, .parent_id = "b", .is_sampled = is_sampled}, duration_ns,
                   1'700'000'000'123);
  };
  note("a1", 500);
  note("a2", 3000);
  note("a3", 2048);
  note("a4", 4096, false);
  note("a5", 5'000'000'000);
  const auto write = [&](MetricWriter& out) {
    out.histogram({"turn_duration", "Turns.", MetricUnit::kSeconds}, durations, &exemplars);
  };
  const std::string text = text_of(MetricsFormat::kOpenMetrics, write);
  const std::string at = " 1700000000.123\n";
  const std::string name = "weir_turn_duration_seconds_bucket{le=\"";
  EXPECT_NE(text.find(name + "1.024e-06\"} 1 # {trace_id=\"a1\",span_id=\"b\"} 5e-07" + at + name +
                      "2.048e-06\"} 1\n" + name +
                      "4.096e-06\"} 3 # {trace_id=\"a3\",span_id=\"b\"} 2.048e-06" + at + name +
                      "8.192e-06\"} 4\n"),
            text.npos)
      << text;
  EXPECT_NE(text.find(name + "+Inf\"} 5 # {trace_id=\"a5\",span_id=\"b\"} 1" + at), text.npos)
      << text;
  EXPECT_EQ(prometheus(write).find("trace_id"), std::string::npos);
}

TEST(MetricsText, WordsAreNoMetrics) {
  EXPECT_EQ(prometheus([](MetricWriter& out) {
              out.text({"os", "The system."}, "Linux");
              out.absent({"loading"});
            }),
            "");
}

TEST(MetricsText, LeavesOutWhatItIsToldTo) {
  CollectedMetrics out;
  out.leave_out("calls");
  MetricWriter& metrics = out;
  metrics.row(kCommandMetrics, "get", [&metrics] { metrics.counter({"calls", "Runs."}, 1); });
  EXPECT_EQ(text_of(out, MetricsFormat::kPrometheus), "");
}

}  // namespace
}  // namespace weir::server
