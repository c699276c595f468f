#include "server/limiter/counts/booking_ages.h"

#include <algorithm>

namespace weir::server {
namespace {

constexpr size_t kSlotsMax = 1 << 20;
constexpr size_t kListsMax = 1024;

bool by_age(const BookingAges::Slot& a, const BookingAges::Slot& b) { return a.age < b.age; }

}  // namespace

// Forgets lists, those not used for the longest time first, but none of the running turn.
void BookingAges::make_room(uint64_t turn) {
  while (slots_ > kSlotsMax || lists_.size() > kListsMax) {
    auto oldest = lists_.end();
    for (auto list = lists_.begin(); list != lists_.end(); ++list) {
      if (list->second.turn == turn) continue;
      if (oldest == lists_.end() || list->second.used < oldest->second.used) oldest = list;
    }
    if (oldest == lists_.end()) return;
    slots_ -= oldest->second.slots.size();
    lists_.erase(oldest);
  }
}

void BookingAges::learn(storage::ElementsId list, std::vector<Slot> slots, uint64_t turn) {
  std::sort(slots.begin(), slots.end(), by_age);
  slots_ += slots.size();
  lists_[list] = {.slots = std::move(slots), .used = ++uses_, .turn = turn};
  make_room(turn);
}

void BookingAges::add(storage::ElementsId list, const Slot& slot) {
  const auto found = lists_.find(list);
  if (found == lists_.end()) return;
  found->second.turn = slot.turn;
  auto& slots = found->second.slots;
  slots.insert(std::upper_bound(slots.begin(), slots.end(), slot, by_age), slot);
  ++slots_;
  make_room(slot.turn);
}

void BookingAges::erase(storage::ElementsId list, const Age& age, uint64_t turn) {
  List& known = lists_.at(list);
  known.turn = turn;
  const auto slot =
      std::lower_bound(known.slots.begin(), known.slots.end(), Slot{.age = age}, by_age);
  if (slot != known.slots.end() && slot->age == age) slot->turn = turn;
}

void BookingAges::visit_younger(storage::ElementsId list, const Age& age,
                                const std::function<Seen(const Slot&)>& visit) {
  List& known = lists_.at(list);
  known.used = ++uses_;
  const auto first =
      std::upper_bound(known.slots.begin(), known.slots.end(), Slot{.age = age}, by_age);
  auto kept = known.slots.end();  // what is kept of the visited slots moves up to here
  for (auto slot = known.slots.end(); slot != first;) {
    const Seen seen = visit(*--slot);
    if (seen != Seen::kDrop) *--kept = *slot;
    if (seen == Seen::kStop || slot == first) {
      slots_ -= static_cast<size_t>(kept - slot);
      known.slots.erase(slot, kept);
      return;
    }
  }
}

}  // namespace weir::server
