// What the judge makes of several files, and what whole stores say of damaged ones.
#include "storage/rocks/wal_check.h"

#include <gtest/gtest.h>

#include "tests/storage/wal_fixture.h"

namespace weir::storage {
namespace {

// A file with these turns, whole.
WalFile whole(uint64_t first, uint64_t last, uint64_t synced = 0) {
  WalFile file{.path = "f", .size = 1000};
  file.scan.valid_bytes = 1000;
  file.scan.first_turn = first;
  file.scan.last_turn = last;
  file.scan.synced_turn = synced;
  return file;
}

WalFile cut(WalFile file) {
  file.scan.valid_bytes = 900;
  file.scan.broken = file.scan.unwritten = true;
  return file;
}

WalFile changed(WalFile file) {
  file = cut(file);
  file.scan.unwritten = false;
  return file;
}

std::vector<uint64_t> kept(std::vector<WalFile> files,
                           std::optional<uint64_t> covered = std::nullopt,
                           uint64_t synced_turn = 0) {
  std::string note;
  const Status status = judge_wal(&files, covered, synced_turn, &note);
  if (!status.ok()) return {};
  std::vector<uint64_t> sizes;
  for (const WalFile& file : files) sizes.push_back(file.kept_bytes);
  return sizes;
}

const std::vector<uint64_t> kRefused;

TEST(JudgeWal, FilesThatFollowOneAnotherAreKept) {
  EXPECT_EQ(kept({whole(1, 5), whole(6, 9), whole(0, 0), whole(10, 10)}),
            (std::vector<uint64_t>{1000, 1000, 1000, 1000}));
  EXPECT_EQ(kept({whole(1, 5), whole(5, 9)}), kRefused);
}

TEST(JudgeWal, ADamagedTailIsCutOff) {
  EXPECT_EQ(kept({whole(1, 5), cut(whole(6, 9))}), (std::vector<uint64_t>{1000, 900}));
  EXPECT_EQ(kept({whole(1, 5), changed(whole(6, 9))}), (std::vector<uint64_t>{1000, 900}));
}

TEST(JudgeWal, ACutFileWhoseLossNobodyMissesIsKept) {
  EXPECT_EQ(kept({cut(whole(1, 5)), whole(6, 9)}), (std::vector<uint64_t>{900, 1000}));
}

TEST(JudgeWal, BehindLostTurnsNothingIsKept) {
  EXPECT_EQ(kept({cut(whole(1, 5, 3)), whole(7, 9, 3), whole(10, 12, 5)}),
            (std::vector<uint64_t>{900, 0, 0}));
  EXPECT_EQ(kept({whole(1, 5, 3), whole(7, 9, 3)}), (std::vector<uint64_t>{1000, 0}));
}

// A first file may have lost all it had, or all but a part of a record.
TEST(JudgeWal, AfterTurnsLostAtTheBeginningNothingIsKept) {
  EXPECT_EQ(kept({whole(0, 0), whole(7, 9, 3), whole(10, 12, 3)}, 5),
            (std::vector<uint64_t>{1000, 0, 0}));
  WalFile part = cut(whole(0, 0));
  part.scan.valid_bytes = 0;
  EXPECT_EQ(kept({part, whole(7, 9, 3)}, 5), (std::vector<uint64_t>{0, 0}));
  EXPECT_EQ(kept({whole(2, 3, 0)}, 0), (std::vector<uint64_t>{0}));
}

TEST(JudgeWal, TurnsThatFollowWhatIsElsewhereAreKept) {
  EXPECT_EQ(kept({whole(0, 0), whole(6, 9)}, 5), (std::vector<uint64_t>{1000, 1000}));
  EXPECT_EQ(kept({whole(3, 9), whole(10, 12)}, 5), (std::vector<uint64_t>{1000, 1000}));
  EXPECT_EQ(kept({whole(1, 5)}, 0), (std::vector<uint64_t>{1000}));
  EXPECT_EQ(kept({whole(7, 9)}), (std::vector<uint64_t>{1000}));
}

TEST(JudgeWal, LostTurnsThatWereSyncedAreRefused) {
  EXPECT_EQ(kept({whole(0, 0), whole(7, 9, 6)}, 5), kRefused);
  EXPECT_EQ(kept({cut(whole(1, 5)), whole(7, 9, 6)}), kRefused);
  EXPECT_EQ(kept({cut(whole(1, 5)), whole(7, 9, 3), whole(10, 12, 6)}), kRefused);
}

// What has gone without a trace is known by the file SYNCED.
TEST(JudgeWal, ALogThatEndsBeforeWhatWasSyncedIsRefused) {
  EXPECT_EQ(kept({whole(1, 5), whole(0, 0)}, 0, 5), (std::vector<uint64_t>{1000, 1000}));
  EXPECT_EQ(kept({whole(1, 5), whole(0, 0)}, 0, 6), kRefused);
  EXPECT_EQ(kept({whole(1, 5), cut(whole(6, 7))}, 0, 8), kRefused);
  EXPECT_EQ(kept({}, 0, 1), kRefused);
  EXPECT_EQ(kept({}, 9, 9), kept({}));
  EXPECT_EQ(kept({whole(7, 9)}, std::nullopt, 12), (std::vector<uint64_t>{1000})) << "see open()";
}

TEST(JudgeWal, ChangedBytesBeforeLaterFilesAreRefused) {
  EXPECT_EQ(kept({changed(whole(1, 5)), whole(6, 9)}), kRefused);
}

class DamagedLogTest : public testing::Test {
 protected:
  // The message of a refusal, or "opened".
  std::string reopen(const std::string& wal) {
    overwrite(path_, wal);
    StoreDriver store(make_rocks_store({.directory = data_}));
    const Status status = store.open();
    note_ = store.report.tail_note;
    turns_.clear();
    if (!status.ok()) {
      EXPECT_EQ(status.code(), Status::Code::kCorrupt);
      return status.message();
    }
    EXPECT_STATUS_OK(store.replay(1, &turns_));
    return "opened";
  }

  TemporaryDirectory directory_;
  const std::string data_ = directory_ / "data";
  const std::string path_ = make_wal(data_, 1000, "turn", 500);
  const std::string bytes_ = contents(path_);
  std::string note_;
  std::vector<uint64_t> turns_;
};

TEST_F(DamagedLogTest, AFlippedBitInTheMiddleIsRefusedByNameAndPlace) {
  for (const size_t at : {size_t{0}, size_t{6}, bytes_.size() / 3, bytes_.size() - 100}) {
    const std::string message = reopen(flipped(bytes_, at, 3));
    EXPECT_NE(message.find(path_ + " at byte "), std::string::npos) << message;
    EXPECT_NE(message.find("valid records follow it"), std::string::npos) << message;
    EXPECT_EQ(contents(path_), flipped(bytes_, at, 3)) << "a refused log is left alone";
  }
  EXPECT_EQ(reopen(bytes_), "opened");
  EXPECT_EQ(note_, "");
}

TEST_F(DamagedLogTest, AnEmptiedOrCutFileIsMissed) {
  for (const std::string& wal : {std::string(), bytes_.substr(0, bytes_.size() / 4)}) {
    const std::string message = reopen(wal);
    EXPECT_NE(message.find(", though turn 500 was known to be on the disk"), std::string::npos)
        << message;
    EXPECT_EQ(contents(path_), wal) << "a refused log is left alone";
  }
  std::filesystem::remove(data_ + "/log/SYNCED");
  EXPECT_EQ(reopen(bytes_.substr(0, bytes_.size() / 4)), "opened") << "so the message says";
  EXPECT_EQ(reopen(bytes_.substr(0, bytes_.size() / 5)).find("opened"), std::string::npos)
      << "what was opened was synced first";
  overwrite(data_ + "/log/SYNCED", "fifteen bytes..");
  EXPECT_EQ(reopen(bytes_), "opened") << "other bytes tell nothing";
}

TEST_F(DamagedLogTest, ACutTailOpensAndNamesTheLastTurn) {
  ASSERT_EQ(reopen(bytes_.substr(0, bytes_.size() - 3)), "opened");
  EXPECT_EQ(turns_, turns_between(1, 999));
  EXPECT_NE(note_.find("the last turn kept is 999"), std::string::npos) << note_;
}

TEST_F(DamagedLogTest, AZeroedTailOpens) {
  std::string zeroed = bytes_;
  std::fill(zeroed.end() - 20, zeroed.end(), '\0');
  ASSERT_EQ(reopen(zeroed), "opened");
  EXPECT_EQ(turns_, turns_between(1, 999));
  EXPECT_NE(note_.find("the last turn kept is 999"), std::string::npos) << note_;
}

TEST_F(DamagedLogTest, AGarbageTailOpensAndTheLogGoesOn) {
  ASSERT_EQ(reopen(bytes_ + std::string(40'000, '\x5a')), "opened");
  EXPECT_EQ(turns_, turns_between(1, 1000));
  EXPECT_NE(note_.find("the last turn kept is 1000"), std::string::npos) << note_;
  StoreDriver store(make_rocks_store({.directory = data_}));
  ASSERT_STATUS_OK(store.open());
  EXPECT_EQ(store.report.tail_note, "") << "told once";
  ASSERT_STATUS_OK(store.append(1001, 1010));
  store.close();
  StoreDriver again(make_rocks_store({.directory = data_}));
  ASSERT_STATUS_OK(again.open());
  std::vector<uint64_t> turns;
  ASSERT_STATUS_OK(again.replay(1, &turns));
  EXPECT_EQ(turns, turns_between(1, 1010));
}

TEST_F(DamagedLogTest, AFirstFileThatIsGoneIsMissed) {
  StoreDriver store(make_rocks_store({.directory = data_}));
  ASSERT_STATUS_OK(store.open());
  ASSERT_STATUS_OK(store.append(1001, 1010));
  store.close();
  ASSERT_EQ(wal_files(data_).size(), 2u);
  std::filesystem::remove(wal_files(data_)[0]);
  StoreDriver again(make_rocks_store({.directory = data_}));
  const Status status = again.open();
  EXPECT_EQ(status.code(), Status::Code::kCorrupt);
  EXPECT_NE(status.message().find("turn 1 is missing before it, though turn 1000"),
            std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace weir::storage
