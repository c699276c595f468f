#include "server/http/grpc/methods.h"

#include <algorithm>

#include "server/http/grpc/rate_limit_ask.h"
#include "server/http/grpc/rate_limit_messages.h"
#include "server/http/grpc/reservation.h"

namespace weir::server::grpc {
namespace {

constexpr std::string_view kPaths[] = {kShouldRateLimitPath, kCheckRateLimitPath, kReportPath,
                                       kReservePath, kCommitPath};

RateLimitMethod method_of(std::string_view path) {
  if (path == kCheckRateLimitPath) return RateLimitMethod::kCheckRateLimit;
  if (path == kReportPath) return RateLimitMethod::kReport;
  return RateLimitMethod::kShouldRateLimit;
}

}  // namespace

bool asks_limiters(std::string_view path) {
  return std::ranges::find(kPaths, path) != std::end(kPaths);
}

std::string list_of_methods() {
  std::string list;
  for (const std::string_view path : kPaths) list += std::string(path) + ", ";
  return list;
}

Result<std::unique_ptr<Ask>, Status> read_ask(std::string_view path, std::string_view message,
                                              const DescriptorRules& rules) {
  const auto wrong = [](const std::string& why) { return Status{Code::kInvalidArgument, why}; };
  if (path == kReservePath) {
    const auto asked = read_reserve_request(message);
    if (!asked) return wrong(asked.error());
    return Reservation::reserve(*asked, rules);
  }
  if (path == kCommitPath) {
    const auto asked = read_commit_request(message);
    if (!asked) return wrong(asked.error());
    return Reservation::commit(*asked, rules);
  }
  const auto asked = read_rate_limit_request(message);
  if (!asked) return wrong(asked.error());
  return RateLimitAsk::make(*asked, rules, method_of(path));
}

}  // namespace weir::server::grpc
