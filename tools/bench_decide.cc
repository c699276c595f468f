// Nanoseconds per decision, on hot state: decide alone, and with the record read and written
// around it. `bench_decide [decisions]`; a figure to compare on one machine, not a promise.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "algorithms/gcra.h"
#include "algorithms/limiter_record.h"

namespace {

using weir::algorithms::Limit;
using weir::algorithms::ThrottleArgs;

constexpr int64_t kStartNs = 1'700'000'000'000'000'000;
constexpr size_t kLimiters = 1024;  // fits the caches

template <class Body>
void measure(const char* what, int64_t decisions, Body body) {
  uint64_t sum = 0;
  const std::clock_t begin = std::clock();  // CPU time: a busy machine disturbs it less
  for (int64_t i = 0; i < decisions; ++i) sum += static_cast<uint64_t>(body(i));
  const double spent_ns = double(std::clock() - begin) * 1e9 / CLOCKS_PER_SEC;
  std::printf("  %-28s %7.2f ns  (sum %llx)\n", what, spent_ns / double(decisions),
              static_cast<unsigned long long>(sum));
}

void bench(const ThrottleArgs& args, int64_t decisions) {
  const Limit limit = weir::algorithms::gcra_limit_from_throttle(args).value();
  std::printf("max_burst %lld, %lld per %lld s\n", static_cast<long long>(args.max_burst),
              static_cast<long long>(args.count), static_cast<long long>(args.period_s));

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
  measure("build the limit", decisions, [&](int64_t i) {
    const auto built = weir::algorithms::gcra_limit_from_throttle(
        {.max_burst = args.max_burst, .count = args.count + (i & 1), .period_s = args.period_s});
    return built ? built->fill_ns : 0;
  });
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
}
