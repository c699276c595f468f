#include "server/core/checkpoint_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace weir::server {
namespace {

class CheckpointFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-folder-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void make(const std::string& name) {
    std::filesystem::create_directories(std::filesystem::path(folder_) / name / "state");
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      found.insert(entry.path().filename());
    return found;
  }

  std::string folder_;
};

constexpr int64_t kMs = 1'763'937'878'007;  // 2025-11-23 22:44:38.007 UTC

TEST_F(CheckpointFolder, ANameSaysWhenAndOfWhichTurn) {
  EXPECT_EQ(checkpoint_name(kMs, 4711), "2025-11-23T22-44-38.007Z-turn-4711");
  EXPECT_TRUE(is_checkpoint_name(checkpoint_name(kMs, 0)));
  EXPECT_TRUE(is_checkpoint_name("1763937878007"));
  for (const char* other : {"", "mine", "2025-11-23T22-44-38.007Z-turn-", "2025-11-23",
                            "2025-11-23T22-44-38.007Z-turn-12-mine", "x763937878007",
                            "2025-11-23T22-44-38.007Z-turn-12.tmp"})
    EXPECT_FALSE(is_checkpoint_name(other)) << other;
}

TEST_F(CheckpointFolder, TheNewestStayWhicheverTheFormOfTheirNames) {
  for (const std::string& name : {std::string("1763937878007"), std::string("1763937879007"),
                                  checkpoint_name(kMs, 9), checkpoint_name(kMs + 1, 10)})
    make(name);
  make("mine");
  remove_old_checkpoints(folder_, 3);
  EXPECT_EQ(names(), (std::set<std::string>{"1763937879007", checkpoint_name(kMs, 9),
                                            checkpoint_name(kMs + 1, 10), "mine"}));
  remove_old_checkpoints(folder_, 1);
  EXPECT_EQ(names(), (std::set<std::string>{checkpoint_name(kMs + 1, 10), "mine"}));
  remove_old_checkpoints(folder_, 0);
  EXPECT_EQ(names().size(), 2u);
}

TEST_F(CheckpointFolder, WhatWasNotFinishedGoes) {
  for (const std::string& name : {checkpoint_name(kMs, 9), checkpoint_name(kMs, 9) + ".tmp",
                                  std::string("17.tmp"), std::string("mine.tmp")})
    make(name);
  remove_unfinished_checkpoints(folder_);
  EXPECT_EQ(names(), (std::set<std::string>{checkpoint_name(kMs, 9), "mine.tmp"}));
}

TEST_F(CheckpointFolder, AFolderThatIsNotThereHasNone) {
  remove_old_checkpoints(folder_ + "/none", 1);
  remove_unfinished_checkpoints(folder_ + "/none");
}

}  // namespace
}  // namespace weir::server
