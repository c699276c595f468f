#include "server/limiter/counts/top_windows.h"

#include <utility>

namespace weir::server {
namespace {

void push(std::deque<TopSummary>* closed, TopSummary added, size_t most) {
  closed->push_back(std::move(added));
  if (closed->size() > most) closed->pop_front();
}

size_t size_of(const std::deque<TopSummary>& closed) {
  size_t size = 0;
  for (const TopSummary& summary : closed) size += summary.keys().size();
  return size;
}

}  // namespace

void TopWindows::reset(size_t capacity) {
  running_.reset(capacity);
  minute_.clear();
  hour_.clear();
  day_.clear();
  of_hour_slot_ = of_day_slot_ = {};
}

void TopWindows::close_up_to(int64_t now_ns) {
  constexpr int64_t kAll = (kDaySlots + 1) * kSlotsPerHourSlot * kHourSlotsPerDaySlot;
  const int64_t slot = now_ns / kSlotNs;
  if (slot - slot_ > kAll) {  // nothing of what was counted reaches so far
    reset(capacity());
    slot_ = slot;
  }
  for (; slot_ < slot; ++slot_) close_slot();
  ends_at_ns_ = (slot_ + 1) * kSlotNs;
}

void TopWindows::close_slot() {
  TopSummary closed = running_.summary();
  if (!closed.empty()) running_.reset(capacity());
  of_hour_slot_.merge(closed, capacity());
  push(&minute_, std::move(closed), kMinuteSlots);
  if ((slot_ + 1) % kSlotsPerHourSlot != 0) return;
  of_day_slot_.merge(of_hour_slot_, capacity());
  push(&hour_, std::exchange(of_hour_slot_, {}), kHourSlots);
  if ((slot_ + 1) % (kSlotsPerHourSlot * kHourSlotsPerDaySlot) != 0) return;
  push(&day_, std::exchange(of_day_slot_, {}), kDaySlots);
}

TopSummary TopWindows::top(TopWindow window, int64_t now_ns) {
  if (now_ns >= ends_at_ns_) close_up_to(now_ns);
  TopSummary sum = running_.summary();
  const auto add_all = [&](const std::deque<TopSummary>& closed) {
    for (const TopSummary& summary : closed) sum.merge(summary, capacity());
  };
  if (window == TopWindow::kMinute) {
    add_all(minute_);
  } else {
    sum.merge(of_hour_slot_, capacity());
    if (window == TopWindow::kDay) sum.merge(of_day_slot_, capacity());
    add_all(window == TopWindow::kHour ? hour_ : day_);
  }
  sum.sort();
  return sum;
}

size_t TopWindows::size(TopWindow window) const {
  if (window == TopWindow::kMinute) return running_.size() + size_of(minute_);
  const size_t unclosed = running_.size() + of_hour_slot_.keys().size();
  if (window == TopWindow::kHour) return unclosed + size_of(hour_);
  return unclosed + of_day_slot_.keys().size() + size_of(day_);
}

}  // namespace weir::server
