// Things that allocate nothing, or seldom.
#include "base/fixed_vector.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <span>
#include <string>

#include "base/spare.h"

namespace weir {
namespace {

TEST(FixedVector, HoldsWhatWasPutInUpToItsSize) {
  FixedVector<std::string, 3> texts;
  EXPECT_TRUE(texts.empty());
  texts.push_back("one");
  texts.emplace_back(3, 'x');
  EXPECT_EQ(texts.back(), "xxx");
  const std::span<const std::string> view = texts;
  EXPECT_EQ(std::accumulate(view.begin(), view.end(), std::string()), "onexxx");
  texts.push_back("three");
  EXPECT_THROW(texts.push_back("four"), BrokenCheck);
  EXPECT_EQ(texts.size(), 3u);
}

TEST(FixedVector, DestroysWhatItHolds) {
  const auto counted = std::make_shared<int>();
  {
    FixedVector<std::shared_ptr<int>, 4> vector;
    for (int i = 0; i < 3; ++i) vector.push_back(counted);
    EXPECT_EQ(counted.use_count(), 4);
    vector.clear();
    EXPECT_EQ(counted.use_count(), 1);
    vector.push_back(counted);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(SpareVectors, LendsWhatCameBackWithItsRoomAndNothingInIt) {
  SpareVectors<int> spare;
  std::vector<int> lent = spare.take();
  lent.assign(100, 7);
  const int* const room = lent.data();
  spare.give_back(std::move(lent));
  std::vector<int> again = spare.take();
  EXPECT_TRUE(again.empty());
  EXPECT_GE(again.capacity(), 100u);
  again.push_back(1);
  EXPECT_EQ(again.data(), room);
}

struct Counted {
  int cleared = 0;
  void clear() { ++cleared; }
};

TEST(SpareObjects, LendsOneThatCameBackCleared) {
  SpareObjects<Counted> spare;
  const Counted* first = nullptr;
  {
    Lent<Counted> lent(&spare);
    first = &*lent;
    EXPECT_EQ(lent->cleared, 0);
  }
  Lent<Counted> again(&spare);
  EXPECT_EQ(&*again, first);
  EXPECT_EQ(again->cleared, 1);
}

TEST(SpareObjects, OneThatIsMovedGoesBackOnce) {
  SpareObjects<Counted> spare;
  {
    Lent<Counted> first(&spare);
    Lent<Counted> second(std::move(first));
    Lent<Counted> third(&spare);
    third = std::move(second);
  }
  const auto one = spare.take(), other = spare.take();
  EXPECT_NE(one, other);
  EXPECT_EQ(one->cleared + other->cleared, 2);
  EXPECT_EQ(spare.take()->cleared, 0);
}

}  // namespace
}  // namespace weir
