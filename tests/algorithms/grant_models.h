// Limiters that are obviously right: a list of grants, and for each algorithm what of it counts.
// Waits and remainders are found by searching, with no formula that the algorithms use.
//
// REQUIRES of all of them: instants that do not run back.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/fixed_grammar.h"
#include "algorithms/wide.h"
#include "tests/algorithms/naive_calendar.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms::testing {

struct Grant {
  int64_t at_ns = 0;
  int64_t permits = 0;
};

// The least number in (low, high] for which `holds`, which holds of high and never ceases to.
inline int64_t first_that(int64_t low, int64_t high, const std::function<bool(int64_t)>& holds) {
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

class GrantModel {
 public:
  explicit GrantModel(const Limit& limit) : limit_(limit) {}
  virtual ~GrantModel() = default;

  Verdict decide(int64_t cost, int64_t now_ns, bool force = false) {
    if (cost == 0) return verdict(now_ns, true, 0, false);
    if (cost > limit_.capacity && !force) return verdict(now_ns, false, kNever, false);
    if (!force && !fits(cost, now_ns)) {
      const int64_t at_ns =
          first_that(now_ns, now_ns + horizon_ns(), [&](int64_t t) { return fits(cost, t); });
      return verdict(now_ns, false, at_ns - now_ns, false);
    }
    grants_.push_back({now_ns, cost});
    return verdict(now_ns, true, 0, true);
  }

  // The newest that count first.
  Verdict refund(int64_t permits, int64_t now_ns) {
    bool changed = false;
    while (permits > 0 && !grants_.empty() && counts(grants_.back(), now_ns)) {
      const int64_t back = std::min(permits, grants_.back().permits);
      permits -= back;
      changed = true;
      if ((grants_.back().permits -= back) == 0) grants_.pop_back();
    }
    return verdict(now_ns, true, 0, changed);
  }

  // How many permits fewer would fit.
  int64_t owed(int64_t now_ns) const {
    const auto all = static_cast<int64_t>(sum_if([](const Grant&) { return true; }));
    return first_that(-1, all + 1, [&](int64_t permits) { return fits(-permits, now_ns); });
  }

  const std::vector<Grant>& grants() const { return grants_; }

 protected:
  // Whether a request fits, and whether a grant is still seen at all.
  virtual bool fits(int64_t cost, int64_t now_ns) const = 0;
  virtual bool counts(const Grant& grant, int64_t now_ns) const = 0;

  int128 sum_if(const std::function<bool(const Grant&)>& chosen) const {
    int128 sum = 0;
    for (const Grant& grant : grants_) sum += chosen(grant) ? grant.permits : 0;
    return sum;
  }

  Limit limit_;
  std::vector<Grant> grants_;

 private:
  int64_t horizon_ns() const { return 3 * limit_.period_ns; }

  Verdict verdict(int64_t now_ns, bool allowed, int64_t retry_after_ns, bool changed) const {
    const auto idle = [&](int64_t t) {
      return std::none_of(grants_.begin(), grants_.end(),
                          [&](const Grant& grant) { return counts(grant, t); });
    };
    const auto too_much = [&](int64_t cost) { return !fits(cost, now_ns); };
    return {.allowed = allowed,
            .limit = limit_.capacity,
            .remaining = too_much(0) ? 0 : first_that(0, limit_.capacity + 1, too_much) - 1,
            .retry_after_ns = retry_after_ns,
            .reset_after_ns =
                idle(now_ns) ? 0 : first_that(now_ns, now_ns + horizon_ns(), idle) - now_ns,
            .changed = changed};
  }
};

class SlidingLogModel : public GrantModel {
 public:
  using GrantModel::GrantModel;

 protected:
  bool counts(const Grant& grant, int64_t now_ns) const override {
    return now_ns - grant.at_ns < limit_.period_ns;
  }
  bool fits(int64_t cost, int64_t now_ns) const override {
    return sum_if([&](const Grant& g) { return counts(g, now_ns); }) + cost <= limit_.count;
  }
};

class SlidingWindowModel : public GrantModel {
 public:
  using GrantModel::GrantModel;

 protected:
  int64_t bucket(int64_t at_ns) const { return at_ns / (limit_.period_ns / limit_.options[0]); }
  bool counts(const Grant& grant, int64_t now_ns) const override {
    return bucket(grant.at_ns) >= bucket(now_ns) - limit_.options[0];
  }
  bool fits(int64_t cost, int64_t now_ns) const override {
    const auto running = [&](const Grant& g) { return bucket(g.at_ns) == bucket(now_ns); };
    if (limit_.options[1] > 0 && sum_if(running) + cost > limit_.options[1]) return false;
    return sum_if([&](const Grant& g) { return counts(g, now_ns); }) + cost <= limit_.count;
  }
};

class SlidingCounterModel : public GrantModel {
 public:
  using GrantModel::GrantModel;

 protected:
  int64_t window(int64_t at_ns) const { return at_ns / limit_.period_ns; }
  bool counts(const Grant& grant, int64_t now_ns) const override {
    return window(grant.at_ns) >= window(now_ns) - 1;
  }
  bool fits(int64_t cost, int64_t now_ns) const override {
    const int128 previous =
        sum_if([&](const Grant& g) { return window(g.at_ns) == window(now_ns) - 1; });
    const int128 current =
        sum_if([&](const Grant& g) { return window(g.at_ns) == window(now_ns); });
    const int128 period = limit_.period_ns, elapsed = now_ns % limit_.period_ns;
    return previous * (period - elapsed) + (current + cost) * period <= limit_.count * period;
  }
};

class FixedModel : public GrantModel {
 public:
  using GrantModel::GrantModel;

 protected:
  // With ALIGN FIRST the beginning depends on the history: it is gone through from the start.
  int64_t window(int64_t at_ns) const {
    const int64_t align = limit_.options[0];
    if (align == kAlignEpoch) return at_ns / limit_.period_ns;
    if (align != kAlignFirst) {
      const Calendar calendar = calendar_of(limit_);
      return naive_window(calendar, at_ns, test_zones().naive(calendar.zone)).start_ns;
    }
    int64_t start_ns = -limit_.period_ns;
    for (const Grant& grant : grants_) {
      if (grant.at_ns - start_ns >= limit_.period_ns) start_ns = grant.at_ns;
    }
    return at_ns - start_ns < limit_.period_ns ? start_ns : at_ns;
  }
  bool counts(const Grant& grant, int64_t now_ns) const override {
    if (limit_.options[0] == kAlignFirst) return grant.at_ns >= window(now_ns);
    return window(grant.at_ns) == window(now_ns);
  }
  bool fits(int64_t cost, int64_t now_ns) const override {
    return sum_if([&](const Grant& g) { return counts(g, now_ns); }) + cost <= limit_.count;
  }
};

// No refunds: a test of leases gives back by id.
class ConcurrencyModel : public SlidingLogModel {
 public:
  using SlidingLogModel::SlidingLogModel;
};

inline std::unique_ptr<GrantModel> model_of(const Limit& limit) {
  const std::string_view name = limit.algorithm->name;
  if (name == "SLIDINGLOG") return std::make_unique<SlidingLogModel>(limit);
  if (name == "SLIDINGWINDOW") return std::make_unique<SlidingWindowModel>(limit);
  if (name == "SLIDINGCOUNTER") return std::make_unique<SlidingCounterModel>(limit);
  if (name == "FIXED") return std::make_unique<FixedModel>(limit);
  return std::make_unique<ConcurrencyModel>(limit);
}

}  // namespace weir::algorithms::testing
