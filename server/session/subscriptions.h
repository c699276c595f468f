// What a session listens to. Pubsub fills it in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

namespace weir::server {

enum class SubscriptionKind : uint8_t { kChannel, kPattern, kShard };
inline constexpr size_t kSubscriptionKinds = 3;

// The names that a session listens to, by kind, in alphabetical order.
class Subscriptions {
 public:
  const std::set<std::string, std::less<>>& of(SubscriptionKind kind) const {
    return names_[static_cast<size_t>(kind)];
  }
  bool empty() const { return names_[0].empty() && names_[1].empty() && names_[2].empty(); }

 private:
  friend class Pubsub;
  std::array<std::set<std::string, std::less<>>, kSubscriptionKinds> names_;
};

}  // namespace weir::server
