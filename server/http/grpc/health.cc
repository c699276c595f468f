#include "server/http/grpc/health.h"

#include "base/protobuf.h"
#include "server/core/metrics/metrics.h"
#include "server/core/run/server.h"
#include "server/http/grpc/wire.h"

namespace weir::server::grpc {
namespace {

// Fields and numbers of grpc/health/v1/health.proto. DO NOT CHANGE.
constexpr uint32_t kServiceField = 1;
constexpr uint32_t kServingStatusField = 1;
constexpr uint64_t kServing = 1;
constexpr uint64_t kNotServing = 2;

}  // namespace

Result<std::string, Status> check_health(Server& server, std::string_view message) {
  std::string_view service;
  WireReader reader(message);
  while (reader.next()) {
    if (reader.is_bytes(kServiceField)) service = reader.bytes();
  }
  if (!reader.ok()) return Status{Code::kInvalidArgument, "this is no HealthCheckRequest"};
  if (!service.empty() && service != kRateLimitService && service != kKuadrantService) {
    return Status{Code::kNotFound, "the services are '', " + std::string(kRateLimitService) +
                                       " and " + std::string(kKuadrantService)};
  }
  const bool serves = unserving_reason(server).empty() && unready_reason(server).empty();
  ProtobufWriter response;
  response.nonzero(kServingStatusField, serves ? kServing : kNotServing);
  return response.message();
}

}  // namespace weir::server::grpc
