// CL.THROTTLE and THROTTLE in the model: GCRA with a whole number of nanoseconds per permit, which
// is all that the simulation asks for.
#include <algorithm>
#include <string>

#include "base/time_units.h"
#include "tests/simulation/model.h"

namespace weir::simulation {
namespace {

struct Verdict {
  bool allowed = true;
  int64_t capacity = 0;
  int64_t remaining = 0;
  int64_t retry_s = 0;
  int64_t reset_s = 0;
  bool never = false;
};

int64_t seconds_up(int64_t ns) { return (ns + kNsPerS - 1) / kNsPerS; }

struct Limit {
  int64_t capacity;
  int64_t interval_ns;
  int64_t quantity;
};

Limit limit_of(const Args& args, int64_t capacity) {
  return {.capacity = capacity,
          .interval_ns = std::stoll(args[4]) * kNsPerS / std::stoll(args[3]),
          .quantity = args.size() > 5 ? std::stoll(args[5]) : 1};
}

void store(const Step& step, const std::string& key, int64_t tat_ns) {
  if (tat_ns <= step.now_ns) {
    step.contents().records.erase(key);
    return;
  }
  step.contents().put(
      key, {.is_limiter = true, .tat_ns = tat_ns, .expire_at_ms = (tat_ns + 999'999) / 1'000'000},
      step.now_ms());
}

Verdict decide(const Step& step, const Limit& limit) {
  const std::string& key = step.args[1];
  const Record* record = step.find(key);
  const bool was_used = record != nullptr && record->tat_ns > step.now_ns;
  int64_t tat_ns = was_used ? record->tat_ns : step.now_ns;
  const int64_t empty_ns = step.now_ns + limit.capacity * limit.interval_ns;
  Verdict verdict{.capacity = limit.capacity};
  if (limit.quantity > limit.capacity) {
    verdict.allowed = false;
    verdict.never = true;
  } else if (const int64_t after_ns = tat_ns + limit.quantity * limit.interval_ns;
             after_ns > empty_ns) {
    verdict.allowed = false;
    verdict.retry_s = seconds_up(after_ns - empty_ns);
  } else if (limit.quantity > 0 || (limit.quantity < 0 && was_used)) {
    tat_ns = std::max(step.now_ns, after_ns);
    store(step, key, tat_ns);
  }
  verdict.remaining = (empty_ns - tat_ns) / limit.interval_ns;
  verdict.reset_s = seconds_up(tat_ns - step.now_ns);
  return verdict;
}

Expected cl_throttle(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (record != nullptr && !record->is_limiter) return wrong_type();
  const Verdict verdict = decide(step, limit_of(step.args, std::stoll(step.args[2]) + 1));
  const int64_t retry = verdict.allowed || verdict.never ? -1 : verdict.retry_s;
  return exactly(array({integer(verdict.allowed ? 0 : 1), integer(verdict.capacity),
                        integer(verdict.remaining), integer(retry), integer(verdict.reset_s)}));
}

Expected throttle(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (record != nullptr && !record->is_limiter) return wrong_type();
  const Verdict verdict = decide(step, limit_of(step.args, std::stoll(step.args[2])));
  const int64_t retry = verdict.never ? -1 : verdict.retry_s;
  return exactly(array({integer(verdict.allowed ? 1 : 0), integer(verdict.capacity),
                        integer(verdict.remaining), integer(verdict.reset_s), integer(retry)}));
}

}  // namespace

RunInModel limiter_in_model(std::string_view name) {
  if (name == "CL.THROTTLE") return cl_throttle;
  if (name == "THROTTLE") return throttle;
  return nullptr;
}

}  // namespace weir::simulation
