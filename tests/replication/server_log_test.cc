// What an engine gets from ServerLog: one that adds its statements alone, on a table in memory, is
// a SharedLog as the others are; and what waits for its server, how long, and what is told of it.
#include "storage/shared_logs/server_log.h"

#include <gtest/gtest.h>

#include <map>

#include "base/crc64.h"
#include "storage/replication/log_rows.h"
#include "tests/replication/conformance.h"

namespace weir::storage::replication {
namespace {

constexpr size_t kTableBytesMax = 32 << 20;

struct LogTable {
  Head end() const { return rows.empty() ? Head{} : rows.back().head; }

  std::vector<Record> rows;
  bool is_away = false;
  size_t unanswered = 0;  // so many that are sent are not answered
};

class TableLog final : public ServerLog {
 public:
  explicit TableLog(LogTable* table) : ServerLog("Table", kTableBytesMax), table_(*table) {}

  void trim(uint64_t up_to) override {
    auto& rows = table_.rows;
    while (rows.size() > 1 && rows.front().head.log_index <= up_to) rows.erase(rows.begin());
  }
  LogFacts facts() const override {
    LogFacts facts;
    facts.engine = "table";
    facts.record_bytes_max = kTableBytesMax;
    return facts;
  }
  void put(std::string, std::string) override {}
  std::vector<RegistryEntry> snapshot() const override { return {}; }
  void set_watcher(SocketWatcher*) override {}
  void on_ready(int64_t boot_ns) override { tick(boot_ns); }

 private:
  int64_t allowed_ns(size_t append_bytes) const override {
    return kPatience * kNsPerS + transfer_ns(append_bytes);
  }
  void send_waiting() override {}
  void note_time() override {}
  void work() override {
    while (!table_.is_away && !requests().empty()) run(requests().pop());
  }
  int64_t own_deadline() const override {
    return requests().empty() ? INT64_MAX : now_ns() + kLookNs;
  }
  LogTrouble own_trouble() const override { return {.text = own_, .needs_person = false}; }
  void waited_in_vain() override { troubles().connection.text = line("it is away"); }

  void run(LogRequest request) {
    if (table_.unanswered > 0) {
      --table_.unanswered;
      troubles().append = line("no answer");
      return requests().give_up(std::move(request), true);
    }
    own_ = line("it is a table");
    if (AppendRequest* const append = request.append()) return append_row(*append);
    ReadRequest& read = *request.read();
    const Head after = read.after;
    std::vector<Record> rows;
    for (size_t bytes = 0; const Record& row : table_.rows) {
      if (row.head.log_index < after.log_index) continue;
      if (row.head.log_index > after.log_index && bytes > read.bytes_max) break;
      rows.push_back(row);
      bytes += row.head.log_index > after.log_index ? row.bytes.size() : 0;
    }
    const bool at_end = rows.empty() || rows.back().head == table_.end();
    Read told = read_from_rows(after, std::move(rows), at_end);
    if (read.bytes_max == 0) told.records.clear();
    requests().answer(std::move(read), std::move(told));
  }

  void append_row(const AppendRequest& request) {
    const Head end = table_.end();
    if (request.expected && *request.expected != end)
      return requests().answer(request, {.outcome = AppendOutcome::kRefused, .head = {}});
    const Head head{.log_index = end.log_index + 1, .crc = request.crc};
    table_.rows.push_back({.head = head, .bytes = request.record});
    requests().answer(request, {.outcome = AppendOutcome::kDone, .head = head});
  }

  LogTable& table_;
  std::string own_;
};

class TableEngine : public LogEngine {
 public:
  std::unique_ptr<SharedLog> connect(const std::string& shard) override {
    return std::make_unique<TableLog>(&tables_[shard]);
  }
  void pass() override { now_ns_ += kNsPerMs; }
  int64_t boot_ns() override { return now_ns_; }
  int passes_in_a_while() const override { return 10; }

 private:
  std::map<std::string, LogTable> tables_;
  int64_t now_ns_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Tables, Conformance,
                         testing::Values(LogEngineFactory{
                             "Table", [] { return std::make_unique<TableEngine>(); }}),
                         [](const auto& info) { return info.param.name; });

class ServerLogTest : public testing::Test {
 protected:
  void append(const std::string& record = "a") {
    log_.append(std::nullopt, record, [this](const Appended& came) { appended_.push_back(came); });
  }
  void read() {
    log_.read({}, 1, [this](const Read& came) { read_.push_back(came); });
  }

  LogTable table_;
  TableLog log_{&table_};
  std::vector<Appended> appended_;
  std::vector<Read> read_;
};

TEST_F(ServerLogTest, AWaitBeginsAtTheNextTick) {
  table_.is_away = true;
  log_.tick(kNsPerS);
  append();
  EXPECT_EQ(log_.next_deadline(), kNsPerS + 10 * kNsPerMs);
  log_.tick(60 * kNsPerS);  // the log was asked at an unknown time since the tick before
  EXPECT_TRUE(appended_.empty());
  log_.tick(63 * kNsPerS - 1);
  EXPECT_TRUE(appended_.empty());
  log_.tick(63 * kNsPerS);
  ASSERT_EQ(appended_.size(), 1u);
  EXPECT_EQ(appended_[0].outcome, AppendOutcome::kRefused) << "it was not sent";
  EXPECT_EQ(log_.trouble().text, "Table: it is away");
}

TEST_F(ServerLogTest, OnlyWhatHasWaitedTooLongIsGivenUp) {
  table_.is_away = true;
  append(std::string(9 << 20, 'a'));  // has two seconds more
  read();
  log_.tick(0);
  log_.tick(3 * kNsPerS);
  EXPECT_TRUE(appended_.empty());
  ASSERT_EQ(read_.size(), 1u);
  EXPECT_EQ(read_[0].outcome, ReadOutcome::kFailed);
  table_.is_away = false;
  log_.tick(5 * kNsPerS);
  ASSERT_EQ(appended_.size(), 1u);
  EXPECT_EQ(appended_[0].outcome, AppendOutcome::kDone) << "it is sent before it is given up";
}

TEST_F(ServerLogTest, WhatWasSentAndNotAnsweredIsUnknown) {
  table_.unanswered = 2;
  append();
  read();
  log_.tick(0);
  ASSERT_EQ(appended_.size() + read_.size(), 2u);
  EXPECT_EQ(appended_[0].outcome, AppendOutcome::kUnknown);
  EXPECT_EQ(read_[0].outcome, ReadOutcome::kFailed);
  EXPECT_TRUE(table_.rows.empty());
}

TEST_F(ServerLogTest, ARecordThatIsTooLargeIsRefusedUnsentAndLater) {
  append(std::string(kTableBytesMax + 1, 'a'));
  EXPECT_TRUE(appended_.empty());
  EXPECT_EQ(log_.next_deadline(), 0);
  log_.tick(0);
  ASSERT_EQ(appended_.size(), 1u);
  EXPECT_EQ(appended_[0].outcome, AppendOutcome::kRefused);
  EXPECT_TRUE(table_.rows.empty());
}

TEST_F(ServerLogTest, AnAnswerMayAskAgain) {
  log_.append(std::nullopt, "a", [this](const Appended& came) {
    appended_.push_back(came);
    append("b");
    EXPECT_EQ(appended_.size(), 1u) << "it was told from inside the call";
  });
  log_.tick(0);
  EXPECT_EQ(appended_.size(), 1u);
  log_.tick(0);
  ASSERT_EQ(appended_.size(), 2u);
  EXPECT_EQ(appended_[1].head.log_index, 2u);
}

TEST_F(ServerLogTest, TroubleOfTheConnectionComesBeforeThatOfAppendsAndTheEngine) {
  append();
  log_.tick(0);
  EXPECT_EQ(log_.trouble().text, "Table: it is a table");
  table_.unanswered = 1;
  append();
  log_.tick(0);
  EXPECT_EQ(log_.trouble().text, "Table: no answer");
  table_.is_away = true;
  read();
  log_.tick(0);
  log_.tick(3 * kNsPerS);
  EXPECT_EQ(log_.trouble().text, "Table: it is away");
}

}  // namespace
}  // namespace weir::storage::replication
