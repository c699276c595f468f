#include "server/report/slow_log.h"

#include <algorithm>
#include <utility>

#include "base/time_units.h"

namespace weir::server {
namespace {

std::string cut(std::string_view arg) {
  if (arg.size() <= SlowLog::kArgBytesMax) return std::string(arg);
  return std::string(arg.substr(0, SlowLog::kArgBytesMax)) + "... (" +
         std::to_string(arg.size() - SlowLog::kArgBytesMax) + " more bytes)";
}

// The last place tells how many arguments there were.
std::vector<std::string> cut(std::span<const std::string_view> first, size_t count,
                             std::string_view trace) {
  std::vector<std::string> args;
  size_t kept = count > SlowLog::kArgsMax ? SlowLog::kArgsMax - 1 : count;
  const auto shown = first.first(kept);
  const bool loses_trace =
      !trace.empty() && std::find(shown.begin(), shown.end(), trace) == shown.end();
  if (loses_trace) --kept;
  for (const std::string_view arg : first.first(kept)) args.push_back(cut(arg));
  if (loses_trace) args.emplace_back(trace);
  if (count > args.size())
    args.push_back("... (" + std::to_string(count - args.size()) + " more arguments)");
  return args;
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

void SlowLog::add(Entry entry, std::span<const std::string_view> first, size_t count,
                  std::string_view trace) {
  entry.id = next_id_++;
  entry.args = cut(first, count, trace);
  entries_.push_front(std::move(entry));
  while (entries_.size() > static_cast<size_t>(rules_.entries_max)) entries_.pop_back();
}

void SlowLog::drop_after(uint64_t savepoint) {
  while (!entries_.empty() && entries_.front().id >= savepoint) entries_.pop_front();
  next_id_ = savepoint;
}

}  // namespace weir::server
