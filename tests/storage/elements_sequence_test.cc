// Lists whose elements stand in the order of their numbers.
#include "tests/storage/elements_fixture.h"

namespace weir::storage {
namespace {

// Neighbours in memory and, as far as a stored key tells key orders apart, on disk.
TEST_F(ElementsTest, NumbersOfAListInSequenceStandInTheirOrder) {
  const auto place = [](ElementsId id, uint64_t value) {
    return key_order_of_element(id, number(value), {1, 2});
  };
  constexpr uint64_t kMiddle = uint64_t{1} << 63;
  constexpr uint64_t kAround = uint64_t{1} << kElementHashBits;
  for (uint64_t i = 0; i < 5'000; ++i) {
    ASSERT_EQ(place(2, kMiddle + i * kSequenceStep), first_key_order(2) + i);
    ASSERT_EQ(place(2, kMiddle - (i + 1) * kSequenceStep), last_key_order(2) - i);
  }
  EXPECT_EQ(place(2, kAround * kSequenceStep), place(2, 0));
  EXPECT_EQ(layout_of(2), Layout::kInSequence);
  EXPECT_EQ(layout_of(3), Layout::kScattered);
  EXPECT_NE(place(3, kSequenceStep) - place(3, 0), 1u);
  EXPECT_NE(key_order_of_element(2, "seven b", {1, 2}), key_order_of_element(2, "seven b", {3, 4}));
}

// Of two elements with one stored key order, the one that comes first in memory is the second here.
TEST_F(ElementsTest, AWriteBackAscendsByWhatIsStored) {
  const std::string low = number(kSequenceStep);
  const std::string high = number(kSequenceStep << kElementHashBits);
  ASSERT_GT(key_order_of_element(2, low, {1, 2}), key_order_of_element(2, high, {1, 2}));
  layout_ = Layout::kInSequence;
  const Record record = header_of({{low, {1, "a"}}, {high, {2, "b"}}});
  keys();
  put_record(0, "l", record);
  commit();
  must_write_back();
  EXPECT_EQ(elements_in_state(), 2u);
  crash();
  expect_records({{{"l", record}}, {}, {}});
}

}  // namespace
}  // namespace weir::storage
