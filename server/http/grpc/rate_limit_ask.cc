#include "server/http/grpc/rate_limit_ask.h"

#include <algorithm>
#include <utility>

#include "algorithms/limit.h"
#include "base/heap_bytes.h"
#include "base/time_units.h"
#include "server/http/grpc/field_items.h"

namespace weir::server::grpc {
namespace {

using resp::Value;

// RL.MTAKE takes no more; neither may the other ways be more work.
constexpr size_t kKeysMax = 16;

struct UnitWords {
  Unit unit;
  int64_t seconds;
  char period;             // in the words of a rate; 0: it is of no fixed length
  std::string_view align;  // as the calendar's
};
constexpr int64_t kSPerYear = 365 * kSPerDay;
constexpr UnitWords kUnits[] = {
    {Unit::kSecond, 1, 's', ""},
    {Unit::kMinute, kSPerMinute, 'm', "MINUTE"},
    {Unit::kHour, kSPerHour, 'h', "HOUR"},
    {Unit::kDay, kSPerDay, 'd', "DAY"},
    {Unit::kMonth, 28 * kSPerDay, 0, "MONTH"},
    {Unit::kYear, kSPerYear, 0, "YEAR"},
};

const UnitWords* find_unit(uint64_t number) {
  const auto* const found = std::ranges::find_if(
      kUnits, [number](const UnitWords& row) { return static_cast<uint64_t>(row.unit) == number; });
  return found == std::end(kUnits) ? nullptr : found;
}

// The limit that an override asks for: windows of the calendar, as the reference service has them,
// or of several units from the epoch on. None: of several months or years.
std::optional<std::vector<std::string>> override_words(const LimitOverride& asked,
                                                       const UnitWords& unit) {
  std::string count = std::to_string(asked.requests);
  if (asked.multiplier <= 1 && !unit.align.empty())
    return std::vector<std::string>{"FIXED", count, "ALIGN", std::string(unit.align)};
  if (unit.period == 0) return std::nullopt;
  const uint64_t units = std::max<uint64_t>(asked.multiplier, 1);
  count += "/" + std::to_string(units) + unit.period;
  return std::vector<std::string>{"FIXED", count, "ALIGN", "EPOCH"};
}

// A window as a number of units, none where it is no whole number of seconds.
void set_window(int64_t window_ms, CurrentLimit* limit) {
  if (window_ms % kMsPerS != 0) return;
  const int64_t seconds = window_ms / kMsPerS;
  if (seconds >= 28 * kSPerDay && seconds <= 31 * kSPerDay) {
    limit->unit = Unit::kMonth;
  } else if (seconds >= kSPerYear && seconds <= kSPerYear + kSPerDay) {
    limit->unit = Unit::kYear;
  } else {
    for (const UnitWords& row : kUnits) {
      if (row.period == 0 || seconds <= 0 || seconds % row.seconds != 0) continue;
      limit->unit = row.unit;
      limit->multiplier = static_cast<uint32_t>(seconds / row.seconds);
    }
  }
}

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

Result<RateLimitAsk, Status> RateLimitAsk::make(const RateLimitRequest& request,
                                                const DescriptorRules& rules) {
  if (request.domain.empty()) return Status{Code::kInvalidArgument, "the domain is empty"};
  if (request.descriptors.empty()) return Status{Code::kInvalidArgument, "there is no descriptor"};
  RateLimitAsk ask;
  for (const Descriptor& descriptor : request.descriptors) {
    const auto added =
        ask.add(descriptor, request.domain, descriptor.hits.value_or(request.hits), rules);
    if (!added) return added.error();
  }
  if (const auto checked = ask.check_counts(); !checked) return checked.error();
  return ask;
}

Result<void, Status> RateLimitAsk::add(const Descriptor& descriptor, std::string_view domain,
                                       uint64_t hits, const DescriptorRules& rules) {
  const DescriptorRule* const rule = rules.find(domain, descriptor.entries);
  const bool has_limit = descriptor.limit && rules.knows(domain);
  places_.emplace_back();
  if (rule == nullptr && !has_limit) {
    ++unruled_;
    return {};
  }
  if (hits > static_cast<uint64_t>(algorithms::kCostMax))
    return Status{Code::kInvalidArgument, "hits_addend is above what a limit can count"};
  Item item = {.cost = static_cast<int64_t>(hits)};
  const bool counts = rule != nullptr && rule->force;
  item.headers = rule != nullptr && rule->headers;
  item.key = rule != nullptr && rule->key ? rule->key->key_of(descriptor.entries)
                                          : KeyTemplate::plain_key(domain, descriptor.entries);
  if (hits == 0) {
    item.way = Way::kLooks;
  } else if (descriptor.gives_back) {
    item.way = Way::kGivesBack;
  } else {
    item.way = counts ? Way::kCounts : Way::kTakes;
  }
  if (!has_limit) {
    item.name = rule->policy;
    item.limits = {"POLICY", rule->policy};
    return add_item(std::move(item));
  }
  const UnitWords* const unit = find_unit(descriptor.limit->unit);
  if (unit == nullptr) return Status{Code::kInvalidArgument, "a limit's unit is unknown"};
  const uint32_t requests = descriptor.limit->requests;
  if (requests == 0 && item.way != Way::kGivesBack) {
    places_.back().closed = CurrentLimit{.unit = unit->unit};
    return {};
  }
  auto words = override_words(*descriptor.limit, *unit);
  if (!words) return Status{Code::kInvalidArgument, "a limit is of several months or years"};
  item.limits = std::move(*words);
  return add_item(std::move(item));
}

Result<void, Status> RateLimitAsk::add_item(Item item) {
  for (size_t i = 0; i < items_.size(); ++i) {
    Item& known = items_[i];
    if (known.way != item.way || known.key != item.key) continue;
    if (known.limits != item.limits)
      return Status{Code::kFailedPrecondition, "two descriptors have one key and different limits"};
    known.cost += item.cost;
    known.headers |= item.headers;
    places_.back().item = i;
    return {};
  }
  places_.back().item = items_.size();
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
  return std::ranges::any_of(places_, [this](const Place& place) {
    return place.closed || (place.item != kNoItem && !items_[place.item].told.allowed);
  });
}

RateLimitAsk::Words RateLimitAsk::peek_words(const Item& item, int64_t cost) {
  Words words = {"RL.PEEK", item.key};
  words.insert(words.end(), item.limits.begin(), item.limits.end());
  words.insert(words.end(), {"COST", std::to_string(cost), "HEADERS"});
  return words;
}

RateLimitAsk::Words RateLimitAsk::take_words(const std::vector<const Item*>& items, Way way) {
  const bool is_one = items.size() == 1;
  Words words = {is_one ? "RL.TAKE" : "RL.MTAKE"};
  if (!is_one) words.push_back(std::to_string(items.size()));
  for (const Item* item : items) words.push_back(item->key);
  std::string costs;
  for (const Item* item : items) {
    if (!is_one) words.emplace_back("EACH");
    words.insert(words.end(), item->limits.begin(), item->limits.end());
    costs += (costs.empty() ? "" : ",") + std::to_string(item->cost);
  }
  words.insert(words.end(), {is_one ? "COST" : "KEYCOSTS", costs});
  if (way == Way::kCounts) words.emplace_back("FORCE");
  words.emplace_back("HEADERS");
  return words;
}

void RateLimitAsk::look(Way way, std::vector<Command>* commands) const {
  for (const size_t i : items_of(way)) {
    const int64_t cost = way == Way::kLooks ? 1 : items_[i].cost;
    commands->push_back({peek_words(items_[i], cost), {i}, Way::kLooks});
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
    std::vector<const Item*> items;
    for (const size_t i : indices) items.push_back(&items_[i]);
    commands->push_back({take_words(items, way), indices, way});
  }
  for (const size_t i : items_of(Way::kGivesBack)) {
    const Item& item = items_[i];
    commands->push_back({{"RL.REFUND", item.key, std::to_string(item.cost)}, {i}, Way::kGivesBack});
  }
}

std::vector<RateLimitAsk::Words> RateLimitAsk::next() {
  commands_.clear();
  const int phase = phase_++;
  if (phase == 0) {
    look(Way::kLooks, &commands_);
    look(Way::kCounts, &commands_);
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
  for (const Place& place : places_) {
    DescriptorStatus& status = response.statuses.emplace_back();
    if (place.closed) {
      status = {.verdict = Verdict::kOverLimit, .limit = place.closed};
    } else if (place.item != kNoItem) {
      const Told& told = items_[place.item].told;
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
  return response;
}

size_t RateLimitAsk::memory_bytes() const {
  size_t bytes = heap_bytes(items_) + heap_bytes(places_) + heap_bytes(commands_);
  for (const Item& item : items_) {
    bytes += heap_bytes(item.key) + heap_bytes(item.limits) + heap_bytes(item.name) +
             heap_bytes(item.told.rate_limit) + heap_bytes(item.told.rate_limit_policy);
  }
  for (const Command& command : commands_)
    bytes += heap_bytes(command.words) + heap_bytes(command.items);
  return bytes;
}

}  // namespace weir::server::grpc
