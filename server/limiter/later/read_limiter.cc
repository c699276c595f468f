#include "server/limiter/later/read_limiter.h"

#include <vector>

#include "server/limiter/entries/stored_entries.h"
#include "server/limiter/later/bookings.h"
#include "server/limiter/take/holds.h"
#include "storage/format/codec.h"

namespace weir::server {
namespace {

using algorithms::Algorithm;
using algorithms::RecordError;
using storage::ElementRule;
using storage::Fault;

constexpr size_t kMemberBytes = sizeof(IdMember);

// Bookings and holds: by an id and an instant.
template <bool (*is_value)(std::string_view)>
class DatedRule final : public ElementRule {
 public:
  bool allows(std::string_view member, uint64_t order, std::string_view value) const override {
    return member.size() == kMemberBytes && storage::integer_of_order(order) >= 0 &&
           is_value(value);
  }
};

class EntryRule final : public ElementRule {
 public:
  explicit EntryRule(const Algorithm& algorithm) : algorithm_(algorithm) {}
  const Algorithm& algorithm() const { return algorithm_; }
  bool allows(std::string_view member, uint64_t order, std::string_view value) const override {
    storage::Reader permits(value);
    permits.varint();
    return member.size() == kMemberBytes && permits.ok() && permits.at_end() &&
           algorithms::can_be_entry(algorithm_, storage::integer_of_order(order));
  }

 private:
  const Algorithm& algorithm_;
};

const ElementRule* entry_rule(const Algorithm& algorithm) {
  static const std::vector<EntryRule> rules = [] {
    std::vector<EntryRule> all;
    for (const Algorithm* each : algorithms::all_algorithms()) all.emplace_back(*each);
    return all;
  }();
  for (const EntryRule& rule : rules) {
    if (&rule.algorithm() == &algorithm) return &rule;
  }
  return nullptr;
}

bool may_be_newer(RecordError error) {
  return error == RecordError::kUnknownAlgorithm || error == RecordError::kUnknownZone;
}

}  // namespace

Fault read_limiter(std::string_view record, const algorithms::Zones& zones, ReadLimiter* limiter) {
  static const DatedRule<is_booking> bookings;
  static const DatedRule<is_hold> holds;
  const auto head = algorithms::read_record(record, limiter->limits, &zones);
  if (!head) return {algorithms::describe(head.error()), may_be_newer(head.error())};
  if (head->changes.value_or(0) > algorithms::kChangesMax / 2)
    return {"it has changed more often than it can have"};
  limiter->head = *head;
  limiter->lists = 0;
  const auto add = [limiter](const ElementRule* rule) { limiter->rules[limiter->lists++] = rule; };
  if (head->bookings) add(&bookings);
  if (head->holds) add(&holds);
  for (size_t i = 0; i < head->limits; ++i) {
    const Algorithm& algorithm = *limiter->limits[i].limit.algorithm;
    if (algorithm.uses_entries) add(entry_rule(algorithm));
  }
  return {};
}

Fault read_limiter(std::string_view record, size_t lists, const algorithms::Zones& zones,
                   ReadLimiter* limiter) {
  const Fault fault = read_limiter(record, zones, limiter);
  if (!fault.what.empty() || limiter->lists == lists) return fault;
  return {"its limits and its lists of entries do not belong together"};
}

}  // namespace weir::server
