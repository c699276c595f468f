#include "storage/shared_logs/postgres/sql.h"

#include <algorithm>

#include "base/time_units.h"
#include "storage/replication/log_rows.h"

namespace weir::storage::postgres {

using replication::Appended;
using replication::Head;
using replication::Read;
using replication::Record;

namespace {

constexpr int kRowsOfARead = 64;
constexpr const char* kLockTimeout = "55P03";

// For the transaction that the statement is.
const std::string kLocally = "set_config('synchronous_commit', 'local', true)";

// Columns of what read() answers.
enum LogColumn { kAt, kCrc, kRecord, kBytes };

bool has_log_columns(const Answer& answer) {
  return answer.has_types({Type::kInt8, Type::kInt8, Type::kBytea, Type::kInt8});
}

Read damaged() {
  Read read;
  read.outcome = Read::Outcome::kDamaged;
  return read;
}

// Of a row of weir_board. Nobody is heard of in the future, and infinity has no age.
const std::string kIsYoung = "seen between now() - interval '1 day' and now() + interval '1 day'";

uint64_t to_bigint(uint64_t number) { return std::min(number, static_cast<uint64_t>(INT64_MAX)); }

}  // namespace

const std::vector<Table>& tables() {
  // Much of weir_head's page is left free, so that an update finds room in it and no index has to
  // learn of it. Compression would cost the server time and gain nothing.
  static const std::vector<Table> kTables = {
      {"weir_head",
       "create table if not exists weir_head (shard text primary key, last bigint not null, "
       "crc bigint not null) with (fillfactor = 20);"},
      {"weir_log",
       "create table if not exists weir_log (shard text, at bigint, crc bigint not null, "
       "record bytea not null, primary key (shard, at)); "
       "alter table weir_log alter column record set storage external;"},
      {"weir_board",
       "create table if not exists weir_board (shard text, name text, facts bytea not null, "
       "seen timestamptz not null default now(), primary key (shard, name));"}};
  return kTables;
}

Statement make_table(const Table& table) {
  return {.sql = "select " + kLocally + "; " + table.made_by, .parameters = {}, .is_script = true};
}

// Without the look it would wait for an append that waits, since that holds the row.
Statement make_shard(const std::string& shard) {
  return {.sql = "with locally as (select " + kLocally +
                 ") insert into weir_head select $1, 0, 0 from locally where not exists "
                 "(select 1 from weir_head where shard = $1) on conflict do nothing",
          .parameters = {text_of(shard)}};
}

Statement append(const std::string& shard, const std::optional<Head>& expected, uint64_t crc,
                 std::string record) {
  std::optional<uint64_t> log_index, last_crc;
  if (expected) {
    log_index = expected->log_index;
    last_crc = expected->crc;
  }
  Statement statement{
      .sql =
          "with h as (update weir_head set last = last + 1, crc = $4 where shard = $1 "
          "and ($2::bigint is null or (last = $2 and crc = $3)) returning last) "
          "insert into weir_log (shard, at, crc, record) "
          "select $1, last, $4, $5 from h returning at",
      .parameters = {text_of(shard), number_of(log_index), number_of(last_crc), number_of(crc)}};
  statement.parameters.push_back(bytes_of(std::move(record)));
  return statement;
}

// A warning is how the server says that it gave up waiting for its standbys.
Appended appended(const Answer& answer, uint64_t crc) {
  if (answer.sqlstate() == kLockTimeout)
    return {.outcome = Appended::Outcome::kRefused, .head = {}};
  if (!answer.ok() || answer.was_warned()) return {};
  if (answer.rows() == 0) return {.outcome = Appended::Outcome::kRefused, .head = {}};
  return {.outcome = Appended::Outcome::kDone,
          .head = {.log_index = answer.number(0, 0), .crc = crc}};
}

// The first row proves the identity of `after`. Rows after so many bytes come without their bytes:
// else the server would send 64 records of any size. The length of what is stored apart is known
// without fetching it.
Statement read(const std::string& shard, const Head& after, size_t bytes_max) {
  return {.sql =
              "select at, crc, case when at > $2 and $3 > 0 and coalesce(before, 0) < $3 and bytes "
              "<= " +
              std::to_string(kRecordBytesMax) +
              " then record end, bytes from (select at, crc, record, bytes, "
              "sum(case when at > $2 then bytes end) over "
              "(order by at rows between unbounded preceding and 1 preceding) as before from "
              "(select at, crc, record, octet_length(record)::bigint as bytes "
              "from weir_log where shard = $1 and at >= $2 order by at limit " +
              std::to_string(kRowsOfARead) + ") as rows) as sums order by at",
          .parameters = {text_of(shard), number_of(to_bigint(after.log_index)),
                         number_of(to_bigint(bytes_max))}};
}

std::string fault_of_rows(const Answer& answer) {
  if (!has_log_columns(answer)) return "weir_log has columns of other types than weir gives it";
  for (int row = 0; row < answer.rows(); ++row) {
    if (answer.number(row, kBytes) <= kRecordBytesMax) continue;
    return "weir_log holds a record of " + std::to_string(answer.number(row, kBytes)) +
           " bytes at " + std::to_string(answer.number(row, kAt)) + ", and a record has at most " +
           std::to_string(kRecordBytesMax);
  }
  return "weir_log lacks a record, or holds one whose bytes do not have its checksum";
}

Read rows_read(const Answer& answer, const Head& after, size_t bytes_max) {
  if (!has_log_columns(answer)) return {};
  std::vector<Record> rows;
  bool is_cut = answer.rows() == kRowsOfARead;
  bool follows_any = false;
  for (int row = 0; row < answer.rows(); ++row) {
    const Head head{.log_index = answer.number(row, kAt), .crc = answer.number(row, kCrc)};
    const bool follows = head.log_index > after.log_index;
    // Any other first row tells by its log index alone.
    const bool tells = row > 0 || (after.log_index == 0 && head.log_index == 1);
    if (follows && tells && answer.is_null(row, kRecord)) {
      if (bytes_max > 0 && !follows_any) return damaged();  // it is too large, or null
      is_cut = true;
      break;
    }
    follows_any |= follows;
    rows.push_back({.head = head, .bytes = std::string(answer.bytes(row, kRecord))});
  }
  if (bytes_max == 0 && rows.empty() && is_cut && after.log_index == 0) {
    Read there;
    there.outcome = Read::Outcome::kRecords;
    return there;
  }
  return replication::read_from_rows(after, std::move(rows), !is_cut);
}

Statement trim(const std::string& shard, uint64_t up_to, uint64_t records_max) {
  return {.sql = "with locally as (select " + kLocally +
                 ") delete from weir_log where shard = $1 and at <= (select least($2::bigint, "
                 "(select last - 1 from weir_head where shard = $1), "
                 "(select min(at) + $3::bigint - 1 from weir_log where shard = $1)) from locally)",
          .parameters = {text_of(shard), number_of(to_bigint(up_to)), number_of(records_max)}};
}

Statement put_facts(const std::string& shard, const std::string& name, const std::string& facts) {
  return {.sql = "with locally as (select " + kLocally +
                 "), old as (delete from weir_board where shard = $1 and name <> $2 and not (" +
                 kIsYoung +
                 ")) insert into weir_board (shard, name, facts, seen) select $1, $2, $3, now() "
                 "from locally on conflict (shard, name) do update "
                 "set facts = excluded.facts, seen = excluded.seen",
          .parameters = {text_of(shard), text_of(name), bytes_of(facts)}};
}

Statement read_registry(const std::string& shard) {
  return {.sql =
              "select name, facts, age from (select name, facts, "
              "(greatest(0, extract(epoch from now() - seen)) * 1000000)::bigint as age "
              "from weir_board where shard = $1 and " +
              kIsYoung + " and octet_length(name) <= " +
              std::to_string(replication::MemberRegistry::kNameBytesMax) +
              " and octet_length(facts) <= " +
              std::to_string(replication::MemberRegistry::kFactsBytesMax) +
              " order by seen desc limit " +
              std::to_string(replication::MemberRegistry::kEntriesMax) + ") as young order by name",
          .parameters = {text_of(shard)}};
}

std::optional<std::vector<replication::RegistryEntry>> registry_read(const Answer& answer) {
  if (!answer.has_types({Type::kText, Type::kBytea, Type::kInt8})) return std::nullopt;
  std::vector<replication::RegistryEntry> entries;
  for (int row = 0; row < answer.rows(); ++row) {
    entries.push_back({.name = std::string(answer.bytes(row, 0)),
                       .bytes = std::string(answer.bytes(row, 1)),
                       .age_ns = static_cast<int64_t>(answer.number(row, 2)) * kNsPerUs});
  }
  return entries;
}

}  // namespace weir::storage::postgres
