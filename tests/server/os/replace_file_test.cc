#include "server/os/replace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/storage/store_driver.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class ReplaceFile : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(elsewhere_) << "before";
    ASSERT_EQ(::chmod(elsewhere_.c_str(), 0644), 0);
    fs::create_symlink(elsewhere_, link_);
  }
  const storage::TemporaryDirectory directory_;
  const fs::path folder_ = directory_.path();
  const fs::path elsewhere_ = folder_ / "elsewhere";
  const fs::path link_ = folder_ / "link";
};

TEST_F(ReplaceFile, WhatALinkPointsToIsReplacedWithItsMode) {
  ASSERT_EQ(replace_file(link_, "after"), 0);
  EXPECT_TRUE(fs::is_symlink(link_));
  EXPECT_EQ(content(elsewhere_), "after");
  EXPECT_EQ(fs::status(elsewhere_).permissions(), fs::perms(0644));
}

TEST_F(ReplaceFile, ALinkInAFolderOfWeirLeadsNowhere) {
  ASSERT_EQ(replace_file(link_, "after", Links::kAreReplaced), 0);
  EXPECT_EQ(content(elsewhere_), "before");
  EXPECT_FALSE(fs::is_symlink(link_));
  EXPECT_EQ(content(link_), "after");
  EXPECT_EQ(fs::status(link_).permissions(), fs::perms(0600));
}

TEST_F(ReplaceFile, AFolderThatIsNotThereIsTold) {
  EXPECT_EQ(replace_file(folder_ / "none" / "file", "text", Links::kAreReplaced), ENOENT);
}

}  // namespace
}  // namespace weir::server
