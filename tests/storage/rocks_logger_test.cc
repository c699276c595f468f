// What RocksDB says of itself, at the level at which it matters.
#include <gmock/gmock.h>
#include <rocksdb/env.h>

#include "storage/rocks/rocks_internal.h"

namespace weir::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RocksLoggerTest : public ::testing::Test {
 protected:
  RocksLoggerTest() {
    RocksOptions options;
    options.log = [this](RocksLogLevel level, const std::string& line) {
      constexpr const char* kNames[] = {"debug", "warning", "error"};
      told_.push_back(std::string(kNames[static_cast<size_t>(level)]) + " " + line);
    };
    logger_ = make_rocks_logger(options);
  }

  std::vector<std::string> told_;
  std::shared_ptr<rocksdb::Logger> logger_;
};

TEST_F(RocksLoggerTest, WarningsAndErrorsAreTold) {
  rocksdb::Info(logger_, "all is well");
  rocksdb::Warn(logger_, "a %d", 1);
  rocksdb::Error(logger_, "b");
  rocksdb::Fatal(logger_, "c");
  EXPECT_THAT(told_, ElementsAre("warning a 1", "error b", "error c"));
}

TEST_F(RocksLoggerTest, WhatIsSaidOfAHealthyCheckpointIsNoWarning) {
  rocksdb::Warn(logger_, "File Deletions Disabled, but already disabled. Counter: %d", 2);
  rocksdb::Warn(logger_, "File Deletions Enable, but not really enabled. Counter: %d", 1);
  EXPECT_THAT(told_,
              ElementsAre("debug File Deletions Disabled, but already disabled. Counter: 2",
                          "debug File Deletions Enable, but not really enabled. Counter: 1"));
}

TEST_F(RocksLoggerTest, ThatAMemtableHasForgottenItsTurnsIsNoWarning) {
  rocksdb::Warn(logger_, "Level-0 flush Expected %d entries in memtables, but read %d", 71, 0);
  rocksdb::Warn(logger_, "Level-0 flush Expected %d entries in memtables, but read %d", 71, 70);
  EXPECT_THAT(told_,
              ElementsAre("debug Level-0 flush Expected 71 entries in memtables, but read 0",
                          "warning Level-0 flush Expected 71 entries in memtables, but read 70"));
}

TEST_F(RocksLoggerTest, LinesHaveNoBreaksAndAreNotEmpty) {
  rocksdb::Error(logger_, "\n");
  rocksdb::Error(logger_, " ");
  EXPECT_THAT(told_, IsEmpty());
  rocksdb::Error(logger_, "the disk is full\n");
  EXPECT_THAT(told_, ElementsAre("error the disk is full"));
}

TEST_F(RocksLoggerTest, WhatIsSaidAgainIsToldOnceAMinute) {
  for (const int i : {8, 9, 10}) rocksdb::Error(logger_, "cannot write %d.log", i);
  rocksdb::Error(logger_, "cannot read");
  EXPECT_THAT(told_, ElementsAre("error cannot write 8.log", "debug cannot write 9.log",
                                 "debug cannot write 10.log", "error cannot read"));
}

}  // namespace
}  // namespace weir::storage
