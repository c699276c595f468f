// The methods that ask of limiters, by the paths of their calls.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/http/grpc/ask.h"
#include "server/http/grpc/status.h"
#include "server/limiter/policy/descriptor_rules.h"

namespace weir::server::grpc {

inline constexpr std::string_view kShouldRateLimitPath =
    "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
inline constexpr std::string_view kCheckRateLimitPath =
    "/kuadrant.service.ratelimit.v1.RateLimitService/CheckRateLimit";
inline constexpr std::string_view kReportPath =
    "/kuadrant.service.ratelimit.v1.RateLimitService/Report";
inline constexpr std::string_view kReservePath =
    "/kuadrant.service.ratelimit.v1.RateLimitService/Reserve";
inline constexpr std::string_view kCommitPath =
    "/kuadrant.service.ratelimit.v1.RateLimitService/Commit";

bool asks_limiters(std::string_view path);
// All of them, with ", " after each.
std::string list_of_methods();

// Reads the message of such a method; nothing of it is needed afterwards.
Result<std::unique_ptr<Ask>, Status> read_ask(std::string_view path, std::string_view message,
                                              const DescriptorRules& rules);

}  // namespace weir::server::grpc
