// What was copied of another member is looked at before it becomes data.
#include "server/failover/copies/copy_check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "storage/keyspace/keyspace.h"
#include "storage/rocks/rocks_store.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;
using storage::Type;

class CheckCopy : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "check-copy-" + std::to_string(::getpid());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Data with a set at "k", of so many members.
  void make_data(int members) {
    storage::RocksOptions options;
    options.directory = folder_;
    storage::Keyspace keys([&] { return storage::make_rocks_store(options); }, {});
    storage::OpenReport report;
    ASSERT_TRUE(keys.open(&report).ok());
    keys.running().begin_command(1'700'000'000 * kNsPerS);
    const storage::ElementsId id = keys.lists().make(0, storage::Layout::kScattered);
    for (int i = 0; i < members; ++i)
      keys.lists().open(0, id)->put(std::to_string(i), storage::order_of_integer(i), "");
    std::string payload;
    storage::append_list_ids(&payload, {&id, 1});
    storage::Ref ref = keys.look_up(0, "k");
    keys.put(&ref, Type::kSet, payload, 0);
    ASSERT_TRUE(keys.commit_turn().ok());
  }
  std::string wrong() const {
    const auto checked = check_copy(
        folder_, [](uint64_t) {}, stops_);
    return checked ? "" : checked.error();
  }

  std::string folder_;
  std::atomic<bool> stops_{false};
};

TEST_F(CheckCopy, GoodDataIsTaken) {
  make_data(3);
  EXPECT_EQ(wrong(), "");
}

TEST_F(CheckCopy, ACollectionWithoutElementsIsNot) {
  make_data(0);
  EXPECT_EQ(wrong(), "its data is damaged: database 0: a key's list of elements, 1, is gone");
}

TEST_F(CheckCopy, NorIsWhatCannotBeOpened) {
  fs::create_directories(folder_);
  EXPECT_NE(wrong(), "");
}

}  // namespace
}  // namespace weir::server
