// Rows of the tables that no member has written: each costs a bounded amount of memory, and is told
// in one clear line.
#include <sys/resource.h>

#include "base/crc64.h"
#include "storage/shared_logs/postgres/sql.h"
#include "tests/postgres/postgres_fixture.h"

namespace weir::storage::postgres {
namespace {

constexpr size_t kTooLarge = 200 << 20;

int64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

class HostileRows : public PostgresTest {
 protected:
  void expect_trouble(PostgresLog* log, const std::string& part) {
    const std::string text = log->trouble().text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_LT(text.size(), 600u);
  }
  static std::string bigint(uint64_t number) {
    return std::to_string(static_cast<int64_t>(number));
  }
};

// The row has the right checksum: nothing but its size is wrong.
TEST_F(HostileRows, ARecordOf200MegabytesIsNotFetched) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  put(log, &end, "b");
  const std::string crc = bigint(crc64_xz(std::string(kTooLarge, 'x')));
  sql("insert into weir_log values ('main', 3, " + crc + ", convert_to(repeat('x', " +
      std::to_string(kTooLarge) + "), 'UTF8'))");
  const int64_t before = peak_bytes();
  const Read first = read(log, {});
  EXPECT_EQ(first.outcome, ReadOutcome::kRecords);
  EXPECT_EQ(first.records.size(), 2u) << "what stands before it is read";
  EXPECT_FALSE(first.at_end);
  EXPECT_EQ(read(log, end).outcome, ReadOutcome::kDamaged);
  expect_trouble(log,
                 "weir_log holds a record of 209715200 bytes at 3, and a record has at most "
                 "33554432");
  EXPECT_LT(peak_bytes() - before, 40 << 20);
  sql("delete from weir_log where at = 3");
  EXPECT_EQ(read(log, end).outcome, ReadOutcome::kRecords);
  EXPECT_EQ(log->trouble().text, "");
}

TEST_F(HostileRows, ADamagedRecordIsNamed) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  sql("update weir_log set record = 'b'");
  EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kDamaged);
  expect_trouble(log, "bytes do not have its checksum");
}

TEST_F(HostileRows, LogIndexesBelowTheFirstAreNotSeen) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  sql("insert into weir_log values ('main', -1, 0, 'x'), ('main', 0, 0, 'y')");
  const Read found = read(log, {});
  EXPECT_NE(found.outcome, ReadOutcome::kFailed);
  EXPECT_LE(found.records.size(), 1u);
  EXPECT_EQ(read(log, end).outcome, ReadOutcome::kRecords);
}

// A table of another making in the place of weir's.
TEST_F(HostileRows, ColumnsOfOtherTypesAreNamed) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  sql("alter table weir_log alter column record type text using 'a'");
  EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kFailed);
  expect_trouble(log, "weir_log has columns of other types");
  sql("alter table weir_log add column more text, alter column record drop not null");
  sql("update weir_log set record = null");
  EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kFailed);
  sql("alter table weir_log alter column record type bytea using null");
  EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kDamaged) << "no bytes are no record";
}

TEST_F(HostileRows, AnErrorWithoutEndIsCutOff) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  sql("create function shout() returns trigger language plpgsql as $$ begin "
      "raise exception '%', repeat(E'\\e[2J', 100); end $$");
  sql("create trigger shout before insert on weir_log for each row execute function shout()");
  EXPECT_EQ(append(log, end, "b").outcome, AppendOutcome::kUnknown);
  expect_trouble(log, "[2J");
  EXPECT_EQ(log->trouble().text.find('\033'), std::string::npos);
  const int64_t before = peak_bytes();
  sql("create or replace function shout() returns trigger language plpgsql as $$ begin "
      "loop raise warning '%', repeat('x', 100000); end loop; end $$");
  const std::string bound = "PostgreSQL: the server answers more than 50331648 bytes";
  const auto is_cut_off = [&] {  // where the machine is busy an append may end by its time first
    return append(log, end, "b").outcome == AppendOutcome::kUnknown &&
           log->trouble().text.find(bound) != std::string::npos;
  };
  wait_until(is_cut_off, 120 * kNsPerS);
  expect_trouble(log, bound);
  sql("drop trigger shout on weir_log");
  EXPECT_EQ(read_at_last(log, end).outcome, ReadOutcome::kRecords);
  EXPECT_LT(peak_bytes() - before, 150 << 20);
}

class HostileRegistry : public HostileRows {
 protected:
  // What a member sees once it has read the member registry anew.
  std::vector<replication::RegistryEntry> registry(PostgresLog* log) {
    const int64_t begin = now_ns();
    wait_until([&] { return now_ns() - begin > 5 * kNsPerS; });
    return log->snapshot();
  }
  static size_t count(const std::vector<replication::RegistryEntry>& registry,
                      const std::string& name) {
    return static_cast<size_t>(
        std::count_if(registry.begin(), registry.end(),
                      [&](const replication::RegistryEntry& entry) { return entry.name == name; }));
  }
};

TEST_F(HostileRegistry, RowsThatAreNobodysAreNotFetched) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  log->put("mine", "facts");
  sql("insert into weir_board values ('main', 'large', convert_to(repeat('x', 200000000), "
      "'UTF8'))");
  sql("insert into weir_board values ('main', repeat('n', 2000), 'facts')");
  sql("insert into weir_board values ('main', 'never', 'facts', '-infinity')");
  sql("insert into weir_board values ('main', 'always', 'facts', 'infinity')");
  sql("insert into weir_board select 'main', 'many' || i, 'facts', now() - interval '1 hour' "
      "from generate_series(1, 100000) as i");
  const int64_t before = peak_bytes();
  const auto seen = registry(log);
  EXPECT_LE(seen.size(), replication::MemberRegistry::kEntriesMax);
  EXPECT_EQ(count(seen, "mine"), 1u);
  for (const char* name : {"large", "never", "always"}) EXPECT_EQ(count(seen, name), 0u) << name;
  EXPECT_LT(peak_bytes() - before, 40 << 20);
  log->put("mine", "later");
  (void)registry(log);
  EXPECT_EQ(value("select count(*) from weir_board where name in ('never', 'always')"), "0");
  EXPECT_EQ(log->trouble().text, "");
}

TEST_F(HostileRegistry, ATableOfAnotherMakingIsNamed) {
  PostgresLog* log = connect();
  Head end;
  put(log, &end, "a");
  sql("alter table weir_board alter column facts type text using ''");
  (void)registry(log);
  expect_trouble(log, "weir_board has columns of other types");
}

}  // namespace
}  // namespace weir::storage::postgres
