// A server whose synchronous standby is away: an append stands in the server and waits, and nobody
// may take it for safe.
#include "tests/postgres/postgres_fixture.h"

namespace weir::storage::postgres {
namespace {

class StandbyAway : public OwnServerTest {
 protected:
  ~StandbyAway() override {
    close_logs();
    if (server_.is_running()) be_back();
  }
  // There is no standby of this name.
  void go_away() { server_.set("synchronous_standby_names", "'absent'"); }
  void be_back() { server_.set("synchronous_standby_names", "''"); }
  // Begins an append that waits in the server.
  std::shared_ptr<std::optional<Appended>> begin_append(PostgresLog* log, const Head& end) {
    const auto got = std::make_shared<std::optional<Appended>>();
    log->append(end, "waits", [got](const Appended& answer) { *got = answer; });
    wait_until([&] {
      return !server_.sql("select 1 from pg_stat_activity where wait_event = 'SyncRep'").empty();
    });
    EXPECT_FALSE(got->has_value());
    return got;
  }
};

TEST_F(StandbyAway, AnAppendIsUnknownAfterThreeSeconds) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  EXPECT_EQ(log->facts().copies, 1u);
  go_away();
  const int64_t begin = now_ns();
  EXPECT_EQ(append(log, end, "b").outcome, AppendOutcome::kUnknown);
  const int64_t took = now_ns() - begin;
  EXPECT_GE(took, 2'900 * kNsPerMs);
  EXPECT_LE(took, 5 * kNsPerS);
  EXPECT_NE(log->trouble().text.find("synchronous standby"), std::string::npos)
      << log->trouble().text;
  const Read meanwhile = read_at_last(log, end);
  EXPECT_EQ(meanwhile.outcome, ReadOutcome::kRecords) << "reads go on";
  EXPECT_TRUE(meanwhile.records.empty()) << "the row is not visible while it waits";
  EXPECT_EQ(log->facts().copies, 2u);
  EXPECT_EQ(append(log, end, "c").outcome, AppendOutcome::kRefused) << "nothing was done";
  be_back();
  Read found;
  wait_until([&] { return !(found = read(log, end)).records.empty(); });
  EXPECT_EQ(found.records[0].bytes, "b");
  EXPECT_EQ(append(log, end, "c").outcome, AppendOutcome::kRefused);
  end = found.records[0].head;
  put(log, &end, "c");
  EXPECT_EQ(log->trouble().text, "");
}

// The trap: the row can be read, and no standby has it.
TEST_F(StandbyAway, ARestartShowsTheRowThatNobodyAcknowledged) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  go_away();
  const auto waits = begin_append(log, end);
  server_.kill();
  wait_until([&] { return waits->has_value(); });
  EXPECT_EQ((*waits)->outcome, AppendOutcome::kUnknown);
  server_.start();
  const Read found = read_at_last(log, end);
  ASSERT_EQ(found.records.size(), 1u);
  EXPECT_EQ(found.records[0].bytes, "waits");
  EXPECT_EQ(append(log, found.records[0].head, "b").outcome, AppendOutcome::kUnknown)
      << "only an acknowledged append settles it";
  be_back();
  wait_until([&] { return read(log, found.records[0].head).records.size() == 1; });
}

TEST_F(StandbyAway, RetriesUseTwoProcessesOfTheServerAtMost) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  go_away();
  size_t most = 0;
  for (int tries = 0; tries < 25; ++tries) {
    const Appended told = append(log, end, "b" + std::to_string(tries));
    ASSERT_NE(told.outcome, AppendOutcome::kDone);
    most = std::max(most, backends());
    ASSERT_LE(most, 2u) << "after " << tries + 1 << " tries";
  }
  EXPECT_EQ(most, 2u) << "one waits, one asks";
}

TEST_F(StandbyAway, ATerminatedAppendIsUnknown) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  go_away();
  const auto waits = begin_append(log, end);
  server_.sql("select pg_terminate_backend(" + backend() + ")");
  wait_until([&] { return waits->has_value(); }, 2 * kNsPerS);
  EXPECT_EQ((*waits)->outcome, AppendOutcome::kUnknown);
  const Read found = read_at_last(log, end);
  ASSERT_EQ(found.records.size(), 1u);
  be_back();
  end = found.records[0].head;
  put(log, &end, "b");
}

// The server answers "1 row" and a warning. What the role is set to, to hear no warnings and to
// wait for nobody, does not count.
TEST_F(StandbyAway, ACancelledAppendIsUnknown) {
  server_.sql("alter role admin set client_min_messages = 'error'");
  server_.sql("alter role admin set synchronous_commit = 'off'");
  server_.sql("alter role admin set statement_timeout = '1s'");
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  const std::string process = backend();
  go_away();
  const auto waits = begin_append(log, end);
  wait_ns(1'200 * kNsPerMs);
  EXPECT_FALSE(waits->has_value()) << "statement_timeout cancels nothing";
  server_.sql("select pg_cancel_backend(" + process + ")");
  wait_until([&] { return waits->has_value(); }, kNsPerS);
  EXPECT_EQ((*waits)->outcome, AppendOutcome::kUnknown);
  EXPECT_NE(log->trouble().text.find("cancelled"), std::string::npos) << log->trouble().text;
  EXPECT_EQ(backend(), process) << "the connection is good";
  EXPECT_EQ(read(log, end).records.size(), 1u) << "it is there, and no standby has it";
}

TEST_F(StandbyAway, WhatIsNoAppendGoesOn) {
  connect();
  Head end;
  for (const char* record : {"a", "b", "c"}) put(logs_[0].get(), &end, record);
  go_away();
  PostgresLog* log = connect();
  log->put("node", "facts");
  log->trim(2);
  wait_until([&] { return read(log, {}).outcome == ReadOutcome::kTrimmed; }, 3 * kNsPerS);
  wait_until([&] { return log->snapshot().size() == 1; }, 6 * kNsPerS);
  ASSERT_EQ(log->snapshot().size(), 1u);
  EXPECT_EQ(log->snapshot()[0].name, "node");
  EXPECT_EQ(log->snapshot()[0].bytes, "facts");
}

}  // namespace
}  // namespace weir::storage::postgres
