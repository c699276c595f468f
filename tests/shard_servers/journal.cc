#include "tests/shard_servers/journal.h"

#include <algorithm>
#include <cstdlib>

namespace weir::server {
namespace {

std::string text(uint64_t number) { return std::to_string(number); }

}  // namespace

std::string Journal::told(const Asked& asked, std::string_view reply) {
  if (reply.starts_with('-')) return "";
  ++acknowledged_;
  if (asked.kind == Asked::Kind::kOther) return "";
  Sum& taken = taken_[asked.key];
  if (asked.kind == Asked::Kind::kTake) {
    if (reply.starts_with("*6\r\n:1\r\n")) ++taken.acknowledged;
    return "";
  }
  int64_t value = 0;
  if (reply.starts_with(':')) value = std::strtoll(reply.data() + 1, nullptr, 10);
  if (reply.starts_with('$') && !reply.starts_with("$-1"))
    value = std::strtoll(reply.data() + reply.find('\n') + 1, nullptr, 10);
  int64_t& newest = newest_[asked.key];
  const bool counts = asked.kind == Asked::Kind::kCount;
  if (counts) ++counted_[asked.key].acknowledged;
  if (value < asked.newest || (counts && value == asked.newest)) {
    return "counter n" + text(asked.key) + " was " + std::to_string(asked.newest) +
           " and a later request was told " + std::to_string(value);
  }
  newest = std::max(newest, value);
  return "";
}

void Journal::unknown(const Asked& asked) {
  if (asked.kind == Asked::Kind::kTake) ++taken_[asked.key].unknown;
  if (asked.kind == Asked::Kind::kCount) ++counted_[asked.key].unknown;
}

std::string Journal::lost_early(uint64_t permits, uint64_t permits_max) {
  if (permits > 0) ++losses_;
  lost_ += permits;
  if (permits_max == 0 || permits <= permits_max) return "";
  return "a demotion has lost " + text(permits) + " permits that were told, more than " +
         text(permits_max);
}

std::string Journal::check_limit(size_t key, uint64_t charged) {
  const Sum& sum = taken_[key];
  const bool too_many = sum.acknowledged > kLimit * (1 + losses_);
  if (charged < sum.acknowledged) forgotten_ += sum.acknowledged - charged;
  if (!too_many && charged <= sum.acknowledged + sum.unknown) return "";
  return "limit l" + text(key) + " has charged " + text(charged) + ", told were " +
         text(sum.acknowledged) + ", and " + text(sum.unknown) + " are unknown; " + text(losses_) +
         " demotions have lost what was told";
}

std::string Journal::check_forgotten() const {
  if (forgotten_ <= lost_) return "";
  return text(forgotten_) + " permits that were told are forgotten, and " + text(lost_) +
         " were lost with a demotion";
}

std::string Journal::check_counter(size_t key, int64_t value) const {
  const Sum& sum = counted_[key];
  const auto counted = static_cast<uint64_t>(value);
  if (counted >= sum.acknowledged && counted <= sum.acknowledged + sum.unknown) return "";
  return "counter n" + text(key) + " is " + text(counted) + ", told were " +
         text(sum.acknowledged) + ", and " + text(sum.unknown) + " are unknown";
}

}  // namespace weir::server
