#include "storage/replication/log_rows.h"

#include <gtest/gtest.h>

#include "base/crc64.h"

namespace weir::storage::replication {
namespace {

using Outcome = Read::Outcome;

Record row(uint64_t log_index, const std::string& bytes) {
  return {.head = {log_index, crc64_xz(bytes)}, .bytes = bytes};
}
// The row of the record that was asked for carries no bytes.
Record proof(uint64_t log_index, const std::string& bytes) {
  return {.head = {log_index, crc64_xz(bytes)}, .bytes = ""};
}

TEST(LogRows, FollowTheRecordThatWasAskedFor) {
  const Read read =
      read_from_rows(row(4, "d").head, {proof(4, "d"), row(5, "e"), row(6, "f")}, true);
  EXPECT_EQ(read.outcome, Outcome::kRecords);
  ASSERT_EQ(read.records.size(), 2u);
  EXPECT_EQ(read.records[0].bytes + read.records[1].bytes, "ef");
  EXPECT_TRUE(read.at_end);
  EXPECT_FALSE(read_from_rows(row(4, "d").head, {proof(4, "d")}, false).at_end);
}

TEST(LogRows, BeginAtTheBeginning) {
  EXPECT_EQ(read_from_rows({}, {}, true).outcome, Outcome::kRecords);
  EXPECT_EQ(read_from_rows({}, {row(1, "a"), row(2, "b")}, true).records.size(), 2u);
  EXPECT_EQ(read_from_rows({}, {row(2, "b")}, true).outcome, Outcome::kTrimmed);
}

TEST(LogRows, OfAnotherHistory) {
  EXPECT_EQ(read_from_rows(row(4, "d").head, {proof(4, "x"), row(5, "e")}, true).outcome,
            Outcome::kRewound);
  EXPECT_EQ(read_from_rows(row(4, "d").head, {}, true).outcome, Outcome::kRewound);
}

TEST(LogRows, ThatDoNotReachBack) {
  EXPECT_EQ(read_from_rows(row(4, "d").head, {row(5, "e")}, true).outcome, Outcome::kTrimmed);
}

TEST(LogRows, AGapIsNotTrimmed) {
  EXPECT_EQ(read_from_rows(row(4, "d").head, {proof(4, "d"), row(6, "f")}, true).outcome,
            Outcome::kDamaged);
  EXPECT_EQ(read_from_rows({}, {row(1, "a"), row(3, "c")}, true).outcome, Outcome::kDamaged);
}

TEST(LogRows, OtherBytesThanTheirChecksum) {
  Record broken = row(5, "e");
  broken.bytes = "E";
  EXPECT_EQ(read_from_rows(row(4, "d").head, {proof(4, "d"), broken}, true).outcome,
            Outcome::kDamaged);
}

}  // namespace
}  // namespace weir::storage::replication
