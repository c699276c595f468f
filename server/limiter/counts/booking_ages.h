// Which bookings of a key were made when: in memory, so that RL.CANCEL finds those made after one
// without a walk over all of them. Bookings are stored by the instant they are due.
//
// It is a superset, and the list of elements is the truth: the code that visits a slot looks the
// booking up. So a roll-back needs no code here. What is given up is some memory outside maxmemory,
// and after a restart one walk over the bookings of each key at which one is cancelled.
//
// Invariants
// 1. Of a list that is known, each booking that is not due has a slot. So a slot is dropped only
//    when its booking is due, or is not there although the turn that touched it last is over: what
//    that turn did can be taken back no more. Slots that are of no use are harmless.
// 2. A list becomes known before the first booking is erased out of order by this process, and
//    stays known at least until the end of the turn.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "storage/format/element_key.h"

namespace weir::server {

// Which of two bookings of a key was made first. Bookings of older versions have no instant, but
// ids that rise.
struct Age {
  int64_t booked_ns = 0;
  int64_t id = 0;

  auto operator<=>(const Age&) const = default;
};

class BookingAges {
 public:
  struct Slot {
    Age age;
    int64_t due_ns = 0;
    uint64_t turn = 0;  // the newest committed turn when the booking was made or erased
  };

  bool knows(storage::ElementsId list) const { return lists_.contains(list); }
  // Makes a list known. `turn` is the newest committed turn.
  void learn(storage::ElementsId list, std::vector<Slot> slots, uint64_t turn);
  // Notes a booking that is made; nothing if the list is not known.
  void add(storage::ElementsId list, const Slot& slot);
  // Notes that a booking is erased. REQUIRES: knows(list).
  void erase(storage::ElementsId list, const Age& age, uint64_t turn);

  // Visits the slots of younger bookings, the youngest first. REQUIRES: knows(list).
  enum class Seen { kKeep, kDrop, kStop };
  void visit_younger(storage::ElementsId list, const Age& age,
                     const std::function<Seen(const Slot&)>& visit);

 private:
  struct List {
    std::vector<Slot> slots;  // by age
    uint64_t used = 0;
    uint64_t turn = 0;
  };
  void make_room(uint64_t turn);

  std::unordered_map<storage::ElementsId, List> lists_;
  size_t slots_ = 0;
  uint64_t uses_ = 0;
};

}  // namespace weir::server
