// cluster-seeds: addresses of members of other shards.
#include <gtest/gtest.h>

#include <string>

#include "server/config/config_checks.h"

namespace weir::server {
namespace {

std::string accepted(std::string value) {
  const auto accepts = accept_seeds(&value);
  return accepts ? value : "refused: " + accepts.error().plain;
}

TEST(Seeds, AreAddressesWithBlanksBetween) {
  EXPECT_EQ(accepted(""), "");
  EXPECT_EQ(accepted("  10.0.0.1:7001   [::1]:7002\tweir-c.example:7003 "),
            "10.0.0.1:7001 [::1]:7002 weir-c.example:7003");
  for (const char* wrong : {"10.0.0.1", "10.0.0.1:0", "10.0.0.1:65536", "a:1,b:2", "h\x01:1", ":1"})
    EXPECT_TRUE(accepted(wrong).starts_with("refused: must be up to 64 addresses")) << wrong;
  std::string many;
  for (int seed = 0; seed < 65; ++seed) many += "h:1 ";
  EXPECT_TRUE(accepted(many).starts_with("refused: "));
  EXPECT_EQ(accepted(many.substr(4)).size(), 64 * 4 - 1u);
}

}  // namespace
}  // namespace weir::server
