#include "server/http/grpc/asked_key.h"

#include <algorithm>
#include <utility>

#include "server/http/grpc/units.h"

namespace weir::server::grpc {
namespace {

// The limit that an override asks for: windows of the calendar, as the reference service has them,
// or of several units from the epoch on. None: of several months or years.
std::optional<Words> override_words(const LimitOverride& asked, const UnitWords& unit) {
  std::string count = std::to_string(std::max<uint32_t>(asked.requests, 1));
  if (asked.multiplier <= 1 && !unit.align.empty())
    return Words{"FIXED", count, "ALIGN", std::string(unit.align)};
  if (unit.period == 0) return std::nullopt;
  const uint64_t units = std::max<uint64_t>(asked.multiplier, 1);
  count += "/" + std::to_string(units) + unit.period;
  return Words{"FIXED", count, "ALIGN", "EPOCH"};
}

}  // namespace

Result<std::optional<AskedKey>, Status> asked_key(const Descriptor& descriptor,
                                                  std::string_view domain,
                                                  const DescriptorRules& rules, size_t* passed) {
  const DescriptorRule* const rule = rules.find(domain, descriptor.entries, passed);
  const bool has_limit = descriptor.limit && rules.knows(domain);
  if (rule == nullptr && !has_limit) return std::optional<AskedKey>();
  AskedKey asked{.rule = rule};
  asked.key = rule != nullptr && rule->key ? rule->key->key_of(descriptor.entries)
                                           : KeyTemplate::plain_key(domain, descriptor.entries);
  if (!has_limit) {
    asked.name = rule->policy;
    asked.limits = {"POLICY", rule->policy};
    return std::optional(std::move(asked));
  }
  const UnitWords* const unit = find_unit(descriptor.limit->unit);
  if (unit == nullptr) return Status{Code::kInvalidArgument, "a limit's unit is unknown"};
  auto words = override_words(*descriptor.limit, *unit);
  if (!words) return Status{Code::kInvalidArgument, "a limit is of several months or years"};
  asked.limits = std::move(*words);
  if (descriptor.limit->requests == 0) asked.closed = unit->unit;
  return std::optional(std::move(asked));
}

Words take_words(const std::vector<Charge>& charges) {
  const bool is_one = charges.size() == 1;
  Words words = {is_one ? "RL.TAKE" : "RL.MTAKE"};
  if (!is_one) words.push_back(std::to_string(charges.size()));
  for (const Charge& charge : charges) words.emplace_back(charge.key);
  std::string costs;
  for (const Charge& charge : charges) {
    if (!is_one) words.emplace_back("EACH");
    words.insert(words.end(), charge.limits->begin(), charge.limits->end());
    costs += (costs.empty() ? "" : ",") + std::to_string(charge.cost);
  }
  words.insert(words.end(), {is_one ? "COST" : "KEYCOSTS", costs});
  return words;
}

Words peek_words(const Charge& charge) {
  Words words = {"RL.PEEK", std::string(charge.key)};
  words.insert(words.end(), charge.limits->begin(), charge.limits->end());
  words.insert(words.end(), {"COST", std::to_string(charge.cost)});
  return words;
}

}  // namespace weir::server::grpc
