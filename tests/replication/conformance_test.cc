// Cases of what comes: appends and reads, one at a time and racing.
#include "tests/replication/conformance.h"

#include <algorithm>

#include "base/crc64.h"

namespace weir::storage::replication {
namespace {

constexpr int kPassesMax = 200'000;

}  // namespace

SharedLog* Conformance::connect(const std::string& shard) {
  logs_.push_back(engine_->connect(shard));
  logs_.back()->tick(engine_->boot_ns());
  return logs_.back().get();
}

void Conformance::wait_until(const std::function<bool()>& done) {
  for (int i = 0; i < kPassesMax && !done(); ++i) {
    engine_->pass();
    for (const auto& log : logs_) log->tick(engine_->boot_ns());
  }
  ASSERT_TRUE(done()) << "no answer came";
}

void Conformance::wait_a_while() {
  int passes = 0;
  wait_until([&] { return ++passes >= engine_->passes_in_a_while(); });
}

Appended Conformance::append(SharedLog* log, std::optional<Head> expected,
                             const std::string& record) {
  const auto got = std::make_shared<std::optional<Appended>>();
  log->append(expected, record, [got](const Appended& answer) { *got = answer; });
  wait_until([&] { return got->has_value(); });
  return got->value_or(Appended{});
}

Read Conformance::read(SharedLog* log, const Head& after, size_t bytes_max) {
  const auto got = std::make_shared<std::optional<Read>>();
  log->read(after, bytes_max, [got](Read answer) { *got = std::move(answer); });
  wait_until([&] { return got->has_value(); });
  return got->value_or(Read{});
}

void Conformance::put(SharedLog* log, Head* end, const std::string& record) {
  const Appended answer = append(log, *end, record);
  ASSERT_EQ(answer.outcome, AppendOutcome::kDone);
  ASSERT_EQ(answer.head.log_index, end->log_index + 1);
  ASSERT_EQ(answer.head.crc, crc64_xz(record));
  *end = answer.head;
}

std::vector<Record> Conformance::read_all(SharedLog* log, Head after, size_t bytes_max) {
  std::vector<Record> records;
  while (true) {
    const Read part = read(log, after, bytes_max);
    EXPECT_EQ(part.outcome, ReadOutcome::kRecords);
    if (part.outcome != ReadOutcome::kRecords) return records;
    for (const Record& record : part.records) {
      EXPECT_EQ(record.head.log_index, after.log_index + 1);
      EXPECT_EQ(record.head.crc, crc64_xz(record.bytes));
      after = record.head;
      records.push_back(record);
    }
    if (part.at_end) return records;
    EXPECT_FALSE(part.records.empty()) << "neither a record nor the end";
    if (part.records.empty()) return records;
  }
}

TEST_P(Conformance, AnEmptyLog) {
  SharedLog* log = connect();
  const Read empty = read(log, {});
  EXPECT_EQ(empty.outcome, ReadOutcome::kRecords);
  EXPECT_TRUE(empty.records.empty());
  EXPECT_TRUE(empty.at_end);
  EXPECT_EQ(read(log, {1, 5}).outcome, ReadOutcome::kRewound);
  EXPECT_EQ(append(log, Head{1, 5}, "a").outcome, AppendOutcome::kRefused);
  log->trim(UINT64_MAX);
  Head end;
  put(log, &end, "a");
  EXPECT_EQ(end, (Head{1, crc64_xz("a")}));
}

TEST_P(Conformance, AnEngineHasFacts) {
  const LogFacts facts = connect()->facts();
  EXPECT_FALSE(facts.engine.empty());
  EXPECT_GE(facts.record_bytes_max, 256u * 1024) << "a batch of turns must fit";
  EXPECT_GE(facts.copies, 1u);
}

TEST_P(Conformance, AnAppendNamesTheEndByItsLogIndex) {
  SharedLog* log = connect();
  Head end;
  put(log, &end, "a");
  const Head first = end;
  put(log, &end, "b");
  for (const Head& other : {Head{}, first, Head{3, end.crc}}) {
    EXPECT_EQ(append(log, other, "c").outcome, AppendOutcome::kRefused);
  }
  EXPECT_EQ(read_all(log, {}).size(), 2u) << "what was refused is not there";
  put(log, &end, "c");
}

TEST_P(Conformance, AnAppendNamesTheEndByItsChecksum) {
  SharedLog* log = connect();
  Head end;
  put(log, &end, "a");
  EXPECT_EQ(append(log, Head{1, end.crc + 1}, "b").outcome, AppendOutcome::kRefused);
  EXPECT_EQ(append(log, Head{1, ~end.crc}, "b").outcome, AppendOutcome::kRefused);
  EXPECT_EQ(read(log, {1, end.crc + 1}).outcome, ReadOutcome::kRewound);
  put(log, &end, "b");
}

TEST_P(Conformance, AnAppendWithoutConditionFollowsWhateverIsThere) {
  SharedLog* log = connect();
  for (uint64_t log_index = 1; log_index <= 3; ++log_index) {
    const Appended answer = append(log, std::nullopt, "same");
    EXPECT_EQ(answer.outcome, AppendOutcome::kDone);
    EXPECT_EQ(answer.head, (Head{log_index, crc64_xz("same")}));
  }
  EXPECT_EQ(read_all(log, {}).size(), 3u) << "each once";
}

TEST_P(Conformance, AnswersComeLaterAndOnce) {
  SharedLog* log = connect();
  int appended = 0, was_read = 0;
  log->append(Head{}, "a", [&](const Appended&) { ++appended; });
  EXPECT_EQ(appended, 0) << "not from inside the call";
  wait_until([&] { return appended > 0; });
  log->read({}, 1024, [&](const Read&) { ++was_read; });
  EXPECT_EQ(was_read, 0);
  wait_until([&] { return was_read > 0; });
  wait_a_while();
  EXPECT_EQ(appended, 1);
  EXPECT_EQ(was_read, 1);
}

TEST_P(Conformance, AConnectionThatIsClosedAnswersNobody) {
  SharedLog* log = connect();
  log->append(Head{}, "a", [&](const Appended&) { FAIL(); });
  log->read({}, 1024, [&](const Read&) { FAIL(); });
  logs_.clear();
  connect();
  wait_a_while();
}

TEST_P(Conformance, BytesAreBytes) {
  SharedLog* log = connect();
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  Head end;
  put(log, &end, all);
  put(log, &end, std::string(1, '\0'));
  const auto records = read_all(log, {});
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].bytes, all);
  EXPECT_EQ(records[1].bytes, std::string(1, '\0'));
}

TEST_P(Conformance, ARecordOfTheGreatestSize) {
  SharedLog* log = connect();
  Head end;
  const std::string large(log->facts().record_bytes_max, 'x');
  put(log, &end, "a");
  const Head before = end;
  put(log, &end, large);
  put(log, &end, "c");
  EXPECT_TRUE(read(log, before, 1).records.at(0).bytes == large) << "one record at least";
}

TEST_P(Conformance, ManyRecords) {
  SharedLog* log = connect();
  Head end;
  std::vector<Head> heads;
  for (size_t i = 0; i < engine_->many(); ++i) {
    put(log, &end, numbered(i));
    ASSERT_FALSE(HasFatalFailure());
    heads.push_back(end);
  }
  const auto records = read_all(log, {}, 100'000);
  ASSERT_EQ(records.size(), engine_->many());
  for (size_t i = 0; i < records.size(); ++i) ASSERT_EQ(records[i].head, heads[i]);
  EXPECT_EQ(records.back().bytes, numbered(engine_->many() - 1));
  const size_t middle = engine_->many() / 2;
  EXPECT_EQ(read(log, heads[middle], 1).records.at(0).head, heads[middle + 1]);
}

TEST_P(Conformance, AReadIsCutAtSomeBytes) {
  SharedLog* log = connect();
  Head end;
  for (int i = 0; i < 50; ++i) put(log, &end, std::string(1000, 'x') + std::to_string(i));
  const Read part = read(log, {}, 5000);
  EXPECT_GE(part.records.size(), 1u);
  EXPECT_LE(part.records.size(), 10u);
  EXPECT_FALSE(part.at_end);
  EXPECT_EQ(read_all(log, {}, 5000).size(), 50u);
  EXPECT_TRUE(read(log, end).at_end);
}

TEST_P(Conformance, AReadOfNoBytesTellsWhetherTheRecordIsThere) {
  SharedLog* log = connect();
  Head end;
  put(log, &end, "a");
  const Head first = end;
  put(log, &end, "b");
  for (const Head& head : {Head{}, first, end}) {
    const Read told = read(log, head, 0);
    EXPECT_EQ(told.outcome, ReadOutcome::kRecords);
    EXPECT_TRUE(told.records.empty());
  }
  EXPECT_EQ(read(log, {1, 7}, 0).outcome, ReadOutcome::kRewound);
  EXPECT_EQ(read(log, {9, 7}, 0).outcome, ReadOutcome::kRewound);
}

TEST_P(Conformance, WhatIsAcknowledgedIsSeenByAll) {
  SharedLog* writer = connect();
  SharedLog* reader = connect();
  Head end;
  for (int i = 0; i < 100; ++i) {
    const Head before = end;
    put(writer, &end, numbered(i));
    ASSERT_EQ(read_all(reader, before).size(), 1u);
  }
}

// Several members append at once, each after the end it knows, and one reads along.
TEST_P(Conformance, AReaderRacesWriters) {
  constexpr size_t kWriters = 3;
  constexpr uint64_t kWanted = 60;
  struct Writer {
    SharedLog* log = nullptr;
    Head end;
    bool is_busy = false;
    std::vector<Head> done;
  };
  std::vector<Writer> writers(kWriters);
  for (Writer& writer : writers) writer.log = connect();
  SharedLog* reader = connect();
  std::vector<Record> seen;
  bool reads = false;
  uint64_t sent = 0;
  const auto step = [&] {
    for (Writer& writer : writers) {
      if (writer.is_busy || writer.end.log_index >= kWanted) continue;
      writer.is_busy = true;
      const std::string record = numbered(++sent);
      writer.log->append(writer.end, record, [&writer](const Appended& answer) {
        if (answer.outcome == AppendOutcome::kDone) writer.done.push_back(answer.head);
        writer.log->read(writer.end, 1 << 20, [&writer](const Read& read) {
          if (!read.records.empty()) writer.end = read.records.back().head;
          writer.is_busy = false;
        });
      });
    }
    if (reads) return;
    reads = true;
    const Head after = seen.empty() ? Head{} : seen.back().head;
    reader->read(after, 200, [&](const Read& read) {
      reads = false;
      EXPECT_EQ(read.outcome, ReadOutcome::kRecords);
      for (const Record& record : read.records) {
        EXPECT_EQ(record.head.log_index, seen.size() + 1);
        seen.push_back(record);
      }
    });
  };
  wait_until([&] {
    step();
    return seen.size() >= kWanted;
  });
  wait_until([&] {
    return !reads && std::none_of(writers.begin(), writers.end(),
                                  [](const Writer& writer) { return writer.is_busy; });
  });
  const auto all = read_all(reader, {});
  size_t done = 0;
  for (const Writer& writer : writers) {
    done += writer.done.size();
    for (const Head& head : writer.done) EXPECT_EQ(all.at(head.log_index - 1).head, head);
  }
  EXPECT_EQ(done, all.size()) << "each record is the one of an append that was acknowledged";
}

}  // namespace weir::storage::replication
