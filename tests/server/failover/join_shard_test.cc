// Which options a member of a shard refuses.
#include "server/failover/member/join_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::server {
namespace {

std::string refusal(const Config& config) {
  const auto checked = check_member_options(config);
  return checked ? std::string() : checked.error();
}

TEST(JoinShard, ClientsAreToldOneAddress) {
  Config config;
  config.bind = {"127.0.0.1"};
  EXPECT_EQ(refusal(config), "");
  config.port = 7000;
  config.tls_port = 7001;
  EXPECT_EQ(refusal(config),
            "log: clients are told one port, for TLS or not: set cluster-announce-port to 7001 "
            "(tls-port) or to 7000 (port), or port to 0");
  config.cluster_announce_port = 7001;
  EXPECT_EQ(refusal(config), "");
  config.bind = {"*"};
  EXPECT_NE(refusal(config), "") << "no address";
  config.cluster_announce_hostname = "weir-1.example.com";
  EXPECT_EQ(refusal(config), "");
  config.cluster_announce_ip = "10.0.0.1";
  EXPECT_EQ(refusal(config),
            "log: clients are told one host: set cluster-announce-ip or cluster-announce-hostname, "
            "not both");
}

TEST(JoinShard, SpeaksTheClusterProtocolWithoutATopology) {
  Config config;
  config.bind = {"127.0.0.1"};
  config.cluster_enabled = true;
  EXPECT_EQ(refusal(config), "");
  config.cluster_topology = "topology";
  EXPECT_EQ(refusal(config),
            "log: cluster-topology is for servers of no shard; a shard's slots are in its log");
}

}  // namespace
}  // namespace weir::server
