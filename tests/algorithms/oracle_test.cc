// The buckets and the Guava pair against what their models answered, from the vectors that
// tests/oracles/make keeps in tests/oracles/vectors. Each test says where its oracle rounds.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/algorithms/tables.h"

namespace weir::algorithms::testing {
namespace {

constexpr int64_t kUs = 1'000;

// One line: a word and what follows it.
class Line {
 public:
  explicit Line(const std::string& text) : words_(text) { words_ >> name; }

  int64_t number() {
    int64_t value = 0;
    words_ >> value;
    EXPECT_FALSE(words_.fail());
    return value;
  }
  double decimal() {
    double value = 0;
    words_ >> value;
    EXPECT_FALSE(words_.fail());
    return value;
  }
  std::string word() {
    std::string value;
    words_ >> value;
    return value;
  }

  std::string name;

 private:
  std::istringstream words_;
};

// Calls on_line for each line, with a trace of where it is, until something failed.
template <class OnLine>
void read_vectors(const std::string& file, OnLine on_line) {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "../oracles/vectors" / file;
  std::ifstream in(path);
  ASSERT_TRUE(in.is_open()) << path;
  std::string text;
  for (int number = 1; std::getline(in, text) && !::testing::Test::HasFailure(); ++number) {
    if (text.starts_with('#')) continue;
    SCOPED_TRACE(file + ":" + std::to_string(number) + ": " + text);
    Line line(text);
    on_line(line);
  }
}

// Ours less theirs, over all vectors.
struct Differences {
  int64_t compared = 0;
  int64_t least_ns = 0;
  int64_t most_ns = 0;
  int64_t on_the_edge = 0;  // decided otherwise, by no more than the rounding

  void add(int64_t difference_ns) {
    ++compared;
    least_ns = std::min(least_ns, difference_ns);
    most_ns = std::max(most_ns, difference_ns);
  }
  void print(std::string_view what) const {
    std::cout << what << ": " << compared << " compared, ours less theirs " << least_ns << " to "
              << most_ns << " ns, " << on_the_edge << " decided otherwise on the edge\n";
  }
};

// --- Guava -----------------------------------------------------------------------------------
//
// It counts in whole microseconds and cuts the price of each request down to one; ours rounds up
// to a nanosecond. So the two drift apart by up to a microsecond for each request, mostly ours
// waiting longer. Where BURSTY is asked at whole intervals there is nothing to round.

class GuavaPair {
 public:
  void on_line(Line& line) {
    if (line.name == "limit") return begin(line);
    if (stopped_) return;
    now_ns_ = kStartNs + line.number() * kUs;
    if (line.name == "rate") return change(line.number() * kUs);
    const int64_t permits = line.number();
    ++requests_;
    Reserve wanted{.now_ns = now_ns_, .cost = permits};
    if (line.name == "try") wanted.max_wait_ns = line.number() * kUs;
    const Booking booking = reserve(limit_, state_, wanted);
    if (line.name == "try") return tried(booking, wanted, line.number() == 1);
    ASSERT_TRUE(booking.granted);
    const int64_t difference_ns = booking.wait_ns - line.number() * kUs;
    ASSERT_LE(std::abs(difference_ns), rounding_ns());
    (whole_ ? whole : rounded).add(difference_ns);
  }

  Differences whole, rounded;

 private:
  void begin(Line& line) {
    spec_ = {.algorithm = find_algorithm(line.word()), .count = 1};
    spec_.period_ns = line.number() * kUs;
    spec_.options[0] = line.number() * kUs;
    whole_ = line.number() == 1 && spec_.algorithm->name == "BURSTY";
    if (spec_.algorithm->options_used > 1) spec_.options[1] = line.number();
    limit_ = make_limit(spec_).value();
    state_ = fresh_state(limit_, kStartNs);
    requests_ = 0;
    stopped_ = false;
  }

  void change(int64_t interval_ns) {
    spec_.period_ns = interval_ns;
    const Limit to = make_limit(spec_).value();
    state_ = carry_over(limit_, to, state_, CarryOver::kAsIs, now_ns_);
    limit_ = to;
    whole_ = false;
  }

  void tried(const Booking& booking, const Reserve& wanted, bool allowed) {
    ++(whole_ ? whole : rounded).compared;
    if (booking.granted == allowed) return;
    ASSERT_LE(std::abs(booking.wait_ns - wanted.max_wait_ns), rounding_ns());
    ++(whole_ ? whole : rounded).on_the_edge;
    stopped_ = true;  // from here on the two have taken different things
  }

  int64_t rounding_ns() const { return whole_ ? 0 : requests_ * kUs; }

  LimitSpec spec_;
  Limit limit_;
  State state_;
  bool whole_ = false;
  bool stopped_ = false;
  int64_t requests_ = 0;
  int64_t now_ns_ = 0;
};

TEST(Oracle, Guava) {
  GuavaPair pair;
  read_vectors("guava.txt", [&](Line& line) { pair.on_line(line); });
  pair.whole.print("Guava, whole intervals");
  pair.rounded.print("Guava");
  EXPECT_GE(pair.whole.compared, 1'000);
  EXPECT_GE(pair.rounded.compared, 6'000);
}

// --- Bucket4j --------------------------------------------------------------------------------
//
// It rounds waits down to a nanosecond, ours up: ours may be one longer. Whole tokens are the same,
// also after a change of the limit; the fractions beside them are dropped then, and nothing is
// compared behind it.

class Bucket4j {
 public:
  void on_line(Line& line) {
    if (line.name == "limit") {
      limit_ = read_limit(line);
      whole_ = line.number() == 1;
      state_ = fresh_state(limit_, kStartNs);
      return;
    }
    now_ns_ = kStartNs + line.number();
    if (line.name == "take") return take(line);
    if (line.name == "change") return change(line);
    const int64_t permits = line.number();
    const Verdict verdict =
        line.name == "add"
            ? refund(limit_, state_, {.now_ns = now_ns_, .permits = permits})
            : decide(limit_, state_, {.now_ns = now_ns_, .cost = permits, .force = true});
    ASSERT_EQ(verdict.remaining - owed(limit_, state_, {.now_ns = now_ns_}), line.number());
    ++waits.compared;
  }

  Differences waits;
  int64_t changes = 0;

 private:
  static Limit read_limit(Line& line) {
    LimitSpec spec{.algorithm = find_algorithm("TOKENBUCKET")};
    spec.options[1] = line.word() == "INTERVAL";
    spec.capacity = line.number();
    spec.count = line.number();
    spec.period_ns = line.number();
    spec.options[0] = line.number();
    return make_limit(spec).value();
  }

  void take(Line& line) {
    const Verdict verdict = decide(limit_, state_, {.now_ns = now_ns_, .cost = line.number()});
    ASSERT_EQ(verdict.allowed, line.number() == 1);
    ASSERT_EQ(verdict.remaining, std::max<int64_t>(0, line.number()));
    compare(verdict.retry_after_ns - line.number());
    compare(verdict.reset_after_ns - line.number());
  }

  void compare(int64_t difference_ns) {
    waits.add(difference_ns);
    ASSERT_GE(difference_ns, whole_ ? 0 : -1);
    ASSERT_LE(difference_ns, whole_ ? 0 : 1);
  }

  void change(Line& line) {
    static const std::pair<std::string, CarryOver> kModes[] = {
        {"RESET", CarryOver::kReset},
        {"AS_IS", CarryOver::kAsIs},
        {"PROPORTIONALLY", CarryOver::kProportional},
        {"ADDITIVE", CarryOver::kAdditive}};
    const std::string mode = line.word();
    const auto* found = std::ranges::find(kModes, mode, &std::pair<std::string, CarryOver>::first);
    ASSERT_NE(found, std::end(kModes));
    const Limit to = read_limit(line);
    const State state = carry_over(limit_, to, state_, found->second, now_ns_);
    const int64_t available = std::max<int64_t>(0, line.number());
    const int64_t ours = peek(to, state, now_ns_, 0).remaining;
    ++changes;
    ASSERT_EQ(ours, available);
  }

  Limit limit_;
  State state_;
  bool whole_ = false;
  int64_t now_ns_ = 0;
};

TEST(Oracle, Bucket4j) {
  Bucket4j bucket;
  read_vectors("bucket4j.txt", [&](Line& line) { bucket.on_line(line); });
  bucket.waits.print("Bucket4j");
  EXPECT_GE(bucket.waits.compared, 10'000);
  EXPECT_EQ(bucket.changes, 300);
}

// --- golang.org/x/time/rate --------------------------------------------------------------------
//
// It keeps tokens and computes waits in 64-bit floating point, and cuts a wait down to a whole
// nanosecond: so it lets a request in that is less than one too early, and a wait of ours may be
// one longer.

class RateLimiter {
 public:
  explicit RateLimiter(const Algorithm& algorithm) : algorithm_(algorithm) {}

  void on_line(Line& line) {
    if (line.name == "limit") return begin(line);
    now_ns_ = kStartNs + line.number();
    const int64_t permits = line.number();
    if (line.name == "allow") return allow(line, permits);
    const Booking booking = reserve(limit_, state_, {.now_ns = now_ns_, .cost = permits});
    ASSERT_TRUE(booking.granted);
    compare(booking.wait_ns - line.number());
    if (line.word() == "true") refund(limit_, state_, {.now_ns = now_ns_, .permits = permits});
  }

  Differences waits;
  double tokens_off = 0;

 private:
  void begin(Line& line) {
    LimitSpec spec{.algorithm = &algorithm_};
    spec.capacity = line.number();
    spec.count = line.number();
    spec.period_ns = line.number();
    spec.options[0] = algorithm_.options_used > 0 ? spec.capacity : 0;
    limit_ = make_limit(spec).value();
    state_ = fresh_state(limit_, kStartNs);
  }

  void allow(Line& line, int64_t permits) {
    const bool allowed = line.word() == "true";
    Verdict verdict = decide(limit_, state_, {.now_ns = now_ns_, .cost = permits});
    ++waits.compared;
    if (verdict.allowed != allowed) {  // follows theirs, so that the rest can be compared
      ASSERT_TRUE(allowed);
      ASSERT_LE(verdict.retry_after_ns, 1);
      ++waits.on_the_edge;
      verdict = decide(limit_, state_, {.now_ns = now_ns_, .cost = permits, .force = true});
    }
    const double per_ns = double(limit_.count) / double(limit_.period_ns);
    const double ours = double(limit_.capacity) - double(verdict.reset_after_ns) * per_ns;
    const double off = std::abs(ours - line.decimal());
    ASSERT_LE(off, 1e-6 + per_ns);  // reset_after is rounded to a nanosecond
    tokens_off = std::max(tokens_off, off - per_ns);
  }

  void compare(int64_t difference_ns) {
    waits.add(difference_ns);
    ASSERT_GE(difference_ns, 0);
    ASSERT_LE(difference_ns, 1);
  }

  const Algorithm& algorithm_;
  Limit limit_;
  State state_;
  int64_t now_ns_ = 0;
};

TEST(Oracle, GolangRate) {
  for (const std::string_view name : {"TOKENBUCKET", "GCRA"}) {
    RateLimiter limiter(*find_algorithm(name));
    read_vectors("rate.txt", [&](Line& line) { limiter.on_line(line); });
    limiter.waits.print("golang.org/x/time/rate and " + std::string(name));
    EXPECT_GE(limiter.waits.compared, 7'000);
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
