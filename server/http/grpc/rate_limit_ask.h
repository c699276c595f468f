// What a request of Envoy's rate limit service asks of limiters, as commands, and what their
// replies make of it. It runs nothing.
//
// A descriptor that a rule is for, or that has a limit of its own in a domain that has rules, asks
// in one of four ways:
//
//     takes       RL.TAKE, or RL.MTAKE for all such descriptors: from all or from none
//     counts      the same with FORCE, by a rule that says so: what is reported has been used
//     looks       RL.PEEK: hits of 0 ask whether one would be granted
//     gives back  RL.REFUND
//
// All others are let through.
//
// Invariants
// 1. Where a descriptor that looks or counts is over its limit, none takes. So there is a look
//    first where both stand in a request.
// 2. What counts and what gives back does so whatever becomes of the others: it has happened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resp/value.h"
#include "server/http/grpc/rate_limit_messages.h"
#include "server/http/grpc/status.h"
#include "server/limiter/policy/descriptor_rules.h"

namespace weir::server::grpc {

class RateLimitAsk {
 public:
  using Words = std::vector<std::string>;

  // Nothing of the request is needed afterwards.
  static Result<RateLimitAsk, Status> make(const RateLimitRequest& request,
                                           const DescriptorRules& rules);

  // The commands to be run next; none: response() is what they have led to. REQUIRES: take() was
  // called for all before.
  std::vector<Words> next();
  // Takes the reply to one of them, by its place. The error is how the call ends.
  Result<void, Status> take(size_t place, const resp::Value& reply);
  RateLimitResponse response() const;

  // Descriptors without a rule and without a limit of their own.
  size_t unruled() const { return unruled_; }
  size_t memory_bytes() const;

 private:
  enum class Way : uint8_t { kTakes, kCounts, kLooks, kGivesBack };

  // What is known of an item when its commands have been answered.
  struct Told {
    bool allowed = true;
    std::optional<CurrentLimit> limit = {};
    uint32_t remaining = 0;
    std::optional<int64_t> reset_ms = {};
    std::string rate_limit = {};  // fields of HTTP
    std::string rate_limit_policy = {};
    int64_t retry_s = 0;
  };
  // One or several descriptors that ask one key in one way.
  struct Item {
    Way way = Way::kTakes;
    std::string key = {};
    Words limits = {};  // POLICY with a name, or a limit
    std::string name = {};
    int64_t cost = 0;
    bool headers = false;
    Told told = {};
  };
  struct Command {
    Words words;
    std::vector<size_t> items;
    Way way;
  };
  // Lists of HTTP with an item for each limit of a key, or of all keys of a command.
  struct Fields {
    std::string_view rate_limit;
    std::string_view rate_limit_policy;
  };
  static constexpr size_t kNoItem = SIZE_MAX;
  struct Place {
    size_t item = kNoItem;
    std::optional<CurrentLimit> closed = {};  // a limit of 0, which nobody has to ask
  };

  Result<void, Status> add(const Descriptor& descriptor, std::string_view domain, uint64_t hits,
                           const DescriptorRules& rules);
  Result<void, Status> add_item(Item item);
  Result<void, Status> check_counts() const;
  std::vector<size_t> items_of(Way way) const;
  bool is_over() const;
  void look(Way way, std::vector<Command>* commands) const;
  void act(std::vector<Command>* commands) const;
  static Words take_words(const std::vector<const Item*>& items, Way way);
  static Words peek_words(const Item& item, int64_t cost);
  void tell(Item* item, const resp::Value& map, const Fields& fields, Way way) const;

  std::vector<Item> items_;
  std::vector<Place> places_;  // of the descriptors
  std::vector<Command> commands_;
  int phase_ = 0;
  size_t unruled_ = 0;
};

}  // namespace weir::server::grpc
