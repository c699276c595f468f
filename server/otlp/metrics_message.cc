#include "server/otlp/metrics_message.h"

#include <vector>

#include "base/encoded_bytes.h"
#include "resp/numbers.h"

namespace weir::server::otlp {
namespace {

constexpr uint64_t kCumulative = 2;

// As UCUM writes it.
std::string_view ucum(FamilyUnit unit) {
  switch (unit) {
    case FamilyUnit::kNone:
      return "";
    case FamilyUnit::kBytes:
      return "By";
    case FamilyUnit::kSeconds:
      return "s";
    case FamilyUnit::kRatio:
      return "1";
  }
  return "";
}

// A metric has one type of numbers, whatever its value is.
bool has_fractions(FamilyUnit unit) {
  return unit == FamilyUnit::kSeconds || unit == FamilyUnit::kRatio;
}

std::string number_point(const MetricSample& sample, FamilyUnit unit, const Period& period) {
  ProtobufWriter out;
  out.fixed64(2, static_cast<uint64_t>(period.begin_ns));
  out.fixed64(3, static_cast<uint64_t>(period.now_ns));
  const auto whole = resp::parse_int64(sample.value);
  if (whole && !has_fractions(unit)) {
    out.fixed64(6, static_cast<uint64_t>(*whole));
  } else {
    out.real(4, resp::parse_double(sample.value).value_or(0));
  }
  for (const auto& [name, value] : sample.labels) out.bytes(7, key_value(name, value));
  return out.message();
}

std::string exemplar_message(const Exemplar& exemplar) {
  ProtobufWriter out;
  out.fixed64(2, static_cast<uint64_t>(exemplar.unix_ms * kNsPerMs));
  out.real(3, static_cast<double>(exemplar.duration_ns) / 1e9);
  out.bytes(4, bytes_of_hex(exemplar.span_id).value_or(""));
  out.bytes(5, bytes_of_hex(exemplar.trace_id).value_or(""));
  return out.message();
}

std::string histogram_point(const MetricSample& sample, const Period& period) {
  const DurationBuckets& durations = *sample.durations;
  std::vector<uint64_t> counts;
  std::vector<double> bounds;
  uint64_t before = 0;
  for (const auto& bucket : durations.buckets) {
    bounds.push_back(static_cast<double>(bucket.bound_ns) / 1e9);
    counts.push_back(bucket.below - before);
    before = bucket.below;
  }
  counts.push_back(durations.total - before);
  ProtobufWriter out;
  out.fixed64(2, static_cast<uint64_t>(period.begin_ns));
  out.fixed64(3, static_cast<uint64_t>(period.now_ns));
  out.fixed64(4, durations.total);
  out.real(5, static_cast<double>(durations.sum_ns) / 1e9);
  out.fixed64s(6, counts);
  out.reals(7, bounds);
  for (const auto& bucket : durations.buckets)
    if (bucket.exemplar) out.bytes(8, exemplar_message(*bucket.exemplar));
  if (durations.exemplar) out.bytes(8, exemplar_message(*durations.exemplar));
  for (const auto& [name, value] : sample.labels) out.bytes(9, key_value(name, value));
  return out.message();
}

std::string metric_message(const MetricFamily& family, const Period& period) {
  ProtobufWriter data;
  for (const MetricSample& sample : family.samples)
    data.bytes(1, sample.durations ? histogram_point(sample, period)
                                   : number_point(sample, family.unit, period));
  if (family.kind != FamilyKind::kGauge) data.number(2, kCumulative);
  if (family.kind == FamilyKind::kCounter) data.number(3, 1);  // it only grows
  ProtobufWriter out;
  out.text(1, family.name + (family.kind == FamilyKind::kCounter ? "_total" : ""));
  out.text(2, family.help);
  out.text(3, ucum(family.unit));
  switch (family.kind) {
    case FamilyKind::kGauge:
      out.bytes(5, data.message());
      break;
    case FamilyKind::kCounter:
      out.bytes(7, data.message());
      break;
    case FamilyKind::kHistogram:
      out.bytes(9, data.message());
      break;
  }
  return out.message();
}

}  // namespace

std::string metrics_message(const CollectedMetrics& metrics, const Attributes& resource,
                            const Period& period) {
  std::vector<std::string> messages;
  for (const MetricFamily& family : metrics.families())
    messages.push_back(metric_message(family, period));
  return request_of(resource, messages);
}

}  // namespace weir::server::otlp
