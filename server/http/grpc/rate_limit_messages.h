// The messages of envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit and of Kuadrant's
// service, as far as they mean something here. Fields that are not named are passed over; what is
// answered has no others.
//
// Numbers of fields are those of envoy/service/ratelimit/v3/rls.proto, of
// envoy/extensions/common/ratelimit/v3/ratelimit.proto and of kuadrantrls.proto. DO NOT CHANGE.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/limiter/policy/descriptor_rules.h"

namespace weir::server::grpc {

// A request has no more; what proxies send has a handful.
inline constexpr size_t kDescriptorsMax = 64;

// The numbers are on the wire. DO NOT CHANGE. A week may be asked for, and is answered as seven
// days: an Envoy that does not know it would end by it.
enum class Unit : uint8_t {
  kUnknown = 0,
  kSecond = 1,
  kMinute = 2,
  kHour = 3,
  kDay = 4,
  kMonth = 5,
  kYear = 6,
  kWeek = 7,
};
enum class Verdict : uint8_t { kOk = 1, kOverLimit = 2 };

struct LimitOverride {
  uint32_t requests = 0;    // in a period of
  uint64_t multiplier = 1;  // so many
  uint64_t unit = 0;        // of a Unit, or of a number that none has
};

struct Descriptor {
  std::vector<DescriptorEntry> entries;
  std::optional<LimitOverride> limit;
  std::optional<uint64_t> hits;  // nothing: those of the request
  bool gives_back = false;       // the hits
};

// It points into the message that it was read from.
struct RateLimitRequest {
  std::string_view domain;
  std::vector<Descriptor> descriptors;
  uint64_t hits = 1;  // the message has 0 where it says nothing
  bool has_hits = false;
};

// Of Kuadrant's Reserve and Commit. They point into their messages, too.
struct ReserveRequest {
  std::string_view domain;
  std::vector<Descriptor> descriptors;
  uint64_t amount = 0;
  std::optional<int64_t> ttl_ms;  // rounded up
};
struct CommitRequest {
  std::string_view domain;
  std::vector<Descriptor> descriptors;
  std::string_view reservation_id;
  uint64_t amount = 0;
};

// The error says what is wrong with the message.
Result<RateLimitRequest, std::string> read_rate_limit_request(std::string_view message);
Result<ReserveRequest, std::string> read_reserve_request(std::string_view message);
Result<CommitRequest, std::string> read_commit_request(std::string_view message);

struct CurrentLimit {
  std::string name = {};
  uint32_t requests = 0;
  Unit unit = Unit::kUnknown;
  uint32_t multiplier = 1;  // of the unit; before it was there, proxies took it for 1
};

struct DescriptorStatus {
  Verdict verdict = Verdict::kOk;
  std::optional<CurrentLimit> limit = {};
  uint32_t remaining = 0;
  std::optional<int64_t> reset_ms = {};
};

struct RateLimitResponse {
  Verdict verdict = Verdict::kOk;
  std::vector<DescriptorStatus> statuses = {};                    // in the descriptors' order
  std::vector<std::pair<std::string, std::string>> headers = {};  // for the caller's response
  std::string metadata = {};                                      // a message (metadata.h)
};

std::string written(const RateLimitResponse& response);

}  // namespace weir::server::grpc
