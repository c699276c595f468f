#include "server/limiter/policies.h"

#include <algorithm>

#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "storage/codec.h"

namespace weir::server {
namespace {

using algorithms::CarryOver;

constexpr std::string_view kPrefix = "policy/";
// These words have the order of CarryOver, whose numbers are on disk here. DO NOT CHANGE.
constexpr std::string_view kModes[] = {"RESET", "ASIS", "PROPORTIONAL", "ADDITIVE", "USED"};

std::string record_name(std::string_view name) { return std::string(kPrefix).append(name); }

std::string encode(const Policy& policy) {
  std::string record;
  storage::put_varint(&record, policy.version);
  record.push_back(static_cast<char>(policy.mode));
  record += algorithms::format_limits(policy.limits, policy.names);
  return record;
}

// Decodes a record. One that cannot be read, because a later version wrote it for instance, is no
// policy rather than a wrong one.
bool decode(std::string_view record, Policy* policy) {
  storage::Reader reader(record);
  policy->version = reader.varint();
  const std::string_view rest = reader.rest();
  if (!reader.ok() || rest.empty() || static_cast<uint8_t>(rest[0]) >= std::size(kModes)) {
    return false;
  }
  policy->mode = static_cast<CarryOver>(rest[0]);
  const auto words = split_at_spaces(rest.substr(1));
  const auto parsed = algorithms::parse_limits(words);
  if (!parsed || parsed->words != words.size() || parsed->limits.empty()) return false;
  policy->limits = parsed->limits;
  policy->names = parsed->names;
  return true;
}

}  // namespace

std::string_view mode_name(CarryOver mode) { return kModes[static_cast<size_t>(mode)]; }

std::optional<CarryOver> parse_mode(std::string_view word) {
  for (size_t i = 0; i < std::size(kModes); ++i) {
    if (equals_ignoring_case(word, kModes[i])) return static_cast<CarryOver>(i);
  }
  return std::nullopt;
}

const Policy* Policies::find(std::string_view name) {
  const storage::Ref ref = keys_.look_up_system(record_name(name));
  const auto known = cache_.find(name);
  if (!ref.exists()) {
    if (known != cache_.end()) cache_.erase(known);
    return nullptr;
  }
  if (known != cache_.end() && known->second.record == ref.value()) return &known->second.policy;
  Cached cached{.record = std::string(ref.value()), .policy = {}};
  if (!decode(cached.record, &cached.policy)) return nullptr;
  return &cache_.insert_or_assign(std::string(name), std::move(cached)).first->second.policy;
}

void Policies::visit(
    const std::function<void(std::string_view record, std::string_view value)>& use) const {
  keys_.visit_system(kPrefix, [&](std::string_view record, std::string_view value) {
    work_.charge_entries(1);
    use(record, value);
  });
}

Result<void, std::string> Policies::set(std::string_view name, const Policy& policy,
                                        int64_t policies_max) {
  const std::string record = record_name(name);
  const std::string value = encode(policy);
  int64_t others = 0;
  size_t bytes = record.size() + value.size();
  visit([&](std::string_view other, std::string_view other_value) {
    if (other == record) return;
    ++others;
    bytes += other.size() + other_value.size();
  });
  storage::Ref ref = keys_.look_up_system(record);
  if (!ref.exists() && others >= policies_max) {
    return "ERR there are " + std::to_string(others) + " policies, and policies-max is " +
           std::to_string(policies_max);
  }
  if (bytes > kPoliciesBytesMax) {
    return "ERR all policies together would take " + std::to_string(bytes) +
           " bytes, and may take " + std::to_string(kPoliciesBytesMax);
  }
  keys_.put(&ref, storage::Type::kSystem, value, 0);
  return {};
}

bool Policies::erase(std::string_view name) {
  const std::string record = record_name(name);
  storage::Ref ref = keys_.look_up_system(record);
  if (!ref.exists()) return false;
  keys_.erase(&ref);
  return true;
}

std::vector<std::string> Policies::names() const {
  std::vector<std::string> names;
  visit([&](std::string_view record, std::string_view) {
    names.emplace_back(record.substr(kPrefix.size()));
  });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace weir::server
