#include "storage/memtable/watches.h"

#include "tests/storage/keyspace_fixture.h"

namespace weir::storage {
namespace {

class WatchesTest : public KeyspaceTest {
 protected:
  WatchId watch(const std::string& key) { return keys_->running().watch(keys_->look_up(0, key)); }
  bool changed(WatchId id) const { return keys_->watches().changed(id, keys_->running().now_ms()); }
};

// An entry tells of its first change in a command, and a watch may come after that.
TEST_F(WatchesTest, OneThatIsMadeInTheMidstOfACommandIsToldOfTheRest) {
  keys();
  put(0, "a", "1");
  const WatchId id = watch("a");
  EXPECT_FALSE(changed(id));
  put(0, "a", "2");
  EXPECT_TRUE(changed(id));
  keys_->running().roll_back();
  EXPECT_FALSE(keys_->look_up(0, "a").exists());
}

TEST_F(WatchesTest, OneThatIsMadeInTheMidstOfACommandIsToldOfAnUndo) {
  keys();
  put(0, "a", "1");
  const WatchId id = watch("a");
  keys_->running().roll_back();
  EXPECT_TRUE(changed(id));
}

TEST_F(WatchesTest, OneOfAnEmptyDatabaseIsToldWhenTheDatabaseComesBack) {
  keys();
  put(0, "a", "1");
  ASSERT_TRUE(keys_->commit_turn().ok());
  keys();
  keys_->clear(0);
  const WatchId id = watch("a");
  keys_->running().roll_back();
  EXPECT_TRUE(changed(id));
}

}  // namespace
}  // namespace weir::storage
