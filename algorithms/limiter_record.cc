#include "algorithms/limiter_record.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "algorithms/grammar.h"
#include "base/check.h"
#include "base/time_units.h"

namespace weir::algorithms {
namespace {

constexpr size_t kParameterBytesMax = kLimiterRecordBytesMax - kStateBytesMax;

// Sizes that have to agree.
constexpr size_t kNumbersOfLimit = 3 + std::tuple_size_v<decltype(Limit::options)>;
static_assert(kParameterBytesMax ==
              1 + 1 + kVarintBytesMax * kNumbersOfLimit + 1 + kZoneNameBytesMax);
static_assert(kStateBytesMax == kVarintBytesMax * std::extent_v<decltype(State::words)>);
static_assert(std::tuple_size_v<decltype(Limit::options)> ==
              std::tuple_size_v<decltype(LimitSpec::options)>);
static_assert(std::tuple_size_v<decltype(Limit::options)> <= kOptionsMax,
              "each option of a limit is written as an option of its grammar");
constexpr size_t kPolicyTagBytesMax = 3;
constexpr size_t kHeadBytesMax = 2 + 1 + 2 * kVarintBytesMax + kLimitsMax * kPolicyTagBytesMax;
constexpr uint64_t kFlagUnit = 32;  // DO NOT CHANGE this, nor the flags
constexpr uint64_t kSomeNamed = 1;
constexpr uint64_t kHasPolicy = 2;
constexpr uint64_t kHasBookings = 4;
constexpr uint64_t kHasHolds = 8;
constexpr uint64_t kHasBans = 16;
constexpr uint64_t kHasChanges = 32;
constexpr uint64_t kHasPolicies = 64;
constexpr uint64_t kRecordFlags = 2 * kHasPolicies - 1;
constexpr uint8_t kAdaptive = 128;  // added to the algorithm's id

// The divisors are constants for speed: a decision on a stored state comes here twice.
void write_period(int64_t period_ns, Writer& out) {
  const auto ns = static_cast<uint64_t>(period_ns);
  if (ns % kNsPerS == 0) return out.varint(ns / kNsPerS * 4 + 3);
  if (ns % kNsPerMs == 0) return out.varint(ns / kNsPerMs * 4 + 2);
  if (ns % kNsPerUs == 0) return out.varint(ns / kNsPerUs * 4 + 1);
  out.varint(ns * 4);
}

// Answers 0, which no limit accepts, if the period is longer than any may be.
int64_t read_period(Reader& in) {
  static constexpr int64_t kUnitsNs[] = {1, kNsPerUs, kNsPerMs, kNsPerS};
  const uint64_t coded = in.varint();
  const int64_t unit_ns = kUnitsNs[coded & 3];
  if (coded / 4 > static_cast<uint64_t>(kPeriodNsMax / unit_ns)) return 0;
  return static_cast<int64_t>(coded / 4) * unit_ns;
}

void write_parameters(const Limit& limit, Writer& out, uint8_t more = 0) {
  out.byte(static_cast<uint8_t>(limit.algorithm->id + more));
  out.varint(static_cast<uint64_t>(limit.count));
  write_period(limit.period_ns, out);
  out.varint(static_cast<uint64_t>(limit.capacity));
  for (size_t i = 0; i < limit.algorithm->options_used; ++i) out.zigzag(limit.options[i]);
  if (limit.zone != nullptr) out.text(limit.zone->name());
}

Result<Limit, RecordError> read_parameters(uint8_t id, Reader& in, const Zones* zones) {
  LimitSpec spec{.algorithm = find_algorithm(id)};
  if (!in.ok()) return RecordError::kTruncated;
  if (spec.algorithm == nullptr) return RecordError::kUnknownAlgorithm;
  spec.count = static_cast<int64_t>(in.varint());
  spec.period_ns = read_period(in);
  spec.capacity = static_cast<int64_t>(in.varint());
  for (size_t i = 0; i < spec.algorithm->options_used; ++i) spec.options[i] = in.zigzag();
  const auto has_zone = spec.algorithm->has_zone;
  if (has_zone != nullptr && has_zone(spec.options)) {
    const std::string_view name = in.text();
    if (!in.ok()) return RecordError::kTruncated;
    spec.zone = zones == nullptr ? nullptr : zones->find(name);
    if (spec.zone == nullptr) return RecordError::kUnknownZone;
  }
  if (!in.ok()) return RecordError::kTruncated;
  const auto limit = make_limit(spec);
  if (!limit) return RecordError::kBadLimit;
  return *limit;
}

std::optional<RecordError> read_limit(Reader& in, const Zones* zones, LimitState& out) {
  const uint8_t id = in.byte();
  const bool adapts = id >= kAdaptive;
  const auto limit = read_parameters(adapts ? static_cast<uint8_t>(id - kAdaptive) : id, in, zones);
  if (!limit) return limit.error();
  out.limit = *limit;
  out.ban = {};
  out.adaptive = {};
  out.low_water = {};
  if (adapts && !read_adaptive(in, out.limit, out.adaptive)) {
    return in.ok() ? RecordError::kBadAdaptive : RecordError::kTruncated;
  }
  if (out.limit.algorithm->read_state(out.limit, in, out.state)) return std::nullopt;
  return in.ok() ? RecordError::kBadState : RecordError::kTruncated;
}

bool has_ban(const LimitState& each) { return each.limit.ban.is_set() || !each.ban.empty(); }

void write_bans(std::span<const LimitState> limits, std::string& out) {
  const auto number = [&out](int64_t value) {
    char bytes[kVarintBytesMax];
    out.append(bytes, put_varint(bytes, static_cast<uint64_t>(value)));
  };
  number(std::count_if(limits.begin(), limits.end(), has_ban));
  for (size_t i = 0; i < limits.size(); ++i) {
    if (!has_ban(limits[i])) continue;
    const Ban& rule = limits[i].limit.ban;
    const BanState& state = limits[i].ban;
    number(static_cast<int64_t>(i));
    number(rule.after);
    if (rule.is_set()) {
      number(rule.for_ns);
      number(rule.within_ns);
    }
    number(state.until_ns);
    number(static_cast<int64_t>(state.denials.size()));
    int64_t before_ns = 0;
    for (const int64_t denial_ns : state.denials) {
      number(denial_ns - before_ns);
      before_ns = denial_ns;
    }
  }
}

bool is_period(uint64_t ns) { return ns >= uint64_t{kPeriodNsMin} && ns <= uint64_t{kPeriodNsMax}; }

// False for bytes that are no rule.
bool read_rule(Reader& in, Ban& rule) {
  const uint64_t after = in.varint();
  if (after == 0) return in.ok();
  const uint64_t for_ns = in.varint(), within_ns = in.varint();
  if (after > uint64_t{kBanAfterMax} || !is_period(for_ns) || !is_period(within_ns)) return false;
  rule = {.for_ns = int64_t(for_ns), .within_ns = int64_t(within_ns), .after = int64_t(after)};
  return in.ok();
}

bool read_ban_state(Reader& in, const Ban& rule, BanState& state) {
  const uint64_t until_ns = in.varint(), denials = in.varint();
  if (until_ns > uint64_t{kInstantNsMax + kPeriodNsMax}) return false;
  if (denials > 0 && denials >= static_cast<uint64_t>(rule.after)) return false;
  state.until_ns = int64_t(until_ns);
  uint64_t at_ns = 0;
  for (uint64_t i = 0; i < denials && in.ok(); ++i) {
    const uint64_t step_ns = in.varint();
    if (step_ns > uint64_t{kInstantNsMax} - at_ns) return false;
    at_ns += step_ns;
    state.denials.push_back(int64_t(at_ns));
  }
  return in.ok();
}

bool read_bans(Reader& in, std::span<LimitState> limits) {
  uint64_t left = in.varint();
  if (!in.ok() || left == 0) return false;
  for (uint64_t first = 0; left > 0; --left) {
    const uint64_t index = in.varint();
    if (index < first || index >= limits.size()) return false;
    LimitState& each = limits[index];
    if (!read_rule(in, each.limit.ban) || !read_ban_state(in, each.limit.ban, each.ban)) {
      return false;
    }
    if (!has_ban(each)) return false;
    first = index + 1;
  }
  return true;
}

bool is_of_policy(const LimitState& each) { return each.policy != 0; }

// False for tags that are none.
bool read_policies(Reader& in, bool has_policies, std::span<LimitState> limits) {
  return std::ranges::all_of(limits, [&](LimitState& each) {
    const uint64_t tag = has_policies ? in.varint() : 0;
    each.policy = static_cast<uint32_t>(tag);
    return tag < kPolicyTags;
  });
}

void write_low_water(std::span<const LimitState> limits, std::string& out) {
  for (const LimitState& each : limits) {
    char bytes[LowWater::kBytesMax];
    Writer writer(bytes, sizeof bytes);
    each.low_water.write(writer);
    WEIR_REQUIRE(writer.ok());
    out.append(bytes, writer.size());
  }
}

bool read_low_water(Reader& in, uint64_t newest_change, std::span<LimitState> limits) {
  return std::ranges::all_of(
      limits, [&](LimitState& each) { return each.low_water.read(in, newest_change); });
}

void write_head(const FewLimits& few, Writer& out) {
  const size_t count = few.limits.size();
  WEIR_REQUIRE(count >= 1 && count <= kFewLimitsMax);
  const auto policies = std::span(few.policies).first(count);
  const bool has_policies = std::ranges::any_of(policies, [](uint32_t tag) { return tag != 0; });
  const bool has_policy = few.policy_version != 0;
  out.varint(count +
             kFlagUnit * ((has_policy ? kHasPolicy : 0) + (has_policies ? kHasPolicies : 0)));
  if (has_policy) out.varint(few.policy_version);
  if (!has_policies) return;
  for (const uint32_t tag : policies) out.varint(tag);
}

// Skips the bytes that `write` writes; false where the record goes on otherwise.
template <typename Write>
bool skip(std::string_view* record, const Write& write) {
  char expected[kParameterBytesMax];
  Writer writer(expected, sizeof expected);
  write(writer);
  if (!record->starts_with({expected, writer.size()})) return false;
  record->remove_prefix(writer.size());
  return true;
}

}  // namespace

std::string_view describe(RecordError error) {
  switch (error) {
    case RecordError::kTruncated:
      return "the limiter record ends too early";
    case RecordError::kTooManyLimits:
      return "the limiter record's number of limits is wrong";
    case RecordError::kBadHead:
      return "the limiter record's head makes no sense";
    case RecordError::kUnknownAlgorithm:
      return "the limiter record names an unknown algorithm";
    case RecordError::kBadLimit:
      return "the limiter record's parameters are out of range";
    case RecordError::kUnknownZone:
      return "the limiter record names a time zone that this machine does not know";
    case RecordError::kBadState:
      return "the limiter record's state is out of range";
    case RecordError::kBadBans:
      return "the limiter record's bans make no sense";
    case RecordError::kBadAdaptive:
      return "the limiter record's ADAPTIVE makes no sense";
    case RecordError::kBadLowWater:
      return "the limiter record's low water makes no sense";
    case RecordError::kTrailingBytes:
      return "the limiter record has bytes after its end";
  }
  WEIR_REQUIRE(false);
}

void append_record(const RecordHead& head, std::span<const LimitState> limits, std::string& out) {
  WEIR_REQUIRE(!limits.empty() && limits.size() <= kLimitsMax);
  WEIR_REQUIRE(head.named >= 1 && head.named <= limits.size());
  const size_t begin = out.size();
  const bool adapts = std::ranges::any_of(
      limits, [](const LimitState& each) { return each.limit.adaptive.is_set(); });
  out.resize(begin + kHeadBytesMax +
             limits.size() * (kLimiterRecordBytesMax + (adapts ? kAdaptiveBytesMax : 0)));
  Writer writer(out.data() + begin, out.size() - begin);
  const bool some_named = head.named != limits.size();
  const bool has_policy = head.policy_version != 0;
  const bool has_bans = std::any_of(limits.begin(), limits.end(), has_ban);
  const bool has_policies = std::ranges::any_of(limits, is_of_policy);
  writer.varint(limits.size() +
                kFlagUnit * ((some_named ? kSomeNamed : 0) + (has_policy ? kHasPolicy : 0) +
                             (head.bookings ? kHasBookings : 0) + (head.holds ? kHasHolds : 0) +
                             (has_bans ? kHasBans : 0) + (head.changes ? kHasChanges : 0) +
                             (has_policies ? kHasPolicies : 0)));
  if (some_named) writer.varint(head.named);
  if (has_policy) writer.varint(head.policy_version);
  if (head.changes) writer.varint(*head.changes);
  for (const LimitState& each : limits) {
    if (has_policies) writer.varint(each.policy);
  }
  for (const LimitState& each : limits) {
    const bool is_adaptive = each.limit.adaptive.is_set();
    write_parameters(each.limit, writer, is_adaptive ? kAdaptive : 0);
    if (is_adaptive) write_adaptive(each.limit.adaptive, each.adaptive, writer);
    each.limit.algorithm->write_state(each.limit, each.state, writer);
  }
  WEIR_REQUIRE(writer.ok());
  out.resize(begin + writer.size());
  if (has_bans) write_bans(limits, out);
  if (head.changes) write_low_water(limits, out);
}

void write_record(std::span<const LimitState> limits, std::string& out) {
  out.clear();
  append_record({.limits = limits.size(), .named = limits.size()}, limits, out);
}

size_t limits_in_record(std::string_view record) {
  Reader in(record);
  const uint64_t first = in.varint();
  return in.ok() ? std::min<size_t>(first % kFlagUnit, kLimitsMax) : 0;
}

Result<RecordHead, RecordError> read_record(std::string_view record, std::span<LimitState> out,
                                            const Zones* zones) {
  Reader in(record);
  const uint64_t first = in.varint();
  if (!in.ok()) return RecordError::kTruncated;
  RecordHead head{.limits = first % kFlagUnit};
  const uint64_t flags = first / kFlagUnit;
  if (head.limits < 1 || head.limits > std::min(kLimitsMax, out.size())) {
    return RecordError::kTooManyLimits;
  }
  head.named = (flags & kSomeNamed) != 0 ? in.varint() : head.limits;
  if ((flags & kHasPolicy) != 0) head.policy_version = in.varint();
  if ((flags & kHasChanges) != 0) head.changes = in.varint();
  head.bookings = (flags & kHasBookings) != 0;
  head.holds = (flags & kHasHolds) != 0;
  if (!in.ok()) return RecordError::kTruncated;
  if (head.changes.value_or(0) > kChangesMax || flags > kRecordFlags || head.named < 1 ||
      head.named > head.limits) {
    return RecordError::kBadHead;
  }
  if (head.changes && !head.bookings && !head.holds) return RecordError::kBadHead;
  if (!read_policies(in, (flags & kHasPolicies) != 0, out.first(head.limits)))
    return RecordError::kBadHead;
  for (size_t i = 0; i < head.limits; ++i) {
    if (const auto error = read_limit(in, zones, out[i])) return *error;
  }
  if ((flags & kHasBans) != 0 && !read_bans(in, out.first(head.limits))) {
    return in.ok() ? RecordError::kBadBans : RecordError::kTruncated;
  }
  if (head.changes && !read_low_water(in, *head.changes, out.first(head.limits))) {
    return in.ok() ? RecordError::kBadLowWater : RecordError::kTruncated;
  }
  if (in.left() != 0) return RecordError::kTrailingBytes;
  return head;
}

size_t write_single(const Limit& limit, const State& state, char* out) {
  Writer writer(out, kLimiterRecordBytesMax);
  writer.varint(1);
  write_parameters(limit, writer);
  limit.algorithm->write_state(limit, state, writer);
  WEIR_REQUIRE(writer.ok());
  return writer.size();
}

bool read_single(std::string_view record, const Limit& limit, State& state) {
  char expected[kParameterBytesMax];
  Writer writer(expected, sizeof(expected));
  writer.varint(1);
  write_parameters(limit, writer);
  const size_t size = writer.size();
  if (record.size() < size || std::memcmp(record.data(), expected, size) != 0) return false;
  Reader in(record.substr(size));
  return limit.algorithm->read_state(limit, in, state) && in.left() == 0;
}

size_t write_few(const FewLimits& few, std::span<const State> states, char* out) {
  Writer writer(out, kFewRecordBytesMax);
  write_head(few, writer);
  for (size_t i = 0; i < few.limits.size(); ++i) {
    write_parameters(few.limits[i], writer);
    few.limits[i].algorithm->write_state(few.limits[i], states[i], writer);
  }
  WEIR_REQUIRE(writer.ok());
  return writer.size();
}

bool read_few(std::string_view record, const FewLimits& few, std::span<State> states) {
  if (!skip(&record, [&](Writer& expected) { write_head(few, expected); })) return false;
  for (size_t i = 0; i < few.limits.size(); ++i) {
    const Limit& limit = few.limits[i];
    if (!skip(&record, [&](Writer& expected) { write_parameters(limit, expected); })) return false;
    Reader in(record);
    if (!limit.algorithm->read_state(limit, in, states[i])) return false;
    record.remove_prefix(record.size() - in.left());
  }
  return record.empty();
}

int64_t expires_at_ms(std::span<const LimitState> limits) {
  int64_t latest_ms = 0;
  for (const LimitState& each : limits) {
    latest_ms = std::max(latest_ms, expires_at_ms(each.limit, each.state));
  }
  return latest_ms;
}

}  // namespace weir::algorithms
