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
    return taken.acknowledged > kLimit ? "limit l" + text(asked.key) + " has granted too much" : "";
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

std::string Journal::check_limit(size_t key, uint64_t charged) const {
  const Sum& sum = taken_[key];
  if (charged >= sum.acknowledged && charged <= sum.acknowledged + sum.unknown) return "";
  return "limit l" + text(key) + " has charged " + text(charged) + ", told were " +
         text(sum.acknowledged) + ", and " + text(sum.unknown) + " are unknown";
}

std::string Journal::check_counter(size_t key, int64_t value) const {
  const Sum& sum = counted_[key];
  const auto counted = static_cast<uint64_t>(value);
  if (counted >= sum.acknowledged && counted <= sum.acknowledged + sum.unknown) return "";
  return "counter n" + text(key) + " is " + text(counted) + ", told were " +
         text(sum.acknowledged) + ", and " + text(sum.unknown) + " are unknown";
}

}  // namespace weir::server
