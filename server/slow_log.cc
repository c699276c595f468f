#include "server/slow_log.h"

#include <utility>

namespace weir::server {
namespace {

constexpr int64_t kNsPerUs = 1000;

void cut(std::string* arg) {
  if (arg->size() <= SlowLog::kArgBytesMax) return;
  const size_t more = arg->size() - SlowLog::kArgBytesMax;
  arg->resize(SlowLog::kArgBytesMax);
  arg->append("... (" + std::to_string(more) + " more bytes)");
}

// The last place tells how many there were.
void cut(std::vector<std::string>* args) {
  const size_t count = args->size();
  if (count > SlowLog::kArgsMax) args->resize(SlowLog::kArgsMax - 1);
  for (std::string& arg : *args) cut(&arg);
  if (count > SlowLog::kArgsMax)
    args->push_back("... (" + std::to_string(count - args->size()) + " more arguments)");
}

}  // namespace

void SlowLog::set_rules(const Rules& rules) {
  rules_ = rules;
  const bool off = rules.slower_than_us < 0 || rules.entries_max == 0 ||
                   rules.slower_than_us > INT64_MAX / kNsPerUs;
  suspect_ns_ = kNever;
  if (off) return;
  // A step may come late where the machine is shared: twice its length is taken off.
  suspect_ns_ = rules.slower_than_us * kNsPerUs - 2 * rules.coarse_step_ns;
  if (suspect_ns_ < 0) suspect_ns_ = kAlways;
}

bool SlowLog::is_slow(int64_t duration_ns) const {
  return suspect_ns_ != kNever && duration_ns / kNsPerUs >= rules_.slower_than_us;
}

void SlowLog::add(Entry entry) {
  entry.id = next_id_++;
  cut(&entry.args);
  entries_.push_front(std::move(entry));
  while (entries_.size() > static_cast<size_t>(rules_.entries_max)) entries_.pop_back();
}

}  // namespace weir::server
