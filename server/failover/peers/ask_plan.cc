#include "server/failover/peers/ask_plan.h"

#include <algorithm>
#include <utility>

namespace weir::server {

std::string AskPlan::after_last(const std::vector<std::string>& addresses) const {
  const auto last = std::find(addresses.begin(), addresses.end(), last_);
  if (last == addresses.end() || last + 1 == addresses.end()) return addresses.front();
  return *(last + 1);
}

std::optional<std::string> AskPlan::next(const std::vector<std::string>& addresses,
                                         int64_t now_ns) {
  if (is_asking_ || addresses.empty()) return std::nullopt;
  if (std::exchange(asks_all_, false)) {
    at_once_ = addresses.size();
    last_.clear();
  }
  const bool is_another = addresses.front() != primary_;
  if (now_ns < next_at_ns_ && at_once_ == 0) return std::nullopt;
  const bool goes_round = at_once_ > 0 || wants_ == Wants::kAll || (searches_ && !is_another);
  last_ = goes_round ? after_last(addresses) : addresses.front();
  if (at_once_ > 0) --at_once_;
  primary_ = addresses.front();
  is_asking_ = true;
  asked_at_ns_ = now_ns;
  return last_;
}

void AskPlan::answered(bool serves, int64_t now_ns) {
  is_asking_ = false;
  searches_ = wants_ == Wants::kThePrimary && !serves;
  next_at_ns_ = searches_ ? std::max(now_ns, asked_at_ns_ + kSearchNs) : asked_at_ns_ + every_ns_;
}

void AskPlan::failed(int64_t now_ns) {
  is_asking_ = false;
  searches_ = wants_ == Wants::kThePrimary;
  next_at_ns_ = std::max(now_ns, asked_at_ns_ + (searches_ ? kSearchNs : every_ns_));
}

void AskPlan::ask_all() { asks_all_ = true; }

}  // namespace weir::server
