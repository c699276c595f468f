// The keyspace's work in pieces: how many work units one takes, and what is left when time is up.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "tests/storage/keyspace_fixture.h"

namespace weir::storage {
namespace {

class WorkTest : public KeyspaceTest {
 protected:
  static constexpr size_t kSegmentMax = 512;
  static constexpr size_t kKeys = 50'000;

  void fill(size_t count, const std::string& prefix = "k") {
    keys();
    for (size_t i = 0; i < count; ++i) put(0, prefix + std::to_string(i), "value");
    commit();
  }
  // A round with one piece of what is owed.
  std::optional<WorkPart> one_piece() {
    std::optional<WorkPart> done;
    keys_->work().step(steady_ns_ += 1'000'000, [&](WorkPart part) {
      done = part;
      return false;
    });
    return done;
  }
};

// A segment's dirty entries at most, whatever the turn has changed.
TEST_F(WorkTest, APieceOfCollectingEndsWithTheSegmentThatPassesItsUnits) {
  disk_->deferred = true;  // so the end of the collecting is seen
  start();
  fill(kKeys);
  keys_->work().write_back_now();
  size_t pieces = 0;
  for (; keys_->work().wanted(); ++pieces) one_piece();
  EXPECT_GE(pieces, kKeys / kSegmentMax);
}

TEST_F(WorkTest, APieceOfSettlingTakesAsManyEntriesAsUnits) {
  fill(kKeys);
  keys_->work().write_back_now();
  size_t pieces = 0;
  for (size_t before = keys_->metrics().unwritten; before > 0;) {
    one_piece();
    const size_t left = keys_->metrics().unwritten;
    ASSERT_LE(before - left, Work::kUnitsPerPiece);
    pieces += left < before ? 1 : 0;
    before = left;
  }
  EXPECT_GE(pieces, kKeys / Work::kUnitsPerPiece);
}

TEST_F(WorkTest, AClearedDatabaseIsDestroyedInPieces) {
  fill(kKeys);
  write_back();
  keys();
  keys_->clear(0);
  commit();
  size_t pieces = 0;
  std::map<WorkPart, size_t> parts;
  do {
    if (const auto part = one_piece()) ++parts[*part];
    ASSERT_LT(++pieces, 1'000u);
  } while (keys_->work().wanted() || keys_->work().writing_back());
  EXPECT_GE(parts[WorkPart::kFree], kKeys / (Work::kUnitsPerPiece + kSegmentMax));
}

// An eviction scan that takes all the time leaves some to write-back, and the other way about.
TEST_F(WorkTest, PartsTakeTurnsHoweverEarlyRoundsEnd) {
  options_.memory_bytes_max = 1 << 20;
  start();
  fill(kKeys);
  keys_->work().write_back_now();
  std::map<WorkPart, size_t> parts;
  for (int i = 0; i < 100; ++i) {
    if (const auto part = one_piece()) ++parts[*part];
    if (i % 10 == 0) fill(100, "more" + std::to_string(i) + "-");
  }
  EXPECT_GE(parts[WorkPart::kWriteBack], 10u);
  EXPECT_GE(parts[WorkPart::kEviction], 10u);
}

// What a round had no time for is owed in the next; what is owed has a bound.
TEST_F(WorkTest, WhatIsOwedStaysOwed) {
  fill(20'000);
  keys_->work().write_back_now();
  one_piece();
  size_t pieces = 0;
  keys_->work().step(steady_ns_ += 1'000'000, [&](WorkPart part) {
    pieces += part == WorkPart::kWriteBack ? 1 : 0;
    return true;
  });
  EXPECT_GE(pieces, 30u);
  EXPECT_LE(pieces, 60u);
}

}  // namespace
}  // namespace weir::storage
