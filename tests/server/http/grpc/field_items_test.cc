// Lists of RateLimit-Policy, taken apart.
#include "server/http/grpc/field_items.h"

#include <gtest/gtest.h>

namespace weir::server::grpc {
namespace {

constexpr std::string_view kList =
    "\"api\";q=100;w=60, \"a, b;q=9\";q=7, \"pool\";q=5;qu=\"concurrent-requests\"";

TEST(FieldItems, AreCutByTheirNumber) {
  std::string_view list = kList;
  EXPECT_EQ(cut_items(0, &list), "");
  EXPECT_EQ(cut_items(2, &list), "\"api\";q=100;w=60, \"a, b;q=9\";q=7");
  EXPECT_EQ(list, "\"pool\";q=5;qu=\"concurrent-requests\"");
  EXPECT_EQ(cut_items(3, &list), "\"pool\";q=5;qu=\"concurrent-requests\"");
  EXPECT_EQ(list, "");
  EXPECT_EQ(cut_items(1, &list), "");
}

TEST(FieldItems, ParametersStandAfterTheName) {
  EXPECT_EQ(item_parameter(kList, 0, ";q="), 100);
  EXPECT_EQ(item_parameter(kList, 0, ";w="), 60);
  EXPECT_EQ(item_parameter(kList, 1, ";q="), 7);
  EXPECT_EQ(item_parameter(kList, 1, ";w="), -1);
  EXPECT_EQ(item_parameter(kList, 2, ";q="), 5);
  EXPECT_EQ(item_parameter(kList, 3, ";q="), -1);
  EXPECT_EQ(item_parameter("", 0, ";q="), -1);
}

}  // namespace
}  // namespace weir::server::grpc
