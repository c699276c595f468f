// The departures that sessions wait for, each by its booking.
//
// A departure is the wait of a request that a LEAKY limit has let in, until it leaves the funnel
// (server/limiter/later/departure.h). It stands in no queue: nobody waits after it, and only its
// booking says which one it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/heap_bytes.h"
#include "base/string_hash.h"

namespace weir::server {

class Waiter;

// The booking of a key. The key is the waiter's, where it has one.
struct DepartureName {
  int database = 0;
  std::string_view key;
  int64_t booking = 0;  // its id

  bool operator==(const DepartureName&) const = default;
};

class Departures {
  struct Wait {
    Waiter* waiter;
    bool ready = false;
  };

 public:
  // What one takes here.
  static constexpr size_t kBytes = hash_node_bytes<std::pair<const DepartureName, Wait>>();

  // False: somebody waits for it already, since the key was reset and has drawn the same id again.
  // Who is not added is not found by its booking.
  bool add(const DepartureName& name, Waiter* waiter) {
    return waits_.try_emplace(name, Wait{.waiter = waiter}).second;
  }
  // Answers false if it is not this one who waits for it: another may have taken over its place.
  bool remove(const DepartureName& name, const Waiter* waiter) {
    const auto found = waits_.find(name);
    if (found == waits_.end() || found->second.waiter != waiter) return false;
    waits_.erase(found);
    return true;
  }
  // Null: nobody waits for it.
  Waiter* find(const DepartureName& name) const {
    const auto found = waits_.find(name);
    return found == waits_.end() ? nullptr : found->second.waiter;
  }
  size_t size() const { return waits_.size(); }

  // Notes that it is to be tried. Answers its waiter, and null if nobody waits, or that was noted
  // already.
  Waiter* mark_ready(const DepartureName& name) {
    const auto found = waits_.find(name);
    return found == waits_.end() || std::exchange(found->second.ready, true) ? nullptr
                                                                             : found->second.waiter;
  }
  // Answers whether it is this one who waits, and is to be tried, which is noted no more.
  bool take_ready(const DepartureName& name, const Waiter* waiter) {
    const auto found = waits_.find(name);
    return found != waits_.end() && found->second.waiter == waiter &&
           std::exchange(found->second.ready, false);
  }
  // Notes that all are to be tried, and shows those who were not yet.
  template <typename Show>
  void mark_all_ready(const Show& show) {
    for (auto& [name, wait] : waits_) {
      if (!std::exchange(wait.ready, true)) show(*wait.waiter);
    }
  }

 private:
  struct Hash {
    size_t operator()(const DepartureName& name) const {
      return (StringHash()(name.key) + static_cast<size_t>(name.booking)) * 31 +
             static_cast<size_t>(name.database);
    }
  };

  std::unordered_map<DepartureName, Wait, Hash> waits_;
};

}  // namespace weir::server
