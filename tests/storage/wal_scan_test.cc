// Damage of every kind in real WAL files, judged without opening RocksDB.
#include "storage/rocks/wal_scan.h"

#include <gtest/gtest.h>

#include <random>

#include "storage/rocks/wal_check.h"
#include "tests/storage/wal_fixture.h"

namespace weir::storage {
namespace {

struct Shape {
  const char* name;
  uint64_t turns;
  size_t body_bytes;
  size_t stride;  // of the offsets tried
};

class WalScanTest : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    const Shape& shape = GetParam();
    bytes_ = contents(make_wal(directory_ / "data", shape.turns, std::string(shape.body_bytes, 'b'),
                               shape.turns / 2));
    last_begin_ = scan_wal(bytes_.substr(0, bytes_.size() - 1)).valid_bytes;
    ASSERT_LT(last_begin_, bytes_.size());
    ASSERT_GT(last_begin_, 0u);
  }

  TemporaryDirectory directory_;
  std::string bytes_;
  size_t last_begin_ = 0;
};

Status judged(const std::string& bytes, uint64_t* kept) {
  std::vector<WalFile> files{{.path = "000004.log", .size = bytes.size(), .scan = scan_wal(bytes)}};
  std::string note;
  Status status = judge_wal(&files, std::nullopt, 0, &note);
  *kept = files[0].kept_bytes;
  EXPECT_EQ(note.empty(), !status.ok() || *kept == bytes.size());
  return status;
}

TEST_P(WalScanTest, AWholeFileIsValid) {
  const WalScan scan = scan_wal(bytes_);
  EXPECT_FALSE(scan.broken);
  EXPECT_EQ(scan.valid_bytes, bytes_.size());
  EXPECT_EQ(scan.first_turn, 1u);
  EXPECT_EQ(scan.last_turn, GetParam().turns);
  EXPECT_EQ(scan.synced_turn, GetParam().turns / 2);
}

TEST_P(WalScanTest, AFlippedBitIsRefusedUnlessInTheLastRecord) {
  uint64_t kept = 0;
  for (size_t at = 0; at < bytes_.size(); at += GetParam().stride) {
    const Status status = judged(flipped(bytes_, at, static_cast<int>(at / 7 % 8)), &kept);
    if (at < last_begin_ && bytes_.size() - at > 7) {
      EXPECT_EQ(status.code(), Status::Code::kCorrupt) << "at byte " << at;
    } else {
      EXPECT_TRUE(status.ok()) << "at byte " << at << ": " << status.message();
      EXPECT_EQ(kept, last_begin_) << "at byte " << at;
    }
  }
}

TEST_P(WalScanTest, ACutTailIsCutOff) {
  uint64_t kept = 0;
  for (size_t size = last_begin_; size < bytes_.size(); size += 1 + GetParam().stride / 16) {
    EXPECT_STATUS_OK(judged(bytes_.substr(0, size), &kept));
    EXPECT_EQ(kept, last_begin_);
    std::string zeroed = bytes_.substr(0, size);
    zeroed.resize(bytes_.size() + 70'000, '\0');
    EXPECT_STATUS_OK(judged(zeroed, &kept));
    EXPECT_EQ(kept, last_begin_);
  }
}

TEST_P(WalScanTest, GarbageBehindIsCutOff) {
  std::mt19937_64 random(1);
  uint64_t kept = 0;
  for (size_t size : {1, 6, 7, 8, 100, 5000, 100'000}) {
    std::string garbage(size, '\0');
    for (char& byte : garbage) byte = static_cast<char>(random());
    EXPECT_STATUS_OK(judged(bytes_ + garbage, &kept));
    EXPECT_EQ(kept, bytes_.size());
    EXPECT_STATUS_OK(judged(bytes_.substr(0, last_begin_) + garbage, &kept));
    EXPECT_EQ(kept, last_begin_);
  }
}

TEST_P(WalScanTest, AnOverwrittenStretchIsRefused) {
  std::mt19937_64 random(2);
  uint64_t kept = 0;
  for (size_t at = 0; at + 100 < last_begin_; at += GetParam().stride * 3) {
    std::string damaged = bytes_;
    const size_t size = std::min<size_t>(1 + random() % 20'000, last_begin_ - at);
    for (size_t i = 0; i < size; ++i) damaged[at + i] = static_cast<char>(random());
    EXPECT_EQ(judged(damaged, &kept).code(), Status::Code::kCorrupt) << at << "+" << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, WalScanTest,
                         testing::Values(Shape{"Small", 40, 4, 1}, Shape{"Blocks", 60, 5000, 127},
                                         Shape{"Large", 12, 100'000, 1511}),
                         [](const auto& info) { return info.param.name; });

// A power cut may leave a page of the unsynced part unwritten and later ones written.
TEST(WalHole, IsCutOffUnlessWhatFollowsWasSynced) {
  constexpr size_t kPage = 4096;
  for (const uint64_t synced : {0u, 10u, 90u}) {
    TemporaryDirectory directory;
    std::string bytes = contents(make_wal(directory / "data", 100, std::string(1000, 'b'), synced));
    std::fill_n(bytes.begin() + 5 * kPage, kPage, '\0');  // of turn 20 or so
    uint64_t kept = 0;
    const Status status = judged(bytes, &kept);
    if (synced == 90) {
      EXPECT_EQ(status.code(), Status::Code::kCorrupt);
      EXPECT_NE(status.message().find("turn 90 was known to be on the disk"), std::string::npos)
          << status.message();
    } else {
      EXPECT_STATUS_OK(status);
      EXPECT_LE(kept, 5 * kPage);
      EXPECT_GT(kept, 4 * kPage);
    }
  }
}

}  // namespace
}  // namespace weir::storage
