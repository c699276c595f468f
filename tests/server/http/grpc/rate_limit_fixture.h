// A whole server with rules of Envoy's rate limit service, and a client that asks it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/server/config_fixture.h"
#include "tests/server/http/grpc/grpc_fixture.h"
#include "tests/server/http/grpc/rate_limit_client.h"
#include "tests/server/rl_fixture.h"

namespace weir::server::grpc {

inline constexpr std::string_view kPolicies =
    "policy user FIXED 3/1h\n"
    "policy tenant FIXED 10/1m AS tenant\n"
    "policy minute 60/1m BURST 5\n"
    "policy shade FIXED 1/1h SHADOW\n"
    "policy tokens FIXED 100/1h\n"
    "policy free UNLIMITED\n"
    "policy shut BLOCKED\n"
    "policy two FIXED 5/1m FIXED 2/1d\n"
    "rls site user POLICY user KEY u:{user}\n"
    "rls site tenant POLICY tenant KEY t:{tenant} HEADERS\n"
    "rls site minute POLICY minute\n"
    "rls site shade POLICY shade\n"
    "rls site free POLICY free\n"
    "rls site shut POLICY shut\n"
    "rls site two POLICY two KEY two HEADERS\n"
    "rls site told POLICY tenant KEY told:{told} METADATA\n"
    "rls site same POLICY tenant KEY u:{same}\n"
    "rls llm model POLICY tokens KEY m:{model} FORCE\n"
    "rls llm user POLICY user KEY u:{user}\n"
    "rls llm shade POLICY shade FORCE\n";

// A folder with the file of policies, and options that name it.
class RateLimitFolder : public ConfigTest {
 protected:
  Config config() {
    Config config;
    config.dir = folder_.string();
    config.policies_file = "policies";
    write(std::string(kPolicies), "policies");
    return config;
  }
};

class RateLimitTest : public RateLimitFolder {
 protected:
  explicit RateLimitTest(const std::function<void(Config*)>& change = {}) {
    Config options = config();
    if (change) change(&options);
    grpc_ = std::make_unique<GrpcConnection>(std::move(options));
  }

  void go() { grpc_->go(); }
  int32_t begin(const std::vector<AskedDescriptor>& descriptors, const TestFields& more = {},
                std::string_view domain = "site", uint32_t hits = 0) {
    return client().call(path_, request_bytes(domain, descriptors, hits), more);
  }
  // The response, or the status of an error with its text.
  std::string text_of(int32_t stream) {
    const Answered& answer = client().of(stream);
    if (answer.status() != "0") return answer.status() + " " + answer.text();
    return response_text(answer.message());
  }
  std::string ask(const std::vector<AskedDescriptor>& descriptors, const TestFields& more = {},
                  std::string_view domain = "site", uint32_t hits = 0) {
    const int32_t stream = begin(descriptors, more, domain, hits);
    go();
    return text_of(stream);
  }
  std::string llm(const std::vector<AskedDescriptor>& descriptors) {
    return ask(descriptors, {}, "llm");
  }
  std::string by(std::string_view path, const AskedDescriptor& descriptor, uint32_t hits = 0) {
    path_ = path;
    return ask({descriptor}, {}, "site", hits);
  }
  std::string redis(std::string_view line) {
    const auto client = server().connect();
    std::string text = server::ask(*client, line);
    client->leave();
    return text;
  }
  FakeServer& server() { return grpc_->one.server; }
  GrpcClient& client() { return grpc_->client; }
  const Stats& stats() { return server()->report().stats; }

  std::unique_ptr<GrpcConnection> grpc_;
  std::string_view path_ = kShouldRateLimitPath;
};

inline AskedDescriptor of(std::string name, std::string value = "x") {
  return {.entries = {{std::move(name), std::move(value)}}};
}
inline AskedDescriptor with_hits(AskedDescriptor descriptor, uint64_t hits,
                                 bool gives_back = false) {
  descriptor.hits = hits;
  descriptor.gives_back = gives_back;
  return descriptor;
}
inline AskedDescriptor with_limit(AskedDescriptor descriptor, uint32_t requests, Unit unit) {
  descriptor.limit = {requests, unit};
  return descriptor;
}

}  // namespace weir::server::grpc
