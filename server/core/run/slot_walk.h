// A walk over the live keys of neighbouring hash slots.
//
// Key orders begin with the slot (storage/format/key_order.h), so it looks at the keys of these
// slots, and at some ten after them, however many others the server has.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "server/cluster/topology.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class SlotWalk {
 public:
  SlotWalk(storage::Keyspace* keys, const SlotRange& slots);

  // Visits some keys more; answers false when there are none left, or where reading failed
  // (keys->failure()).
  bool next(const std::function<void(std::string_view key)>& visit);
  // Answers how many keys the last next() may have visited; it looked at ten times as many places,
  // or fewer.
  size_t step() const { return step_; }

 private:
  storage::Keyspace& keys_;
  int last_;
  uint64_t cursor_;
  uint64_t end_;
  size_t step_ = 0;
};

}  // namespace weir::server
