// Golden bytes: opentelemetry-proto has made them, with Google's library.
#include <gmock/gmock.h>

#include <vector>

#include "base/ascii.h"
#include "server/otlp/metrics_message.h"
#include "server/otlp/spans_message.h"

namespace weir::server::otlp {
namespace {

using testing::HasSubstr;

constexpr int64_t kBeginNs = 1'700'000'000 * kNsPerS;
constexpr Period kPeriod{.begin_ns = kBeginNs, .now_ns = kBeginNs + 5 * kNsPerS};

std::string hex(std::string_view bytes) {
  return hex_text({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

std::string sent(const CollectedMetrics& metrics) {
  return hex(metrics_message(metrics, {}, kPeriod));
}

TEST(OtlpMessages, ACounterIsASumThatOnlyGrows) {
  CollectedMetrics metrics;
  metrics.labelled({"hits", "Hits.", MetricUnit::kNone}, {{"by", "x"}}, 300);
  // Metric { name: "weir_hits_total" description: "Hits." sum { data_points { attributes { by: x }
  // ... as_int: 300 } aggregation_temporality: CUMULATIVE is_monotonic: true } }
  EXPECT_THAT(sent(metrics),
              HasSubstr("0a0f776569725f686974735f746f74616c1205486974732e3a2c0a261100002a36fe9c9717"
                        "1900f22f60ff9c9717312c010000000000003a090a02627912030a017810021801"));
}

TEST(OtlpMessages, AGaugeMayBeAFraction) {
  CollectedMetrics metrics;
  MetricWriter& out = metrics;
  out.gauge({"full", "Share.", MetricUnit::kPercent}, 12.5, 1);
  // Metric { name: "weir_full_ratio" ... unit: "1" gauge { data_points { ... as_double: 0.125 } } }
  EXPECT_THAT(sent(metrics),
              HasSubstr("0a0f776569725f66756c6c5f726174696f120653686172652e1a01312a1d0a1b1100002a36"
                        "fe9c97171900f22f60ff9c971721000000000000c03f"));
}

TEST(OtlpMessages, AFractionThatIsWholeIsOfTheSameType) {
  CollectedMetrics metrics;
  MetricWriter& out = metrics;
  out.gauge({"full", "Share.", MetricUnit::kPercent}, 100, 1);
  EXPECT_THAT(sent(metrics), HasSubstr("21000000000000f03f"));  // as_double: 1
}

TEST(OtlpMessages, AHistogramCountsEachBucketForItself) {
  CollectedMetrics metrics;
  MetricWriter& out = metrics;
  const Exemplar exemplar{.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736",
                          .span_id = "00f067aa0ba902b7",
                          .duration_ns = 375'000'000,
                          .unix_ms = kBeginNs / kNsPerMs};
  out.histogram({"turn", "Turns.", MetricUnit::kSeconds},
                {.buckets = {{250'000'000, 1}, {500'000'000, 4, exemplar}},
                 .total = 6,
                 .sum_ns = 500'000'000});
  // Metric { name: "weir_turn_seconds" unit: "s" histogram { data_points { ... count: 6 sum: 0.5
  // bucket_counts: [1, 3, 2] explicit_bounds: [0.25, 0.5] exemplars { ... as_double: 0.375 } } } }
  EXPECT_THAT(
      sent(metrics),
      HasSubstr(
          "0a11776569725f7475726e5f7365636f6e647312065475726e732e1a01734a85010a80011100002a36"
          "fe9c97171900f22f60ff9c971721060000000000000029000000000000e03f3218010000000000000003"
          "0000000000000002000000000000003a10000000000000d03f000000000000e03f422e1100002a36fe"
          "9c971719000000000000d83f220800f067aa0ba902b72a104bf92f3577b34da6a3ce929d0e0e473610"
          "02"));
}

TEST(OtlpMessages, NumbersOfAnySizeAreSent) {
  CollectedMetrics metrics;
  MetricWriter& out = metrics;
  out.gauge({"low", "Low."}, INT64_MIN);
  out.counter({"high", "High."}, UINT64_MAX);
  const std::string bytes = sent(metrics);
  EXPECT_THAT(bytes, HasSubstr("310000000000000080"));  // as_int
  EXPECT_THAT(bytes, HasSubstr("21000000000000f043"));  // as_double: none is too large for it
}

TEST(OtlpMessages, AResourceTellsWhoItIs) {
  const std::string bytes =
      hex(metrics_message({}, {{"service.name", "shop"}, {"empty", ""}}, kPeriod));
  // Resource { attributes { service.name: "shop" } attributes { empty: "" } }
  EXPECT_THAT(bytes,
              HasSubstr("0a250a160a0c736572766963652e6e616d6512060a0473686f700a0b0a05656d7074"
                        "7912020a00"));
}

TEST(OtlpMessages, ASpanIsTheChildOfTheOneThatAsked) {
  Spans spans;
  spans.want();
  spans.note(
      {.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736",
       .parent_id = "00f067aa0ba902b7",
       .is_sampled = true},
      {.name = "rl.take", .begin_unix_ns = kBeginNs, .duration_ns = 5 * kNsPerS, .failed = true});
  Random random(1);
  const std::string bytes = hex(spans_message(spans.take(), {}, &random));
  // Span { trace_id: ... span_id: <8 bytes> parent_span_id: ... name: "rl.take" kind: SERVER ...
  // status { code: ERROR } }
  const size_t at = bytes.find("0a104bf92f3577b34da6a3ce929d0e0e47361208");
  ASSERT_NE(at, bytes.npos) << bytes;
  EXPECT_NE(bytes.substr(at + 40, 16), "0000000000000000");
  EXPECT_EQ(
      bytes.substr(at + 56),
      "220800f067aa0ba902b72a07726c2e74616b6530023900002a36fe9c97174100f22f60ff9c97177a021802");
}

TEST(OtlpSpans, AreBounded) {
  Spans spans;
  const TraceParent trace{.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736",
                          .parent_id = "00f067aa0ba902b7",
                          .is_sampled = true};
  spans.note(trace, {});
  EXPECT_TRUE(spans.empty()) << "nobody wants them";
  spans.want();
  TraceParent unsampled = trace;
  unsampled.is_sampled = false;
  spans.note(unsampled, {});
  EXPECT_TRUE(spans.empty());
  for (size_t i = 0; i < Spans::kMax + 3; ++i) spans.note(trace, {});
  EXPECT_EQ(spans.dropped(), 3u);
  EXPECT_EQ(spans.take().size(), Spans::kMax);
  EXPECT_TRUE(spans.empty());
}

}  // namespace
}  // namespace weir::server::otlp
