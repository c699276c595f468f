// Keys that are sought: the way to an entry that fetch() goes is that of a look-up.
#include "storage/keyspace/sought_keys.h"

#include "tests/storage/keyspace_fixture.h"

namespace weir::storage {
namespace {

class SoughtKeysTest : public KeyspaceTest {
 protected:
  SoughtKeysTest() { keys(); }

  // Of those numbered from `first` on, as many as fit.
  size_t found(int database, const std::string& prefix, int first) {
    for (int i = first; !sought_.full(); ++i) sought_.add(database, prefix + std::to_string(i));
    return sought_.fetch();
  }

  SoughtKeys sought_{keys_.get()};
};

TEST_F(SoughtKeysTest, EntriesAreFoundInTablesOfAllSizes) {
  const auto expect_found = [this](const std::string& prefix, int count) {
    for (int first = 0; first < count; first += 997) {
      const int present = std::min<int>(count - first, SoughtKeys::kMax);
      EXPECT_GE(found(1, prefix, first) + 1, static_cast<size_t>(present)) << prefix << first;
    }
  };
  int count = 0;
  for (const int wanted : {1, 100, 600, 5'000, 40'000}) {
    for (; count < wanted; ++count) put(1, "k" + std::to_string(count), "v");
    expect_found("k", count);
  }
  for (int i = 0; i < 40'000; ++i) put(1, "{one slot}" + std::to_string(i), "v");
  expect_found("{one slot}", 40'000);
}

TEST_F(SoughtKeysTest, AbsentKeysAndOtherDatabasesHaveNone) {
  for (int i = 0; i < 3'000; ++i) put(0, std::to_string(i), std::string(i % 200, 'v'));
  EXPECT_EQ(found(0, "", 3'000), 0u);
  EXPECT_EQ(found(1, "", 0), 0u);
  sought_.add(1, "0");
  sought_.add(0, "0");
  EXPECT_EQ(sought_.fetch(), 1u);
}

TEST_F(SoughtKeysTest, TheyAreForgottenAndFurtherOnesPassedOver) {
  put(0, "a", "v");
  for (size_t i = 0; i < SoughtKeys::kMax; ++i) {
    EXPECT_FALSE(sought_.full());
    sought_.add(0, "absent");
  }
  EXPECT_TRUE(sought_.full());
  sought_.add(0, "a");
  EXPECT_EQ(sought_.fetch(), 0u);
  EXPECT_FALSE(sought_.full());
  EXPECT_EQ(sought_.fetch(), 0u);
}

// The table may be gone, and another one in its place, when the keys are fetched.
TEST_F(SoughtKeysTest, ATableMayGoInBetween) {
  for (int i = 0; i < 3'000; ++i) put(0, std::to_string(i), "v");
  commit();
  for (int i = 0; i < 10; ++i) sought_.add(0, std::to_string(i));
  keys().clear(0);
  put(0, "5", "v");
  commit();
  for (int i = 0; i < 100; ++i) work();
  EXPECT_EQ(sought_.fetch(), 1u);
}

TEST_F(SoughtKeysTest, NothingIsSoughtBeforeThereIsAKeyspace) {
  Keyspace closed(make_store_, options_);
  SoughtKeys sought(&closed);
  sought.add(0, "a");
  EXPECT_EQ(sought.fetch(), 0u);
}

}  // namespace
}  // namespace weir::storage
