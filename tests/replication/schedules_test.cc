#include "tests/replication/schedules.h"

#include <gtest/gtest.h>

#include "tests/replication/violation.h"

namespace weir::storage::replication {
namespace {

class ScheduleTest : public testing::TestWithParam<Schedule> {};

TEST_P(ScheduleTest, Holds) { EXPECT_NO_THROW(GetParam().run({})); }

INSTANTIATE_TEST_SUITE_P(All, ScheduleTest, testing::ValuesIn(schedules()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weir::storage::replication
