#include "server/report/slow_log.h"

#include <algorithm>
#include <utility>

#include "base/time_units.h"

namespace weir::server {
namespace {

void cut(std::string* arg) {
  if (arg->size() <= SlowLog::kArgBytesMax) return;
  const size_t more = arg->size() - SlowLog::kArgBytesMax;
  arg->resize(SlowLog::kArgBytesMax);
  arg->append("... (" + std::to_string(more) + " more bytes)");
}

// The last place tells how many arguments there were.
void cut(std::vector<std::string>* args) {
  const size_t count = args->size();
  if (count > SlowLog::kArgsMax) args->resize(SlowLog::kArgsMax - 1);
  for (std::string& arg : *args) cut(&arg);
  if (count > SlowLog::kArgsMax)
    args->push_back("... (" + std::to_string(count - args->size()) + " more arguments)");
}

bool is_threshold(int64_t us) { return us >= 0 && us <= INT64_MAX / kNsPerUs; }

// A step of the coarse clock may come late on a shared machine: twice its length is subtracted.
int64_t suspect_ns(int64_t threshold_us, int64_t coarse_step_ns) {
  const int64_t ns = threshold_us * kNsPerUs - 2 * coarse_step_ns;
  return ns < 0 ? SlowLog::kAlways : ns;
}

}  // namespace

void SlowLog::set_rules(const Rules& rules) {
  rules_ = rules;
  logs_ = is_threshold(rules.slower_than_us) && rules.entries_max > 0;
  suspect_ns_ = kNever;
  if (logs_) suspect_ns_ = suspect_ns(rules.slower_than_us, rules.coarse_step_ns);
  if (is_threshold(rules.suspects_from_us))
    suspect_ns_ = std::min(suspect_ns_, suspect_ns(rules.suspects_from_us, rules.coarse_step_ns));
}

bool SlowLog::is_slow(int64_t duration_ns) const {
  return logs_ && duration_ns / kNsPerUs >= rules_.slower_than_us;
}

void SlowLog::add(Entry entry) {
  entry.id = next_id_++;
  cut(&entry.args);
  entries_.push_front(std::move(entry));
  while (entries_.size() > static_cast<size_t>(rules_.entries_max)) entries_.pop_back();
}

void SlowLog::drop_after(uint64_t mark) {
  while (!entries_.empty() && entries_.front().id >= mark) entries_.pop_front();
  next_id_ = mark;
}

}  // namespace weir::server
