// Events of keys that time ended or that a command newly created, until the server takes them.
//
// Invariants
// 1. A creation that is taken back is forgotten, and an expiry is not: what time has ended stays
//    ended. It holds because roll-backs call forget_created() with the savepoint they go back to.
// 2. A savepoint stays right when events are taken: it counts those that were taken before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/memtable/ref.h"

namespace weir::storage {

class KeyEvents {
 public:
  // Chooses which events are kept for take(); none are unless they are wanted.
  void want(bool expired, bool created) {
    wants_expired_ = expired;
    wants_created_ = created;
  }
  bool wants_expired() const { return wants_expired_; }
  bool wants_created() const { return wants_created_; }

  bool any() const { return !events_.empty(); }
  std::vector<KeyEvent> take() {
    taken_ += events_.size();
    return std::exchange(events_, {});
  }

  void note(KeyEvent::Kind kind, int database, std::string_view key) {
    events_.push_back({.kind = kind, .database = database, .key = std::string(key)});
  }
  size_t savepoint() const { return taken_ + events_.size(); }
  void forget_created(size_t savepoint) {
    if (events_.empty()) return;
    const size_t kept = std::min(savepoint - std::min(savepoint, taken_), events_.size());
    const auto created = [](const KeyEvent& event) {
      return event.kind == KeyEvent::Kind::kCreated;
    };
    const auto begin = events_.begin() + static_cast<std::ptrdiff_t>(kept);
    events_.erase(std::remove_if(begin, events_.end(), created), events_.end());
  }

 private:
  bool wants_expired_ = false;
  bool wants_created_ = false;
  size_t taken_ = 0;
  std::vector<KeyEvent> events_;
};

}  // namespace weir::storage
