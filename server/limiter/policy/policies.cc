#include "server/limiter/policy/policies.h"

#include <algorithm>
#include <cstdlib>

#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "storage/format/codec.h"

namespace weir::server {
namespace {

using algorithms::CarryOver;

constexpr std::string_view kPolicyPrefix = "policy/";
constexpr std::string_view kCountPrefix = "policy-count/";
constexpr uint8_t kModesCount = 5;  // the numbers of CarryOver are on disk here. DO NOT CHANGE.
constexpr std::string_view kDropPrefix = "policy-drop/";
constexpr uint64_t kDroppedAtOnce = 200;  // a millisecond
constexpr uint8_t kWithKind = 128;
constexpr uint64_t kShareOfKeys = 0x706f6c6963792025;  // the other half of the seed

std::string record_name(std::string_view name) { return std::string(kPolicyPrefix).append(name); }

std::string count_record_name(std::string_view name) {
  return std::string(kCountPrefix).append(name);
}

bool is_adaptive(const algorithms::Limit& limit) { return limit.adaptive.is_set(); }

std::string encode_reports(const Policy& policy) {
  const std::string limits = algorithms::format_limits(policy.limits);
  std::string record;
  storage::put_varint(&record, limits.size());
  record += limits;
  for (size_t i = 0; i < policy.limits.size(); ++i) {
    const algorithms::Limit& limit = policy.limits[i];
    if (!is_adaptive(limit)) continue;
    storage::put_varint(&record, static_cast<uint64_t>(limit.count));
    char bytes[algorithms::kAdaptiveBytesMax];
    algorithms::Writer writer(bytes, sizeof bytes);
    algorithms::write_adaptive(limit.adaptive, policy.reports[i], writer);
    record.append(bytes, writer.size());
  }
  return record;
}

// Puts what was told into the policy; false where that was about other limits.
bool decode_reports(std::string_view record, Policy* policy) {
  storage::Reader head(record);
  if (head.sized_bytes() != algorithms::format_limits(policy->limits) || !head.ok()) return false;
  algorithms::Reader reader(head.rest());
  Policy told = *policy;
  told.reports.resize(told.limits.size());
  for (size_t i = 0; i < told.limits.size(); ++i) {
    algorithms::Limit& limit = told.limits[i];
    if (!is_adaptive(limit)) continue;
    const uint64_t count = reader.varint();
    if (count < static_cast<uint64_t>(limit.adaptive.min)) return false;
    if (count > static_cast<uint64_t>(limit.adaptive.max)) return false;
    const algorithms::Adaptive rule = limit.adaptive;
    limit = algorithms::at_count(limit, static_cast<int64_t>(count));
    if (!algorithms::read_adaptive(reader, limit, told.reports[i])) return false;
    if (limit.adaptive != rule) return false;
  }
  if (!reader.ok() || reader.left() != 0) return false;
  *policy = std::move(told);
  return true;
}

std::string encode(const Policy& policy) {
  std::string record;
  storage::put_varint(&record, policy.version);
  record.push_back(static_cast<char>(static_cast<uint8_t>(policy.mode) + kWithKind));
  record.push_back(static_cast<char>(policy.kind));
  record.push_back(static_cast<char>(policy.percent));
  storage::put_u64_le(&record, policy.seed);
  put_override_set(&record, policy.overrides);
  record += algorithms::format_limits(policy.limits, policy.names);
  return record;
}

// Decodes a record. One that cannot be read, because a later version wrote it for instance, is no
// policy rather than a wrong one.
bool decode(std::string_view record, const algorithms::Zones& zones, Policy* policy) {
  storage::Reader reader(record);
  policy->version = reader.varint();
  uint8_t mode = reader.u8();
  if (mode >= kWithKind) {
    mode = static_cast<uint8_t>(mode - kWithKind);
    const uint8_t kind = reader.u8();
    policy->percent = reader.u8();
    policy->seed = reader.u64_le();
    policy->overrides = read_override_set(&reader);
    if (kind > static_cast<uint8_t>(PolicyKind::kBlocked) || policy->percent > 100) return false;
    policy->kind = static_cast<PolicyKind>(kind);
  }
  if (!reader.ok() || mode >= kModesCount) return false;
  policy->mode = static_cast<CarryOver>(mode);
  const auto words = split_at_spaces(reader.rest());
  if (policy->kind != PolicyKind::kLimits) return words.empty();
  const auto parsed = algorithms::parse_limits(words, 0, &zones);
  if (!parsed || parsed->words != words.size() || parsed->limits.empty()) return false;
  policy->limits = parsed->limits;
  policy->names = parsed->names;
  return true;
}

}  // namespace

bool policy_in_shadow(const Policy& policy, std::string_view key) {
  if (policy.kind != PolicyKind::kLimits || policy.percent == 100) return false;
  return storage::siphash24(key, {policy.seed, kShareOfKeys}) % 100 >= policy.percent;
}

Policies::Found Policies::find_counted(std::string_view name) {
  const storage::Ref ref = keys_.look_up_system(record_name(name));
  const auto known = cache_.find(name);
  if (!ref.exists()) {
    if (known != cache_.end()) cache_.erase(known);
    return {};
  }
  if (known != cache_.end() && known->second.record == ref.value()) {
    if (known->second.adapts) follow_reports(name, &known->second);
    return {.policy = &known->second.policy, .counts = &known->second.counts};
  }
  Cached cached{.record = std::string(ref.value()), .policy = {}};
  if (!decode(cached.record, zones_.stored(), &cached.policy)) return {};
  cached.adapts = std::ranges::any_of(cached.policy.limits, is_adaptive);
  if (cached.adapts) follow_reports(name, &cached);
  if (known != cache_.end()) cached.counts = known->second.counts;
  Cached& kept = cache_.insert_or_assign(std::string(name), std::move(cached)).first->second;
  return {.policy = &kept.policy, .counts = &kept.counts};
}

void Policies::follow_reports(std::string_view name, Cached* cached) const {
  const std::string kept_as = count_record_name(name);
  const storage::Ref ref = keys_.look_up_system(kept_as);
  const std::string_view record = ref.exists() ? ref.value() : std::string_view();
  if (cached->reports == record) return;
  cached->reports = record;
  Policy& policy = cached->policy;
  policy.reports.clear();
  for (algorithms::Limit& limit : policy.limits) limit = algorithms::as_written(limit);
  decode_reports(record, &policy);
}

void Policies::erase_reports(std::string_view name) {
  const std::string record = count_record_name(name);  // the Ref points to it
  storage::Ref ref = keys_.look_up_system(record);
  if (ref.exists()) keys_.erase(&ref);
}

Result<void, std::string> Policies::report(std::string_view name, algorithms::Report report) {
  const Found found = find_counted(name);
  Policy policy = *found.policy;
  if (std::ranges::none_of(policy.limits, is_adaptive)) {
    return "ERR no limit of the policy has ADAPTIVE: " + algorithms::format_limits(policy.limits);
  }
  if (policy.reports.empty()) {
    policy.reports.resize(policy.limits.size());
    for (auto& state : policy.reports) state.round_ns = report.now_ns;
  }
  report.is_used = found.counts->is_used;
  for (size_t i = 0; i < policy.limits.size(); ++i) {
    algorithms::Limit& limit = policy.limits[i];
    if (!is_adaptive(limit)) continue;
    algorithms::AdaptiveState& state = policy.reports[i];
    const int64_t round_ns = state.round_ns;
    limit = algorithms::at_count(limit, algorithms::count_after(limit, state, report));
    if (state.round_ns != round_ns) found.counts->is_used = false;
  }
  const std::string record = count_record_name(name);
  storage::Ref ref = keys_.look_up_system(record);
  keys_.put(&ref, storage::Type::kSystem, encode_reports(policy), 0);
  return {};
}

void Policies::reset_counts() {
  for (auto& [name, cached] : cache_) cached.counts = {};
}

void Policies::visit(
    const std::function<void(std::string_view record, std::string_view value)>& use) const {
  keys_.visit_system(kPolicyPrefix, [&](std::string_view record, std::string_view value) {
    work_.charge_entries(1);
    use(record, value);
  });
}

Result<void, std::string> Policies::set_all(const std::vector<NamedPolicy>& changes,
                                            int64_t policies_max) {
  std::map<std::string, std::string, std::less<>> values;
  for (const auto& [name, policy] : changes) {
    values.emplace(record_name(name), policy ? encode(*policy) : std::string());
  }
  int64_t before = 0;
  int64_t count = 0;
  size_t bytes = 0;
  visit([&](std::string_view record, std::string_view value) {
    ++before;
    if (values.contains(record)) return;
    ++count;
    bytes += record.size() + value.size();
  });
  for (const auto& [record, value] : values) {
    if (value.empty()) continue;
    ++count;
    bytes += record.size() + value.size();
  }
  if (count > policies_max && count > before) {
    return "ERR there would be " + std::to_string(count) + " policies, and policies-max is " +
           std::to_string(policies_max);
  }
  if (bytes > kPoliciesBytesMax) {
    return "ERR all policies together would take " + std::to_string(bytes) +
           " bytes, and may take " + std::to_string(kPoliciesBytesMax);
  }
  for (const auto& [name, policy] : changes) {
    policy ? replace(name, *policy) : static_cast<void>(erase(name));
  }
  return {};
}

bool Policies::erase(std::string_view name) {
  const std::string record = record_name(name);
  storage::Ref ref = keys_.look_up_system(record);
  if (!ref.exists()) return false;
  if (const Policy* policy = find(name); policy != nullptr) drop_overrides(policy->overrides);
  erase_reports(name);
  ref = keys_.look_up_system(record);
  keys_.erase(&ref);
  return true;
}

void Policies::drop_overrides(const OverrideSet& set) {
  if (set.count == 0) return;
  std::string count;
  storage::put_varint(&count, set.count);
  const std::string drop = std::string(kDropPrefix) + std::to_string(set.id);
  storage::Ref ref = keys_.look_up_system(drop);
  keys_.put(&ref, storage::Type::kSystem, count, 0);
  may_drop_ = true;
}

void Policies::replace(std::string_view name, const Policy& policy) {
  const Policy* before = find(name);
  if (before != nullptr &&
      algorithms::format_limits(before->limits) != algorithms::format_limits(policy.limits)) {
    erase_reports(name);
  }
  put(name, policy);
}

void Policies::put(std::string_view name, const Policy& policy) {
  const std::string record = record_name(name);
  storage::Ref ref = keys_.look_up_system(record);
  keys_.put(&ref, storage::Type::kSystem, encode(policy), 0);
}

void Policies::drop_some() {
  if (!may_drop_) return;
  std::string record;
  uint64_t count = 0;
  keys_.visit_system(kDropPrefix, [&](std::string_view name, std::string_view value) {
    record = name;
    count = storage::Reader(value).varint();
  });
  if (record.empty()) {
    may_drop_ = false;
    return;
  }
  const uint64_t set = std::strtoull(record.c_str() + kDropPrefix.size(), nullptr, 10);
  const uint64_t left = erase_last_overrides(keys_, set, count, kDroppedAtOnce);
  storage::Ref ref = keys_.look_up_system(record);
  if (left == 0) return keys_.erase(&ref);
  std::string value;
  storage::put_varint(&value, left);
  keys_.put(&ref, storage::Type::kSystem, value, 0);
}

std::vector<std::string> Policies::names() const {
  std::vector<std::string> names;
  visit([&](std::string_view record, std::string_view) {
    names.emplace_back(record.substr(kPolicyPrefix.size()));
  });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace weir::server
