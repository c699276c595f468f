#include "server/core/disk/checkpoint_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
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
    const auto path = std::filesystem::path(folder_) / name;
    std::filesystem::create_directories(path / "state");
    std::ofstream(path / "WEIR") << "what it is";
  }
  // What stays when one of this name was made last.
  std::set<std::string> kept(int64_t count, const std::string& made) {
    for (const std::string& path : give_up_old_checkpoints(folder_, count, made))
      std::filesystem::remove_all(path);
    return names();
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      found.insert(entry.path().filename());
    return found;
  }

  std::string folder_;
};

constexpr int64_t kMadeMs = 1'763'937'878'007;  // 2025-11-23 22:44:38.007 UTC

TEST_F(CheckpointFolder, ANameSaysWhenAndOfWhichTurn) {
  EXPECT_EQ(checkpoint_name(kMadeMs, 4711), "2025-11-23T22-44-38.007Z-turn-4711");
  EXPECT_TRUE(is_checkpoint_name(checkpoint_name(kMadeMs, 0)));
  EXPECT_TRUE(is_checkpoint_name("1763937878007"));
  for (const char* other : {"", "mine", "2025-11-23T22-44-38.007Z-turn-", "2025-11-23",
                            "2025-11-23T22-44-38.007Z-turn-12-mine", "x763937878007",
                            "2025-11-23T22-44-38.007Z-turn-12.tmp"})
    EXPECT_FALSE(is_checkpoint_name(other)) << other;
}

TEST_F(CheckpointFolder, TheNewestStayWhicheverTheFormOfTheirNames) {
  for (const std::string& name : {std::string("1763937878007"), std::string("1763937879007"),
                                  checkpoint_name(kMadeMs, 9), checkpoint_name(kMadeMs + 1, 10)})
    make(name);
  make("mine");
  const std::string newest = checkpoint_name(kMadeMs + 1, 10);
  EXPECT_EQ(kept(3, newest), (std::set<std::string>{"1763937879007", checkpoint_name(kMadeMs, 9),
                                                    checkpoint_name(kMadeMs + 1, 10), "mine"}));
  EXPECT_EQ(kept(1, newest), (std::set<std::string>{checkpoint_name(kMadeMs + 1, 10), "mine"}));
  EXPECT_EQ(kept(0, newest).size(), 2u);
}

// The clock was a year ahead when two of them were made.
TEST_F(CheckpointFolder, ANameOfALaterInstantMakesNoneNewer) {
  constexpr int64_t kYearMs = 365LL * 24 * 3600 * 1000;
  const std::string made = checkpoint_name(kMadeMs, 12);
  for (const std::string& name :
       {checkpoint_name(kMadeMs + kYearMs, 5), checkpoint_name(kMadeMs + kYearMs, 6), made})
    make(name);
  EXPECT_EQ(kept(2, made), (std::set<std::string>{checkpoint_name(kMadeMs + kYearMs, 6), made}));
}

// After the data was exchanged for older one, turns count from there.
TEST_F(CheckpointFolder, TheOneThatWasMadeLastStaysWhateverItsTurn) {
  const std::string made = checkpoint_name(kMadeMs, 3);
  for (const std::string& name :
       {checkpoint_name(kMadeMs, 100), checkpoint_name(kMadeMs, 101), made})
    make(name);
  EXPECT_EQ(kept(1, made), (std::set<std::string>{made}));
}

TEST_F(CheckpointFolder, WhatIsNoCheckpointIsLeftAlone) {
  const std::string made = checkpoint_name(kMadeMs, 3);
  for (const char* name : {"20251231", "4711", "17639378780071"}) make(name);
  make(made);
  std::filesystem::create_directories(std::filesystem::path(folder_) / "1763937878007");
  std::ofstream(std::filesystem::path(folder_) / "1763937878007/mine") << "a file of somebody's";
  EXPECT_EQ(kept(1, made).size(), 5u);
}

TEST_F(CheckpointFolder, WhatWasNotFinishedIsFound) {
  for (const std::string& name : {checkpoint_name(kMadeMs, 9), checkpoint_name(kMadeMs, 9) + ".tmp",
                                  std::string("1763937878007.tmp"), std::string("mine.tmp")})
    make(name);
  const std::vector<std::string> left = unfinished_checkpoints(folder_);
  EXPECT_EQ(std::set<std::string>(left.begin(), left.end()),
            (std::set<std::string>{folder_ + "/" + checkpoint_name(kMadeMs, 9) + ".tmp",
                                   folder_ + "/1763937878007.tmp"}));
}

TEST_F(CheckpointFolder, AFolderThatIsNotThereHasNone) {
  EXPECT_TRUE(give_up_old_checkpoints(folder_ + "/none", 1, "").empty());
  EXPECT_TRUE(unfinished_checkpoints(folder_ + "/none").empty());
}

TEST_F(CheckpointFolder, TheNewestIsKnownByItsName) {
  EXPECT_EQ(newest_checkpoint_s(folder_), 0);
  make("1700000000123");
  EXPECT_EQ(newest_checkpoint_s(folder_), 1700000000);
  make(checkpoint_name(1800000000500, 7));
  make(checkpoint_name(1750000000500, 9));
  make("2099-01-01T00-00-00.000Z-turn-99.tmp");
  EXPECT_EQ(newest_checkpoint_s(folder_), 1800000000);
}

}  // namespace
}  // namespace weir::server
