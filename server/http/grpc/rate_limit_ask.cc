#include "server/http/grpc/rate_limit_ask.h"

#include <algorithm>
#include <utility>

#include "algorithms/limit.h"
#include "base/heap_bytes.h"
#include "base/time_units.h"
#include "server/http/grpc/field_items.h"
#include "server/http/grpc/units.h"

namespace weir::server::grpc {
namespace {

using resp::Value;

uint32_t as_u32(int64_t value) {
  return static_cast<uint32_t>(std::clamp<int64_t>(value, 0, UINT32_MAX));
}

// The value of a map's field; an empty one if there is none.
const Value& field(const Value& map, std::string_view name) {
  static const Value nothing;
  for (size_t i = 0; i + 1 < map.elements.size(); i += 2) {
    if (map.elements[i].text == name) return map.elements[i + 1];
  }
  return nothing;
}

// Which of a key's limits is shown: of a denial one that lacks what was asked for, and of these the
// one that takes longest to be full; else the one with the least left.
size_t deciding(const Value& limits, int64_t cost, bool allowed) {
  size_t chosen = 0;
  for (size_t i = 1; i < limits.elements.size(); ++i) {
    const Value& one = limits.elements[i];
    const Value& best = limits.elements[chosen];
    const int64_t left = field(one, "remaining").integer;
    const int64_t least = field(best, "remaining").integer;
    if (!allowed && left < cost && least < cost) {
      if (field(one, "reset_ms").integer > field(best, "reset_ms").integer) chosen = i;
    } else if (left < least) {
      chosen = i;
    }
  }
  return chosen;
}

void append_to_list(std::string_view items, std::string* list) {
  if (items.empty()) return;
  if (!list->empty()) *list += ", ";
  *list += items;
}

}  // namespace

Result<std::unique_ptr<Ask>, Status> RateLimitAsk::make(const RateLimitRequest& request,
                                                        const DescriptorRules& rules,
                                                        RateLimitMethod method) {
  if (request.domain.empty()) return Status{Code::kInvalidArgument, "the domain is empty"};
  if (request.descriptors.empty()) return Status{Code::kInvalidArgument, "there is no descriptor"};
  auto ask = std::unique_ptr<RateLimitAsk>(new RateLimitAsk(method));
  for (const Descriptor& descriptor : request.descriptors) {
    const auto added =
        ask->add(descriptor, request.domain, descriptor.hits.value_or(request.hits), rules);
    if (!added) return added.error();
  }
  if (const auto checked = ask->check_counts(); !checked) return checked.error();
  if (ask->wants_metadata_) ask->metadata_.emplace(request);
  return std::unique_ptr<Ask>(std::move(ask));
}

RateLimitAsk::Way RateLimitAsk::way_of(const Descriptor& descriptor, uint64_t hits,
                                       bool is_forced) const {
  if (hits == 0 || method_ == RateLimitMethod::kCheckRateLimit) return Way::kLooks;
  if (descriptor.gives_back) return Way::kGivesBack;
  return is_forced || reports() ? Way::kCounts : Way::kTakes;
}

Result<void, Status> RateLimitAsk::add(const Descriptor& descriptor, std::string_view domain,
                                       uint64_t hits, const DescriptorRules& rules) {
  auto found = asked_key(descriptor, domain, rules, &passed_);
  if (!found) return found.error();
  places_.push_back(kNoItem);
  if (!*found) {
    ++unruled_;
    return {};
  }
  AskedKey& asked = **found;
  if (hits > static_cast<uint64_t>(algorithms::kCostMax))
    return Status{Code::kInvalidArgument, "hits_addend is above what a limit can count"};
  if (asked.rule != nullptr) wants_metadata_ |= asked.rule->metadata;
  if (reports() && (hits == 0 || asked.closed)) return {};  // nothing was used, or can be
  Item item = {.way = way_of(descriptor, hits, asked.rule != nullptr && asked.rule->force),
               .key = std::move(asked.key),
               .limits = std::move(asked.limits),
               .name = std::move(asked.name),
               .cost = static_cast<int64_t>(hits),
               .headers = asked.rule != nullptr && asked.rule->headers};
  if (asked.closed && item.way != Way::kGivesBack) {
    if (item.way == Way::kCounts) item.way = Way::kLooks;
    item.closed = asked.closed;
    item.cost = kClosedCost;
    item.headers = false;
  }
  return add_item(std::move(item));
}

Result<void, Status> RateLimitAsk::add_item(Item item) {
  for (size_t i = 0; i < items_.size(); ++i) {
    Item& known = items_[i];
    if (known.way != item.way || known.key != item.key) continue;
    if (known.limits != item.limits || known.closed != item.closed)
      return Status{Code::kFailedPrecondition, "two descriptors have one key and different limits"};
    known.cost += item.cost;
    known.headers |= item.headers;
    places_.back() = i;
    return {};
  }
  places_.back() = items_.size();
  items_.push_back(std::move(item));
  return {};
}

Result<void, Status> RateLimitAsk::check_counts() const {
  for (const Way way : {Way::kTakes, Way::kCounts, Way::kLooks, Way::kGivesBack}) {
    if (items_of(way).size() > kKeysMax) {
      return Status{Code::kInvalidArgument,
                    "a request asks of " + std::to_string(kKeysMax) + " keys in one way at most"};
    }
  }
  const bool is_countable = std::ranges::all_of(
      items_, [](const Item& item) { return item.cost <= algorithms::kCostMax; });
  if (is_countable) return {};
  return Status{Code::kInvalidArgument, "the hits of a key are above what a limit can count"};
}

std::vector<size_t> RateLimitAsk::items_of(Way way) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].way == way) found.push_back(i);
  }
  return found;
}

bool RateLimitAsk::is_over() const {
  return std::ranges::any_of(items_, [](const Item& item) { return !item.told.allowed; });
}

void RateLimitAsk::look(Way way, std::vector<Command>* commands) const {
  for (const size_t i : items_of(way)) {
    const Item& item = items_[i];
    const int64_t cost = way == Way::kLooks && !item.closed ? 1 : item.cost;
    commands->push_back({peek_words({item.key, &item.limits, cost}), {i}, Way::kLooks});
    commands->back().words.emplace_back("HEADERS");
  }
}

void RateLimitAsk::act(std::vector<Command>* commands) const {
  for (const Way way : {Way::kTakes, Way::kCounts}) {
    const std::vector<size_t> indices = items_of(way);
    if (indices.empty()) continue;
    if (way == Way::kTakes && is_over()) {
      look(way, commands);
      continue;
    }
    std::vector<Charge> charges;
    for (const size_t i : indices)
      charges.push_back({items_[i].key, &items_[i].limits, items_[i].cost});
    commands->push_back({take_words(charges), indices, way});
    if (way == Way::kCounts) commands->back().words.emplace_back("FORCE");
    commands->back().words.emplace_back("HEADERS");
  }
  for (const size_t i : items_of(Way::kGivesBack)) {
    const Item& item = items_[i];
    commands->push_back({{"RL.REFUND", item.key, std::to_string(item.cost)}, {i}, Way::kGivesBack});
  }
}

std::vector<Words> RateLimitAsk::next() {
  commands_.clear();
  const int phase = phase_++;
  if (phase == 0) {
    look(Way::kLooks, &commands_);
    if (!reports()) look(Way::kCounts, &commands_);
  }
  const bool waits = phase == 0 && !commands_.empty() && !items_of(Way::kTakes).empty();
  if (waits) {
    phase_ = 1;
  } else if (phase <= 1) {
    act(&commands_);
    phase_ = 2;
  }
  std::vector<Words> all;
  for (const Command& command : commands_) all.push_back(command.words);
  return all;
}

Result<void, Status> RateLimitAsk::take(size_t place, const Value& reply) {
  if (reply.is_error()) return status_of_error(reply.text);
  const Command& command = commands_[place];
  if (command.way == Way::kGivesBack) {
    Told& told = items_[command.items[0]].told;
    if (reply.elements.size() < 5) return {};  // the key is not there: nothing is owed to it
    told.limit = CurrentLimit{.requests = as_u32(reply.elements[1].integer)};
    told.remaining = as_u32(reply.elements[2].integer);
    told.reset_ms = reply.elements[4].integer;
    return {};
  }
  const bool is_one = command.items.size() == 1;
  const Value& keys = field(reply, "keys");
  if (reply.type != Value::Type::kMap || (!is_one && keys.elements.size() != command.items.size()))
    return Status{Code::kInternal, "the reply is none of a limiter"};
  const Value& headers = field(reply, "headers");
  Fields left = {.rate_limit = field(headers, "RateLimit").text,
                 .rate_limit_policy = field(headers, "RateLimit-Policy").text};
  for (size_t i = 0; i < command.items.size(); ++i) {
    const Value& map = is_one ? reply : keys.elements[i];
    const size_t limits = field(map, "limits").elements.size();
    const Fields of_key = {.rate_limit = cut_items(limits, &left.rate_limit),
                           .rate_limit_policy = cut_items(limits, &left.rate_limit_policy)};
    tell(&items_[command.items[i]], map, of_key, command.way);
  }
  return {};
}

// What counts is told whether it was over by the look before it.
void RateLimitAsk::tell(Item* item, const Value& map, const Fields& fields, Way way) const {
  const bool allowed = field(map, "allowed").integer == 1;
  Told told;
  if (item->closed) {
    item->told = {.allowed = allowed, .limit = CurrentLimit{.unit = *item->closed}};
    return;
  }
  told.allowed = way == Way::kCounts ? item->told.allowed : allowed;
  if (way == Way::kCounts) told.retry_s = item->told.retry_s;
  const Value& limits = field(map, "limits");
  const bool looked_beyond = way == Way::kLooks && allowed && field(map, "shadow").integer == 0;
  const int64_t cost = item->way == Way::kLooks ? 1 : item->cost;
  if (!limits.elements.empty()) {
    const size_t place = deciding(limits, cost, allowed);
    const Value& limit = limits.elements[place];
    const std::string_view policies = fields.rate_limit_policy;
    told.limit = CurrentLimit{.name = item->name,
                              .requests = as_u32(item_parameter(policies, place, ";q="))};
    set_window(field(limit, "window_ms").integer, &*told.limit);
    const int64_t left = field(limit, "remaining").integer;
    told.remaining = as_u32(looked_beyond ? left + cost : left);
    told.reset_ms = field(limit, "reset_ms").integer;
  } else if (allowed) {
    told.remaining = UINT32_MAX;  // UNLIMITED
  }
  if (item->headers && !looked_beyond) {
    told.rate_limit = fields.rate_limit;
    told.rate_limit_policy = fields.rate_limit_policy;
  }
  const int64_t retry_ms = field(map, "retry_ms").integer;  // -1: waiting does not help
  if (item->headers && !allowed && retry_ms > 0) told.retry_s = (retry_ms + kMsPerS - 1) / kMsPerS;
  item->told = std::move(told);
}

RateLimitResponse RateLimitAsk::response() const {
  RateLimitResponse response;
  for (const size_t place : places_) {
    DescriptorStatus& status = response.statuses.emplace_back();
    if (place != kNoItem) {
      const Told& told = items_[place].told;
      status = {.verdict = told.allowed ? Verdict::kOk : Verdict::kOverLimit,
                .limit = told.limit,
                .remaining = told.remaining,
                .reset_ms = told.reset_ms};
      if (told.reset_ms && *told.reset_ms < 0) status.reset_ms.reset();  // it is never full
    }
  }
  if (is_over()) response.verdict = Verdict::kOverLimit;
  std::string rate_limit;
  std::string rate_limit_policy;
  int64_t retry_s = 0;
  for (const Item& item : items_) {
    append_to_list(item.told.rate_limit, &rate_limit);
    append_to_list(item.told.rate_limit_policy, &rate_limit_policy);
    retry_s = std::max(retry_s, item.told.retry_s);
  }
  if (!rate_limit.empty()) response.headers.emplace_back("ratelimit", rate_limit);
  if (!rate_limit_policy.empty())
    response.headers.emplace_back("ratelimit-policy", rate_limit_policy);
  if (retry_s > 0) response.headers.emplace_back("retry-after", std::to_string(retry_s));
  if (metadata_) response.metadata = written_metadata(*metadata_, response.statuses);
  return response;
}

std::string RateLimitAsk::message() const { return written(response()); }

size_t RateLimitAsk::memory_bytes() const {
  size_t bytes =
      block_bytes(sizeof(*this)) + heap_bytes(items_) + heap_bytes(places_) + heap_bytes(commands_);
  if (metadata_) bytes += metadata_->memory_bytes();
  for (const Item& item : items_) {
    bytes += heap_bytes(item.key) + heap_bytes(item.limits) + heap_bytes(item.name) +
             heap_bytes(item.told.rate_limit) + heap_bytes(item.told.rate_limit_policy);
  }
  for (const Command& command : commands_)
    bytes += heap_bytes(command.words) + heap_bytes(command.items);
  return bytes;
}

}  // namespace weir::server::grpc
