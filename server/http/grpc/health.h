// grpc.health.v1.Health/Check: whether this server answers calls that take. The services that it
// knows are "", all of them, and Envoy's and Kuadrant's.
//
// Watch is not there: a client that wants it is answered UNIMPLEMENTED, and takes the server for
// healthy (gRPC's own clients) or asks Check (proxies).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "server/http/grpc/status.h"

namespace weir::server {

class Server;

namespace grpc {

inline constexpr std::string_view kHealthCheckPath = "/grpc.health.v1.Health/Check";
inline constexpr std::string_view kRateLimitService = "envoy.service.ratelimit.v3.RateLimitService";
inline constexpr std::string_view kKuadrantService =
    "kuadrant.service.ratelimit.v1.RateLimitService";

// Answers the response to a request, both as they are on the wire. It is SERVING where this server
// serves requests for data and its disk takes writes.
Result<std::string, Status> check_health(Server& server, std::string_view message);

}  // namespace grpc
}  // namespace weir::server
