// Ranges of hash slots as texts, and which of them are in order.
#include "base/slot_ranges.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(SlotRanges, AreReadExactly) {
  EXPECT_EQ(parse_slot_range("0-16383"), (SlotRange{0, 16383}));
  EXPECT_EQ(parse_slot_range("7-7"), (SlotRange{7, 7}));
  for (const char* text :
       {"", "-", "1", "1-", "-1", "2-1", "0-16384", "01-2", "1-02", "+1-2", "1-2-3", " 1-2", "1-2 ",
        "1 -2", "0x1-2", "99999999999999999999-99999999999999999999", "1--2"})
    EXPECT_FALSE(parse_slot_range(text).has_value()) << text;
  for (const SlotRanges& ranges :
       {SlotRanges{}, SlotRanges{{0, 0}}, SlotRanges{{0, 5}, {7, 7}, {9, 16383}}, all_slots()})
    EXPECT_EQ(parse_slot_ranges(slot_ranges_text(ranges)), ranges);
  EXPECT_EQ(slot_ranges_text({}), "none");
  for (const char* text : {"", " ", "none ", "0-5 ", "0-5  7-8", "0-5 6-8", "7-8 0-5", "0-5 5-6"})
    EXPECT_FALSE(parse_slot_ranges(text).has_value()) << text;
}

TEST(SlotRanges, SayWhichSlotsTheyHave) {
  const SlotRanges ranges{{3, 5}, {7, 7}, {100, 16383}};
  ASSERT_TRUE(are_in_order(ranges));
  for (int slot = 0; slot < kHashSlots; ++slot) {
    const bool has = (slot >= 3 && slot <= 5) || slot == 7 || slot >= 100;
    EXPECT_EQ(has_slot(ranges, slot), has) << slot;
  }
  EXPECT_FALSE(has_slot({}, 0));
  EXPECT_TRUE(has_all_slots(all_slots()));
  EXPECT_FALSE(has_all_slots({}));
  EXPECT_FALSE(has_all_slots({{0, 16382}}));
}

}  // namespace
}  // namespace weir
