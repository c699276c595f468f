// Which files of a topology a server takes after another, and as whom.
#include <gmock/gmock.h>

#include "server/core/run/cluster.h"
#include "tests/server/core/cluster_fixture.h"

namespace weir::server {
namespace {

using testing::HasSubstr;

TEST_F(ClusterTest, AFileIsTakenAsAWholeOrNotAtAll) {
  write_topology(kTwo);
  start();
  write_topology("epoch 4\nx h:1 0-16383\n");
  EXPECT_EQ(reload(), "");
  EXPECT_EQ(ask("GET b"), "(nil)");
  write_topology("epoch 5\nx h:1 0-16382\n");
  EXPECT_THAT(reload(), HasSubstr("nobody has the slots 16383-16383"));
  write_topology(kTwo);
  EXPECT_THAT(reload(), HasSubstr("has epoch 3, and this server has seen epoch 4"));
  write_topology("epoch 4\nx h:1 1-16383\ny g:2 0-0\n");
  EXPECT_THAT(reload(), HasSubstr("a changed file needs a higher epoch"));
  write_topology("epoch 5\nz g:1 0-16383\n");
  EXPECT_THAT(reload(), HasSubstr("no line is for this server with port 1; set "));
  EXPECT_EQ(ask("GET b"), "(nil)");
}

// A slip of the hand would use up all epochs below it.
TEST_F(ClusterTest, AnEpochFarAboveTheLastIsMeant) {
  write_topology("epoch 300000\nx h:1 0-16383\n");
  start();  // the first one that it sees
  write_topology("epoch 320001\nx h:1 0-16383\n");
  EXPECT_THAT(reload(), HasSubstr("the line is 'epoch 320001 jump'"));
  write_topology("epoch 300001\nx h:1 0-16383\n");
  EXPECT_EQ(reload(), "");
  write_topology("epoch 320001\nx h:1 0-16383\n");
  EXPECT_EQ(reload(), "");
  write_topology("epoch 17116384 jump\nx h:1 0-16383\n");
  EXPECT_EQ(reload(), "");
  write_topology("epoch 17116384\nx h:1 0-16383\n");
  EXPECT_EQ(reload(), "") << "the word says nothing of who has what";
  write_topology("epoch 17116385\nx h:1 0-16383\n");
  EXPECT_EQ(reload(), "");
}

TEST_F(ClusterTest, ADirectoryKeepsItsNameAndEpoch) {
  write_topology(kTwo);
  start();
  stop();
  write_topology("epoch 2\nx h:1 8192-16383\ny g:2 0-8191\n");
  EXPECT_THAT(refusal(), HasSubstr("it is an older file"));
  write_topology("epoch 9\ny h:1 8192-16383\nx g:2 0-8191\n");
  EXPECT_THAT(refusal(), HasSubstr("this server is 'y' there, and its directory"));
  std::ofstream(config_.dir + "/NODE") << "rubbish";
  EXPECT_THAT(refusal(), HasSubstr("it is not a file that weir has written"));
}

}  // namespace
}  // namespace weir::server
