// All endpoints under /v1/.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/v1/endpoint.h"

namespace weir::server::http {

inline constexpr std::string_view kV1 = "/v1/";
inline constexpr std::string_view kBatchPath = "/v1/batch";
inline constexpr std::string_view kOpenApiPath = "/v1/openapi.json";

// Those of keys, and those of policies.
std::span<const Endpoint> key_endpoints();
std::span<const Endpoint> policy_endpoints();

std::vector<const Endpoint*> all_endpoints();
// By what stands after /v1/; null if there is none.
const Endpoint* find_endpoint(std::string_view path);
// In any case; null if there is none.
const Member* find_member(std::span<const Member> members, std::string_view name);
// "rl.policy|set", as the command's row is called.
std::string row_name(const Endpoint& endpoint);

}  // namespace weir::server::http
