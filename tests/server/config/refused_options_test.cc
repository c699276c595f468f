// Options of Redis that weir does not have, and says why.
#include "server/config/refused_options.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/server/config_fixture.h"

namespace weir::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(ConfigTest, OptionsThatWouldPromiseWhatIsNotThereSayWhy) {
  EXPECT_EQ(
      load({"--tls-replication", "yes"}),
      "command line: tls-replication is an option of Redis that weir does not have: a "
      "standby follows a shared log, and is no replica; SAVE and BGSAVE make copies of the data");
  EXPECT_EQ(load({write("port 0\nreplicaof db1 6379\n")}),
            "weir.conf:2: replicaof is an option of Redis that weir does not have: a standby "
            "follows a shared log, and is no replica; SAVE and BGSAVE make copies of the data");
  EXPECT_THAT(load({"--LoadModule", "/x.so", "a"}), HasSubstr("loadmodule is an option of Redis"));
  EXPECT_THAT(load({"--io-threads", "4"}), HasSubstr("one thread serves all clients"));
  EXPECT_THAT(load({"--rename-command", "FLUSHALL", ""}), HasSubstr("ACL rules"));
  EXPECT_THAT(load({"--cluster-node-timeout", "1"}), HasSubstr("cluster-topology"));
  EXPECT_THAT(set({"masterauth", "secret"}),
              AllOf(HasSubstr("ERR Unknown option or number of arguments for CONFIG SET - "
                              "'masterauth': a standby follows a shared log"),
                    testing::Not(HasSubstr("secret"))));
}

TEST_F(ConfigTest, AMistypedOptionIsOfferedWhileRunningToo) {
  EXPECT_EQ(set({"limting", "shadow"}),
            "ERR Unknown option or number of arguments for CONFIG SET - 'limting'; did you mean "
            "'limiting'?");
}

TEST_F(ConfigTest, ValuesThatSayWhatIsSoAreTaken) {
  EXPECT_EQ(load({write("cluster-enabled no\nio-threads 1\ntls-cluster no\nsyslog-enabled NO\n")}),
            "");
  EXPECT_THAT(load({"--tls-cluster", "yes"}), HasSubstr("tls-cluster is an option of Redis"));
  EXPECT_EQ(load({"--cluster-require-full-coverage", "no"}), "");
  EXPECT_THAT(load({"--cluster-require-full-coverage", "yes"}), HasSubstr("keeps no other slot"));
  EXPECT_THAT(load({"--clusters", "no"}), HasSubstr("unknown option 'clusters'"));
}

TEST_F(ConfigTest, WhatIsThereIsNotRefusedForItsFirstWord) {
  EXPECT_EQ(load({"--replica-read-only", "yes"}), "");
  EXPECT_EQ(load({"--aof-rewrite-incremental-fsync", "no"}), "");
}

}  // namespace
}  // namespace weir::server
