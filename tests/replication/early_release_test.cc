#include "storage/replication/early_release.h"

#include <gtest/gtest.h>

#include "tests/replication/time_units.h"

namespace weir::storage::replication {
namespace {

TEST(EarlyReleases, NothingLeavesUnlessAsked) {
  EXPECT_FALSE(EarlyReleases({}).allows(1, 0, 0));
  EXPECT_TRUE(EarlyReleases({.age_ns_max = 1}).allows(1, 0, 0));
}

TEST(EarlyReleases, CountPermitsAndNotReplies) {
  EarlyReleases early({.age_ns_max = kSecond, .permits_max = 10});
  EXPECT_FALSE(early.allows(11, 0, 0));
  early.released(1, 7, 0);
  EXPECT_TRUE(early.allows(3, 0, 0));
  EXPECT_FALSE(early.allows(4, 0, 0));
  early.released(2, 3, 0);
  EXPECT_TRUE(early.allows(0, 0, 0)) << "a denial takes nothing";
  early.committed(1);
  EXPECT_EQ(early.permits(), 3u);
  EXPECT_TRUE(early.allows(7, 0, 0));
  EXPECT_EQ(early.lose(), 3u);
  EXPECT_TRUE(early.allows(10, 0, 0));
}

TEST(EarlyReleases, AreNotFarApart) {
  EarlyReleases early({.age_ns_max = kSecond});
  early.released(1, 1, 500);
  early.released(5, 1, 900);
  EXPECT_TRUE(early.allows(1, 0, kSecond + 499));
  EXPECT_FALSE(early.allows(1, 0, kSecond + 500));
  early.committed(4);
  EXPECT_TRUE(early.allows(1, 0, kSecond + 899)) << "the oldest that is not committed counts";
  EXPECT_FALSE(early.allows(1, 0, kSecond + 900));
}

TEST(EarlyReleases, EndWhereTooMuchIsUncommitted) {
  EarlyReleases early({.age_ns_max = kSecond, .permits_max = 0, .uncommitted_bytes_max = 100});
  EXPECT_TRUE(early.allows(1, 99, 0));
  EXPECT_FALSE(early.allows(1, 100, 0));
}

}  // namespace
}  // namespace weir::storage::replication
