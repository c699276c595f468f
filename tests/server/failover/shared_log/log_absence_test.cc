#include "server/failover/shared_log/log_absence.h"

#include <gtest/gtest.h>

namespace weir::server {
namespace {

TEST(LogAbsence, CountsFromTheFirstAppendWithoutAnswer) {
  LogAbsence absence(10);
  absence.look(1'000);
  EXPECT_FALSE(absence.is_away()) << "nothing was sent";
  EXPECT_EQ(absence.next_deadline(5), INT64_MAX);
  absence.sent(1'000);
  absence.sent(1'008);  // the first was given up
  EXPECT_EQ(absence.next_deadline(5), 1'010);
  absence.look(1'009);
  EXPECT_FALSE(absence.is_away());
  EXPECT_EQ(absence.for_ns(1'009), 9);
  absence.look(1'010);
  EXPECT_TRUE(absence.is_away());
  absence.acknowledged();
  EXPECT_FALSE(absence.is_away());
  EXPECT_EQ(absence.for_ns(2'000), 0);
}

TEST(LogAbsence, OutlastsALeaseOnce) {
  LogAbsence absence(10);
  absence.sent(100);
  absence.acknowledged();
  absence.sent(102);
  absence.look(112);
  EXPECT_FALSE(absence.outlasts(5, 112));
  EXPECT_EQ(absence.next_deadline(5), 115);
  EXPECT_TRUE(absence.outlasts(5, 115));
  EXPECT_FALSE(absence.outlasts(5, 116));
  EXPECT_EQ(absence.next_deadline(5), INT64_MAX);
  absence.acknowledged();
  absence.sent(200);
  absence.look(300);
  EXPECT_TRUE(absence.outlasts(5, 300)) << "another absence";
}

}  // namespace
}  // namespace weir::server
