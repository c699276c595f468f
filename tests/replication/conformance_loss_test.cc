// Cases of what goes: records that are trimmed or lost, answers that do not come.
#include <algorithm>

#include "tests/replication/conformance.h"

namespace weir::storage::replication {
TEST_P(Conformance, TrimmingKeepsTheLastRecord) {
  SharedLog* log = connect();
  Head end, before;
  for (int i = 0; i < 20; ++i) {
    before = end;
    put(log, &end, numbered(i));
  }
  log->trim(UINT64_MAX);
  wait_until([&] { return read(log, before).outcome == ReadOutcome::kTrimmed; });
  EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kTrimmed);
  EXPECT_EQ(read(log, {}, 0).outcome, ReadOutcome::kTrimmed);
  EXPECT_EQ(read(log, end).outcome, ReadOutcome::kRecords);
  put(log, &end, "after it");
}

TEST_P(Conformance, TrimmingRemovesAPrefix) {
  SharedLog* log = connect();
  Head end;
  std::vector<Head> heads;
  for (int i = 0; i < 50; ++i) {
    put(log, &end, numbered(i));
    heads.push_back(end);
  }
  log->trim(0);
  log->trim(20);
  wait_until([&] { return read(log, heads[19]).outcome == ReadOutcome::kTrimmed; });
  log->trim(10);
  wait_a_while();
  EXPECT_EQ(read_all(log, heads[20]).size(), 29u) << "the record of log index 21 is there";
}

// What a reader gets while records go is a run of records or kTrimmed, never a hole.
TEST_P(Conformance, AReaderRacesTrim) {
  SharedLog* log = connect();
  SharedLog* reader = connect();
  Head end;
  for (int i = 0; i < 300; ++i) put(log, &end, numbered(i));
  Head after;
  bool was_trimmed = false;
  for (uint64_t up_to = 0; after != end; up_to += 17) {
    log->trim(std::min<uint64_t>(up_to, 250));
    const Read part = read(reader, after, 100);
    if (part.outcome == ReadOutcome::kTrimmed) {
      was_trimmed = true;
      after = end;
      break;
    }
    ASSERT_EQ(part.outcome, ReadOutcome::kRecords);
    for (const Record& record : part.records) {
      ASSERT_EQ(record.head.log_index, after.log_index + 1);
      after = record.head;
    }
  }
  EXPECT_TRUE(was_trimmed) << "the trimming is faster here";
  wait_a_while();
  EXPECT_EQ(read(reader, end).outcome, ReadOutcome::kRecords);
}

TEST_P(Conformance, ShardsDoNotMix) {
  SharedLog* one = connect("one");
  SharedLog* two = connect("two");
  Head end_of_one, end_of_two;
  put(one, &end_of_one, "a");
  EXPECT_EQ(append(two, end_of_one, "b").outcome, AppendOutcome::kRefused);
  put(two, &end_of_two, "b");
  put(two, &end_of_two, "c");
  one->trim(UINT64_MAX);
  wait_a_while();
  EXPECT_EQ(read_all(two, {}).size(), 2u);
  EXPECT_EQ(read_all(one, {}).size(), 1u);
}

TEST_P(Conformance, AnAppendThatNeverArrivesIsUnknown) {
  SharedLog* log = connect();
  Head end;
  put(log, &end, "a");
  if (!engine_->lose_next_request()) GTEST_SKIP() << "not with this engine";
  EXPECT_EQ(append(log, end, "b").outcome, AppendOutcome::kUnknown);
  EXPECT_TRUE(read_all(log, end).empty());
  put(log, &end, "c");
}

TEST_P(Conformance, AnAppendWithoutAnAnswerIsUnknownAndIsFound) {
  SharedLog* log = connect();
  Head end;
  put(log, &end, "a");
  if (!engine_->lose_next_answer()) GTEST_SKIP() << "not with this engine";
  EXPECT_EQ(append(log, end, "b").outcome, AppendOutcome::kUnknown);
  const auto records = read_all(log, end);
  ASSERT_EQ(records.size(), 1u) << "sent once";
  EXPECT_EQ(records[0].bytes, "b");
  EXPECT_EQ(append(log, end, "c").outcome, AppendOutcome::kRefused);
  end = records[0].head;
  put(log, &end, "c");
}

// An append is on its way when its author has given it up and is connected anew.
TEST_P(Conformance, AZombieIsHeldToItsCondition) {
  for (const bool end_has_moved : {false, true}) {
    const std::string shard = end_has_moved ? "moved" : "still";
    SharedLog* author = connect(shard);
    Head end;
    put(author, &end, "a");
    if (!engine_->delay_next_request()) GTEST_SKIP() << "not with this engine";
    EXPECT_EQ(append(author, end, "zombie").outcome, AppendOutcome::kUnknown);
    SharedLog* again = connect(shard);
    if (end_has_moved) put(again, &end, "b");
    wait_a_while();
    const auto records = read_all(again, {});
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1].bytes, end_has_moved ? "b" : "zombie");
  }
}

TEST_P(Conformance, ARewoundLog) {
  SharedLog* log = connect();
  Head end;
  put(log, &end, "a");
  const Head kept = end;
  put(log, &end, "b");
  put(log, &end, "c");
  if (!engine_->lose_records("main", 2)) GTEST_SKIP() << "not with this engine";
  const Head lost = end;
  EXPECT_EQ(read(log, lost).outcome, ReadOutcome::kRewound);
  EXPECT_EQ(append(log, lost, "d").outcome, AppendOutcome::kRefused);
  end = kept;
  put(log, &end, "other b");
  put(log, &end, "other c");
  EXPECT_EQ(end.log_index, lost.log_index) << "the same log index comes again";
  EXPECT_EQ(read(log, lost).outcome, ReadOutcome::kRewound);
  EXPECT_EQ(append(log, lost, "d").outcome, AppendOutcome::kRefused);
  EXPECT_EQ(read_all(log, kept).size(), 2u);
}

TEST_P(Conformance, ABrokenRecordIsDamaged) {
  SharedLog* log = connect();
  Head end;
  put(log, &end, "a");
  const Head first = end;
  for (int i = 0; i < 5; ++i) put(log, &end, numbered(i));
  if (!engine_->damage("main", 4)) GTEST_SKIP() << "not with this engine";
  EXPECT_EQ(read(log, first).outcome, ReadOutcome::kDamaged);
  EXPECT_EQ(read(log, end).outcome, ReadOutcome::kRecords) << "what is after it can be read";
}

TEST_P(Conformance, AHoleIsDamagedAndNotTrimmed) {
  SharedLog* log = connect();
  Head end;
  put(log, &end, "a");
  const Head first = end;
  for (int i = 0; i < 5; ++i) put(log, &end, numbered(i));
  if (!engine_->remove("main", 4)) GTEST_SKIP() << "not with this engine";
  EXPECT_EQ(read(log, first).outcome, ReadOutcome::kDamaged);
}

}  // namespace weir::storage::replication
