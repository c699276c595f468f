// Files that change while somebody watches them, on a clock of the test's own.
#include "server/os/file_watch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/server/real_sockets.h"

namespace weir::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FileWatchTest : public ::testing::Test {
 protected:
  FileWatchTest() {
    for (const std::string& path : paths_) write(path, "1");
    EXPECT_THAT(watch_.look(paths_, now_ns_), IsEmpty());
  }

  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text;
  }
  // What is told in the next so many seconds.
  FileWatch::Paths told(int seconds = 3) {
    FileWatch::Paths all;
    for (; seconds > 0; --seconds) {
      for (const std::string& path : watch_.look(paths_, now_ns_ += FileWatch::kEveryNs))
        all.push_back(path);
    }
    return all;
  }

  TemporaryFolder folder_;
  FileWatch::Paths paths_ = {folder_.path + "/a", folder_.path + "/b"};
  FileWatch watch_;
  int64_t now_ns_ = 5 * kNsPerS;
};

TEST_F(FileWatchTest, TellsWhichHasChangedOnce) {
  EXPECT_THAT(told(), IsEmpty());
  write(paths_[1], "22");
  EXPECT_THAT(told(), ElementsAre(paths_[1]));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(FileWatchTest, LooksOnceASecond) {
  write(paths_[0], "22");
  EXPECT_THAT(told(1), IsEmpty());
  EXPECT_THAT(watch_.look(paths_, now_ns_ + FileWatch::kEveryNs - 1), IsEmpty());
  EXPECT_THAT(watch_.look(paths_, now_ns_ + FileWatch::kEveryNs), ElementsAre(paths_[0]));
}

TEST_F(FileWatchTest, WaitsUntilNothingChangesAnyMore) {
  for (int round = 2; round < 6; ++round) {
    write(paths_[round % 2], std::string(static_cast<size_t>(round), 'x'));
    EXPECT_THAT(told(1), IsEmpty()) << round;
  }
  EXPECT_THAT(told(), ElementsAre(paths_[0], paths_[1]));
}

TEST_F(FileWatchTest, SameSizeAndOtherTimeIsAChange) {
  const timespec times[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, paths_[0].c_str(), times, 0), 0);
  EXPECT_THAT(told(), ElementsAre(paths_[0]));
}

TEST_F(FileWatchTest, AFileThatGoesAndComesIsAChangeEachTime) {
  ASSERT_EQ(::unlink(paths_[0].c_str()), 0);
  EXPECT_THAT(told(), ElementsAre(paths_[0]));
  write(paths_[0], "1");
  EXPECT_THAT(told(), ElementsAre(paths_[0]));
}

// As Kubernetes mounts a ConfigMap or a Secret: file -> ..data/file, and ..data is swapped.
TEST_F(FileWatchTest, FollowsALinkFurtherUpThatIsSwapped) {
  namespace fs = std::filesystem;
  const fs::path mount = folder_.path + "/mount";
  for (const char* version : {"..1", "..2"}) {
    fs::create_directories(mount / version);
    write(mount / version / "file", "same");
  }
  fs::create_directory_symlink("..1", mount / "..data");
  fs::create_symlink("..data/file", mount / "file");
  paths_ = {mount / "file"};
  EXPECT_THAT(told(), IsEmpty());
  fs::create_directory_symlink("..2", mount / "..data_tmp");
  fs::rename(mount / "..data_tmp", mount / "..data");
  EXPECT_THAT(told(), ElementsAre(paths_[0]));
}

TEST_F(FileWatchTest, OtherPathsAreTakenAsTheyAre) {
  write(paths_[0], "22");
  paths_.pop_back();
  EXPECT_THAT(told(), IsEmpty());
  write(paths_[0], "333");
  EXPECT_THAT(told(), ElementsAre(paths_[0]));
}

TEST_F(FileWatchTest, WhatHappensWhileNobodyWatchesIsForgotten) {
  watch_.forget();
  write(paths_[0], "22");
  EXPECT_THAT(told(), IsEmpty());
}

}  // namespace
}  // namespace weir::server
