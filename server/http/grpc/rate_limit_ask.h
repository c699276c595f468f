// What a request of Envoy's rate limit service asks of limiters, as commands, and what their
// replies make of it.
//
// A descriptor that a rule is for, or that has a limit of its own in a domain that has rules, asks
// in one of four ways:
//
//     takes       RL.TAKE, or RL.MTAKE for all such descriptors: from all or from none
//     counts      the same with FORCE, by a rule that says so: what is reported has been used
//     looks       RL.PEEK: hits of 0 ask whether one would be granted
//     gives back  RL.REFUND
//
// All others are let through. Of Kuadrant's two methods CheckRateLimit looks, whatever the hits
// are, and Report counts, whatever the rule says: it is told of what was used, and denies nothing.
//
// Invariants
// 1. Where a descriptor that looks or counts is over its limit, none takes. So there is a look
//    first where both stand in a request.
// 2. What counts and what gives back does so whatever becomes of the others: it has happened.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resp/value.h"
#include "server/http/grpc/ask.h"
#include "server/http/grpc/metadata.h"
#include "server/http/grpc/rate_limit_messages.h"
#include "server/http/grpc/status.h"
#include "server/limiter/policy/descriptor_rules.h"

namespace weir::server::grpc {

enum class RateLimitMethod : uint8_t { kShouldRateLimit, kCheckRateLimit, kReport };

class RateLimitAsk final : public Ask {
 public:
  // Nothing of the request is needed afterwards.
  static Result<std::unique_ptr<Ask>, Status> make(const RateLimitRequest& request,
                                                   const DescriptorRules& rules,
                                                   RateLimitMethod method);

  std::vector<Words> next() override;
  Result<void, Status> take(size_t place, const resp::Value& reply) override;
  bool is_over() const override;
  std::string message() const override;
  size_t memory_bytes() const override;

 private:
  enum class Way : uint8_t { kTakes, kCounts, kLooks, kGivesBack };

  explicit RateLimitAsk(RateLimitMethod method) : method_(method) {}

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
    std::optional<Unit> closed = {};  // a limit of 0, in it
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
  static constexpr size_t kNoItem = SIZE_MAX;  // of a descriptor that is let through

  Result<void, Status> add(const Descriptor& descriptor, std::string_view domain, uint64_t hits,
                           const DescriptorRules& rules);
  Result<void, Status> add_item(Item item);
  Result<void, Status> check_counts() const;
  std::vector<size_t> items_of(Way way) const;
  void look(Way way, std::vector<Command>* commands) const;
  void act(std::vector<Command>* commands) const;
  RateLimitResponse response() const;
  void tell(Item* item, const resp::Value& map, const Fields& fields, Way way) const;

  bool reports() const { return method_ == RateLimitMethod::kReport; }
  Way way_of(const Descriptor& descriptor, uint64_t hits, bool is_forced) const;

  RateLimitMethod method_;
  std::vector<Item> items_;
  std::vector<size_t> places_;  // of the descriptors, their items
  std::vector<Command> commands_;
  int phase_ = 0;
  bool wants_metadata_ = false;            // a rule says METADATA
  std::optional<AskedMetadata> metadata_;  // then
};

}  // namespace weir::server::grpc
