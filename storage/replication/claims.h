// Which epochs are this process's own.
//
// An epoch is its own only if it is the identity of a CLAIM that this very process sent; the name
// of the node is never enough, because a directory may be copied. At a demotion, every
// epoch of it is spent: appends of it may still be on their way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "storage/replication/head.h"

namespace weir::storage::replication {

class Claims {
 public:
  // A CLAIM that the log has not shown yet.
  struct Sent {
    uint64_t crc = 0;
    bool waits = false;  // nothing leaves for 1.25 of the superseded lease
  };

  void sent(const Sent& claim) {
    // One that is forgotten and found later is nobody's, so the log falls silent and is claimed.
    if (sent_.size() == kSentMax) sent_.erase(sent_.begin());
    sent_.push_back(claim);
  }
  // The CLAIM of this identity became the current epoch: answers what was sent, if it is one of
  // this process, whose epoch it is from now on.
  std::optional<Sent> found(const Head& head) {
    const auto claim = std::find_if(sent_.begin(), sent_.end(),
                                    [&](const Sent& sent) { return sent.crc == head.crc; });
    if (claim == sent_.end()) return std::nullopt;
    const Sent answer = *claim;
    sent_.erase(claim);
    own_.push_back(head);
    return answer;
  }
  bool is_own(const Head& epoch) const {
    return std::find(own_.begin(), own_.end(), epoch) != own_.end();
  }
  // The newest own epoch. REQUIRES: there is one.
  const Head& newest() const { return own_.back(); }
  void spend_all() { own_.clear(); }

 private:
  static constexpr size_t kSentMax = 64;

  std::vector<Sent> sent_;
  std::vector<Head> own_;
};

}  // namespace weir::storage::replication
