// Options that are right by themselves and wrong together.
#include "server/config/config_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kMemory = 1 << 30;

std::vector<std::string> faults(const Config& config) { return config_faults(config, kMemory); }

TEST(ConfigFaults, TheDefaultsHaveNone) { EXPECT_THAT(faults({}), IsEmpty()); }

TEST(ConfigFaults, NoPortAtAll) {
  Config config;
  config.port = 0;
  config.metrics_port = 9121;
  EXPECT_THAT(faults(config), ElementsAre(HasSubstr("nothing to listen on")));
  config.http_port = 7080;
  EXPECT_THAT(faults(config), IsEmpty());
  config.grpc_tls_port = std::exchange(config.http_port, 0);
  EXPECT_THAT(faults(config), ElementsAre(HasSubstr("policies-file, which has its rules, is not")));
  config.policies_file = "policies";
  EXPECT_THAT(faults(config), IsEmpty());
  config.grpc_port = config.metrics_port;
  EXPECT_THAT(faults(config), ElementsAre("grpc-port and metrics-port are both 9121"));
}

TEST(ConfigFaults, EqualPorts) {
  Config config;
  config.metrics_port = config.port;
  EXPECT_THAT(faults(config), ElementsAre("port and metrics-port are both 6379"));
  config.metrics_bind = {"192.0.2.1"};
  EXPECT_THAT(faults(config), IsEmpty());
  config.bind = {"*", "-::*"};
  EXPECT_THAT(faults(config), ElementsAre("port and metrics-port are both 6379"));
  config.metrics_bind = {"::1"};
  EXPECT_THAT(faults(config), ElementsAre("port and metrics-port are both 6379"));
  config.bind = {"0.0.0.0"};
  EXPECT_THAT(faults(config), IsEmpty());
}

TEST(ConfigFaults, MoreMaxmemoryThanThereIs) {
  Config config;
  config.maxmemory = kMemory;
  EXPECT_THAT(faults(config), IsEmpty());
  config.maxmemory = kMemory + 1;
  EXPECT_THAT(faults(config), ElementsAre(HasSubstr("maxmemory is 1073741825 bytes, more than")));
}

}  // namespace
}  // namespace weir::server
