// Nanoseconds per decision, on hot state: decide alone, and with the record read and written
// around it. `bench_decide [decisions]`; a figure to compare on one machine, not a promise.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "algorithms/fixed.h"
#include "algorithms/gcra.h"
#include "algorithms/limiter_record.h"
#include "base/time_units.h"
#include "tests/algorithms/map_entries.h"

namespace {

using weir::algorithms::Limit;
using weir::algorithms::LimitSpec;
using weir::algorithms::ThrottleArgs;

constexpr int64_t kStartNs = 1'700'000'000'000'000'000;
constexpr size_t kLimiters = 1024;  // fits the caches

template <class Body>
void measure(const char* what, int64_t decisions, Body body) {
  uint64_t sum = 0;
  const std::clock_t begin = std::clock();  // CPU time: a busy machine disturbs it less
  for (int64_t i = 0; i < decisions; ++i) sum += static_cast<uint64_t>(body(i));
  const double spent_ns = double(std::clock() - begin) * double(weir::kNsPerS) / CLOCKS_PER_SEC;
  std::printf("  %-28s %7.2f ns  (sum %llx)\n", what, spent_ns / double(decisions),
              static_cast<unsigned long long>(sum));
}

// Of an algorithm whose state is all there is.
void bench_limit(const Limit& limit, int64_t decisions) {
  std::vector states(kLimiters, weir::algorithms::fresh_state(limit, kStartNs));
  const int64_t step_ns = limit.interval_ns / int64_t{kLimiters} + 1;
  measure("decide", decisions, [&](int64_t i) {
    return weir::algorithms::decide(limit, states[size_t(i) % kLimiters],
                                    {.now_ns = kStartNs + i * step_ns})
        .remaining;
  });
  measure("decide, half denied", decisions, [&](int64_t i) {
    return weir::algorithms::decide(limit, states[size_t(i) % kLimiters],
                                    {.now_ns = kStartNs + i * (step_ns / 2)})
        .remaining;
  });

  struct Record {
    char bytes[weir::algorithms::kLimiterRecordBytesMax];
    size_t size;
  };
  std::vector<Record> records(kLimiters);
  for (Record& record : records) {
    record.size = weir::algorithms::write_single(
        limit, weir::algorithms::fresh_state(limit, kStartNs), record.bytes);
  }
  measure("read, decide, write", decisions, [&](int64_t i) {
    Record& record = records[size_t(i) % kLimiters];
    weir::algorithms::State state;
    if (!weir::algorithms::read_single({record.bytes, record.size}, limit, state)) std::abort();
    const auto verdict = weir::algorithms::decide(limit, state, {.now_ns = kStartNs + i * step_ns});
    if (verdict.changed) record.size = write_single(limit, state, record.bytes);
    return verdict.remaining;
  });
}

void bench(const ThrottleArgs& args, int64_t decisions) {
  std::printf("GCRA max_burst %lld, %lld per %lld s\n", static_cast<long long>(args.max_burst),
              static_cast<long long>(args.count), static_cast<long long>(args.period_s));
  bench_limit(weir::algorithms::gcra_limit_from_throttle(args).value(), decisions);
  measure("build the limit", decisions, [&](int64_t i) {
    const auto built = weir::algorithms::gcra_limit_from_throttle(
        {.max_burst = args.max_burst, .count = args.count + (i & 1), .period_s = args.period_s});
    return built ? built->fill_ns : 0;
  });
}

// The spec lacks its algorithm.
void bench_named(const char* name, LimitSpec spec, int64_t decisions) {
  spec.algorithm = weir::algorithms::find_algorithm(name);
  std::printf("%s %lld per %lld ns\n", name, static_cast<long long>(spec.count),
              static_cast<long long>(spec.period_ns));
  bench_limit(weir::algorithms::make_limit(spec).value(), decisions);
}

void bench_buckets(int64_t decisions) {
  const int64_t second_ns = weir::kNsPerS;
  const LimitSpec even{.count = 30, .period_ns = 60 * second_ns, .capacity = 16};
  const LimitSpec thirds{.count = 3, .period_ns = second_ns, .capacity = 100};
  for (LimitSpec spec : {even, thirds}) {
    bench_named("LEAKY", spec, decisions);
    spec.options = {spec.capacity, 0};
    bench_named("TOKENBUCKET", spec, decisions);
    spec.options = {spec.capacity, 1};
    bench_named("TOKENBUCKET", spec, decisions);
    spec.options = {10 * second_ns};
    bench_named("BURSTY", spec, decisions);
    spec.options = {10 * second_ns, 3};
    bench_named("WARMUP", spec, decisions);
  }
}

// FIXED of every alignment, and the two counters.
void bench_windows(int64_t decisions) {
  const int64_t second_ns = weir::kNsPerS;
  bench_named("FIXED", {.count = 30, .period_ns = 60 * second_ns}, decisions);
  bench_named("FIXED", {.count = 30, .period_ns = 60 * second_ns, .options = {1, 0}}, decisions);
  for (const auto unit :
       {weir::algorithms::CalendarUnit::kDay, weir::algorithms::CalendarUnit::kMonth}) {
    const auto spec = weir::algorithms::calendar_spec(1'000'000, {.unit = unit});
    bench_named("FIXED", spec, decisions);
  }
  bench_named("SLIDINGCOUNTER", {.count = 30, .period_ns = 60 * second_ns}, decisions);
  bench_named("SLIDINGCOUNTER", {.count = 1'000'000'000'000, .period_ns = 86'400'000 * second_ns},
              decisions);
}

// One limiter with about 1024 entries, each in its own sub-window where there are any. The entries
// are a sorted vector and a map: it is the algorithm that is measured, not the store.
void bench_entries(const char* name, int64_t decisions) {
  const int64_t period_ns = weir::kNsPerS;
  const Limit limit = weir::algorithms::make_limit(
                          {.algorithm = weir::algorithms::find_algorithm(name),
                           .count = 1'000,
                           .period_ns = period_ns,
                           .options = {std::string_view(name) == "SLIDINGWINDOW" ? 1'000 : 0}})
                          .value();
  weir::algorithms::State state;
  weir::algorithms::testing::MapEntries entries;
  std::printf("%s of 1000 entries\n", name);
  int64_t now_ns = kStartNs;
  const auto ask = [&](int64_t step_ns, int64_t cost) {
    return weir::algorithms::decide(limit, state,
                                    {.now_ns = now_ns += step_ns,
                                     .cost = cost,
                                     .entries = &entries,
                                     .lease_id = now_ns - kStartNs})
        .remaining;
  };
  measure("decide, granted", decisions, [&](int64_t) { return ask(period_ns / 998, 1); });
  measure("decide, denied", decisions, [&](int64_t) { return ask(0, 500); });
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t decisions = argc > 1 ? std::atoll(argv[1]) : 20'000'000;
  bench({.max_burst = 15, .count = 30, .period_s = 60}, decisions);
  bench({.max_burst = 99, .count = 3, .period_s = 1}, decisions);
  bench({.max_burst = 999'999, .count = 1'000'003, .period_s = 86'399}, decisions);
  bench({.max_burst = 999'999'999'999, .count = 600'000'000, .period_s = 1}, decisions);
  bench({.max_burst = 999'999'999'999, .count = 317'097'919'839, .period_s = 315'360'000},
        decisions);
  bench_buckets(decisions);
  bench_windows(decisions);
  for (const char* name : {"SLIDINGLOG", "SLIDINGWINDOW", "CONCURRENCY"}) {
    bench_entries(name, decisions / 100);
  }
}
