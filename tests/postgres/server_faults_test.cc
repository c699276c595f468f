// What a server does wrong, and how each is told: one clear line, and the right outcome.
#include <random>

#include "base/crc64.h"
#include "storage/shared_logs/postgres/sql.h"
#include "tests/postgres/postgres_fixture.h"

namespace weir::storage::postgres {
namespace {

void expect_line(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

class ServerFaults : public OwnServerTest {};
class SharedServer : public PostgresTest {};

// Whatever the moment: an append of unknown outcome is there as a whole or not at all, and the log
// goes on from there.
TEST_F(ServerFaults, AKilledServerLeavesAWholeRecordOrNone) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  std::mt19937 random(1);
  int unknown = 0;
  for (int round = 0; round < 8; ++round) {
    const auto got = std::make_shared<std::optional<Appended>>();
    const std::string record(8 << 20, static_cast<char>('a' + round));
    log->append(end, record, [got](const Appended& answer) { *got = answer; });
    wait_ns(static_cast<int64_t>(random() % 100) * kNsPerMs);
    server_.kill();
    wait_until([&] { return got->has_value(); });
    unknown += (*got)->outcome == AppendOutcome::kUnknown;
    EXPECT_NE((*got)->outcome, AppendOutcome::kRefused) << "it was sent";
    server_.start();
    const Read found = read_at_last(log, end);
    ASSERT_EQ(found.outcome, ReadOutcome::kRecords) << log->trouble().text;
    ASSERT_LE(found.records.size(), 1u);
    EXPECT_TRUE((*got)->outcome != AppendOutcome::kDone || found.records.size() == 1);
    if (!found.records.empty()) {
      EXPECT_TRUE(found.records[0].bytes == record);
      end = found.records[0].head;
    }
    put(log, &end, "after " + std::to_string(round));
  }
  EXPECT_GT(unknown, 0);
}

TEST_F(ServerFaults, AServerThatIsAway) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  server_.stop();
  wait_until([&] { return !log->trouble().text.empty(); });
  EXPECT_EQ(append(log, end, "b").outcome, AppendOutcome::kRefused) << "it was not sent";
  EXPECT_EQ(read(log, end).outcome, ReadOutcome::kFailed);
  expect_line(log->trouble().text, "PostgreSQL: connection to server on socket");
  EXPECT_FALSE(log->trouble().needs_person);
  server_.start();
  const int64_t begin = now_ns();
  EXPECT_EQ(read_at_last(log, end).outcome, ReadOutcome::kRecords);
  put(log, &end, "b");
  EXPECT_LE(now_ns() - begin, 2 * kNsPerS);
  EXPECT_EQ(log->trouble().text, "");
}

TEST_F(ServerFaults, AReadOnlyDatabaseTakesNoAppendsAndIsRead) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  server_.set("default_transaction_read_only", "on");
  EXPECT_EQ(append(log, end, "b").outcome, AppendOutcome::kUnknown);
  expect_line(log->trouble().text, "read-only transaction");
  EXPECT_EQ(read(log, {}).records.size(), 1u);
  PostgresLog* late = connect();
  EXPECT_EQ(read(late, {}).outcome, ReadOutcome::kFailed);
  expect_line(late->trouble().text, "session is read-only");
  server_.set("default_transaction_read_only", "off");
  wait_until([&] { return append(log, end, "b").outcome == AppendOutcome::kDone; });
  EXPECT_EQ(read_at_last(late, {}).records.size(), 2u);
}

TEST_F(SharedServer, AWrongDatabaseIsOneLine) {
  PostgresLog* log = connect(server_.address("admin", "nowhere"));
  EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kFailed);
  EXPECT_EQ(append(log, Head{}, "a").outcome, AppendOutcome::kRefused);
  expect_line(log->trouble().text, "database \"nowhere\" does not exist");
}

TEST_F(SharedServer, AUserWithoutRightsIsToldWhatToDo) {
  sql("drop role if exists plain");
  sql("create role plain login");
  sql("revoke all on schema public from public");
  PostgresLog* log = connect(address("plain"));
  EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kFailed);
  EXPECT_TRUE(log->trouble().needs_person);
  expect_line(log->trouble().text, "the role \"plain\" may not make the tables");
  for (const Table& table : tables()) {
    expect_line(log->trouble().text, table.made_by);
    sql(table.made_by);
  }
  expect_line(log->trouble().text, "connection limit 12");
  sql("grant usage on schema public to plain");
  wait_until([&] {
    EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kFailed) << "it may not read them";
    return log->trouble().text.find("permission denied for table weir_") != std::string::npos;
  });
  sql("grant select, insert, update, delete on weir_head, weir_log, weir_board to plain");
  Read empty;
  wait_until([&] { return (empty = read(log, {})).outcome == ReadOutcome::kRecords; });
  Head end;
  put(log, &end, "a");
  EXPECT_FALSE(log->trouble().needs_person);
  logs_.clear();
  sql("drop owned by plain; drop role plain");
}

TEST_F(SharedServer, MembersThatMakeTheTablesAtOnce) {
  for (int i = 0; i < 8; ++i) connect();
  int answers = 0;
  for (const auto& log : logs_)
    log->read({}, 1, [&](const Read& told) {
      EXPECT_EQ(told.outcome, ReadOutcome::kRecords);
      ++answers;
    });
  wait_until([&] { return answers == 8; });
  EXPECT_EQ(value("select count(*) from weir_head"), "1");
  EXPECT_EQ(value("select attstorage from pg_attribute where attrelid = 'weir_log'::regclass "
                  "and attname = 'record'"),
            "e");
}

TEST_F(SharedServer, AShardThatNobodyMadeIsEmptyAndTakesNothing) {
  PostgresLog* log = connect(address(), false);
  const Read empty = read(log, {});
  EXPECT_EQ(empty.outcome, ReadOutcome::kRecords);
  EXPECT_TRUE(empty.records.empty() && empty.at_end);
  EXPECT_EQ(append(log, Head{}, "a").outcome, AppendOutcome::kRefused);
  EXPECT_EQ(append(log, std::nullopt, "a").outcome, AppendOutcome::kRefused);
  PostgresLog* maker = connect();
  EXPECT_EQ(read(maker, {}).outcome, ReadOutcome::kRecords);
  Head end;
  put(log, &end, "a");
}

TEST_F(SharedServer, TablesThatAreRestoredApart) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  const std::string crc = std::to_string(static_cast<int64_t>(crc64_xz("b")));
  sql("insert into weir_log values ('main', 2, " + crc + ", 'b')");
  EXPECT_EQ(append(log, end, "c").outcome, AppendOutcome::kUnknown);
  expect_line(log->trouble().text, "restored apart");
  EXPECT_EQ(read(log, end).outcome, ReadOutcome::kDamaged);
  sql("delete from weir_log where at = 2");
  put(log, &end, "c");
}

TEST_F(SharedServer, TablesThatAreDroppedReadAsRewound) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  sql("drop table weir_head, weir_log, weir_board");
  EXPECT_EQ(read(log, end).outcome, ReadOutcome::kFailed);
  EXPECT_EQ(read_at_last(log, end).outcome, ReadOutcome::kRewound);
}

TEST_F(SharedServer, TrimmingIsAPrefixAtEveryMoment) {
  PostgresLog* log = connect();
  EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kRecords);
  sql("insert into weir_log select 'main', n, n, 'x' from generate_series(1, 50000) n");
  sql("update weir_head set last = 50000, crc = 50000");
  log->trim(45000);
  log->trim(48000);
  std::string first;
  int steps = 0;
  wait_until([&] {
    const auto row = sql("select min(at), max(at), count(*) from weir_log")[0];
    EXPECT_EQ(row[1], "50000");
    EXPECT_EQ(std::stoi(row[1]) - std::stoi(row[0]) + 1, std::stoi(row[2])) << "a hole";
    steps += first != row[0];
    first = row[0];
    return first == "48001";
  });
  EXPECT_GT(steps, 2) << "in several statements";
  log->trim(UINT64_MAX);
  wait_until([&] { return value("select count(*) from weir_log") == "1"; });
}

}  // namespace
}  // namespace weir::storage::postgres
