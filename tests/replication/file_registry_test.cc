// What members tell one another beside a log in a file.
#include "storage/shared_logs/file_registry.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/time_units.h"
#include "storage/format/file.h"
#include "storage/shared_logs/file_log.h"

namespace weir::storage {
namespace {

class FileRegistryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "file-registry-" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(FileRegistryTest, SeveralTellOneAnother) {
  const FileRegistry one(folder_ + "/log.board");
  const FileRegistry other(folder_ + "/log.board");
  EXPECT_TRUE(one.snapshot(kNsPerHour).empty());
  one.put("b", "facts", kNsPerHour);
  other.put("a", std::string("\0more", 5), kNsPerHour + kNsPerS);
  one.put("b", "later facts", kNsPerHour + 2 * kNsPerS);
  const auto seen = other.snapshot(kNsPerHour + 3 * kNsPerS);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].name, "a");
  EXPECT_EQ(seen[0].bytes, std::string("\0more", 5));
  EXPECT_EQ(seen[0].age_ns, 2 * kNsPerS);
  EXPECT_EQ(seen[1].bytes, "later facts");
  EXPECT_EQ(seen[1].age_ns, kNsPerS);
}

// After the machine's start CLOCK_BOOTTIME begins anew, and nobody was heard of.
TEST_F(FileRegistryTest, WhatIsOldIsRemoved) {
  const FileRegistry registry(folder_ + "/log.board");
  registry.put("old", "facts", kNsPerHour);
  registry.put("new", "facts", kNsPerDay);
  EXPECT_EQ(registry.snapshot(kNsPerHour + kNsPerDay).size(), 2u);
  EXPECT_EQ(registry.snapshot(2 * kNsPerHour + kNsPerDay).size(), 1u);
  EXPECT_FALSE(file_exists(folder_ + "/log.board/old"));
  EXPECT_TRUE(registry.snapshot(kNsPerMinute).empty());
  EXPECT_FALSE(file_exists(folder_ + "/log.board/new"));
}

TEST_F(FileRegistryTest, AFileThatIsNoneIsNotThere) {
  const FileRegistry registry(folder_ + "/log.board");
  registry.put("a", "facts", kNsPerS);
  ASSERT_TRUE(write_file(folder_ + "/log.board/b", "short").ok());
  ASSERT_TRUE(write_file(folder_ + "/log.board/c.new", "not yet there").ok());
  EXPECT_EQ(registry.snapshot(kNsPerS).size(), 1u);
}

TEST_F(FileRegistryTest, WhatIsNobodysIsNotRead) {
  const FileRegistry registry(folder_ + "/log.board");
  registry.put("a", "facts", kNsPerS);
  const std::string folder = folder_ + "/log.board/";
  ASSERT_EQ(::mkfifo((folder + "pipe").c_str(), 0600), 0);
  ASSERT_TRUE(write_file(folder + "large", std::string(10'000, 'x')).ok());
  ASSERT_TRUE(write_file(folder + "sparse", std::string(8, '\0')).ok());
  std::filesystem::resize_file(folder + "sparse", uint64_t{1} << 40);
  std::filesystem::create_symlink("/dev/zero", folder + "link");
  const auto seen = registry.snapshot(kNsPerS);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].name, "a");
}

TEST_F(FileRegistryTest, OfManyFilesTheYoungestCount) {
  const FileRegistry registry(folder_ + "/log.board");
  for (int i = 0; i < 200; ++i) registry.put("old" + std::to_string(i), "facts", kNsPerS);
  registry.put("young", "facts", 2 * kNsPerS);
  const auto seen = registry.snapshot(3 * kNsPerS);
  ASSERT_EQ(seen.size(), replication::MemberRegistry::kEntriesMax);
  EXPECT_EQ(seen.back().name, "young");
}

TEST_F(FileRegistryTest, ALogInAFileHasOne) {
  FileLog one(folder_ + "/log");
  FileLog other(folder_ + "/log");
  one.tick(kNsPerS);
  one.put("a", "facts");
  other.tick(3 * kNsPerS);
  ASSERT_EQ(other.snapshot().size(), 1u);
  EXPECT_EQ(other.snapshot()[0].age_ns, 2 * kNsPerS);
}

}  // namespace
}  // namespace weir::storage
