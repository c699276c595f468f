#include "storage/shared_logs/postgres/session.h"

#include <algorithm>
#include <charconv>

#include "base/one_line.h"
#include "base/time_units.h"
#include "storage/shared_logs/postgres/sql.h"

namespace weir::storage::postgres {
namespace {

constexpr int kOldestServer = 150000;
constexpr int kLooksMax = 10;

struct Setting {
  const char* name;
  std::string value;
};

// A warning must reach the client, because that is how a wait for standbys is given up.
// lock_timeout ends the wait for an append whose author has gone but which waits for a standby
// itself. A member that the network has cut off cannot say that it has gone: the server looks after
// it every few seconds, or each such cut would leave a process there for two hours, which is what
// the system's own keepalive takes.
std::vector<Setting> settings(const SessionPlan& plan) {
  return {{"synchronous_commit", "on"},
          {"client_min_messages", "warning"},
          {"statement_timeout", "0"},
          {"idle_session_timeout", "0"},
          {"idle_in_transaction_session_timeout", "0"},
          {"default_transaction_isolation", "read committed"},
          {"lock_timeout", std::to_string(plan.lock_timeout_ns / kNsPerMs) + "ms"},
          {"client_connection_check_interval", "1s"},
          {"tcp_keepalives_idle", "2"},
          {"tcp_keepalives_interval", "1"},
          {"tcp_keepalives_count", "3"},
          {"tcp_user_timeout", "5000"}};
}

// What the look answers after the settings.
enum FactColumn { kProcess, kVersion, kStandbys, kFsync, kRecovery, kUser, kFirstTable };
const std::string kFacts =
    "pg_backend_pid(), current_setting('server_version'), "
    "current_setting('synchronous_standby_names'), current_setting('fsync'), "
    "pg_is_in_recovery(), current_user::text";

bool is_race(const std::string& sqlstate) {
  return sqlstate == "23505" || sqlstate == "42P07" || sqlstate == "42710";
}

bool lacks_right(const std::string& sqlstate) { return sqlstate == "42501" || sqlstate == "3F000"; }

}  // namespace

// "", "a, b", "2 (a, b, c)", "FIRST 2 (...)", "ANY 1 (...)".
uint64_t copies_of(const std::string& names) {
  const size_t bracket = names.find('(');
  if (bracket == std::string::npos)
    return names.find_first_not_of(" \t,") == std::string::npos ? 1 : 2;
  const size_t digit = names.find_first_of("0123456789");
  uint64_t count = 1;
  if (digit < bracket) std::from_chars(names.data() + digit, names.data() + bracket, count);
  return 1 + count;
}

Session::Step Session::begin(const Connection& connection) {
  server_process_ = static_cast<uint64_t>(connection.server_process());
  const int version = connection.server_version();
  if (version < kOldestServer)
    return fail("PostgreSQL " + std::to_string(version / 10000) +
                    " is too old for the shared log: 15 is the first that will do",
                true);
  return Step::kMore;
}

Statement Session::next() const {
  const std::vector<Setting> wanted = settings(plan_);
  Statement statement;
  switch (state_) {
    case State::kSettings:
      for (const Setting& setting : wanted) {
        statement.sql += (statement.sql.empty() ? "select " : ", ") +
                         ("set_config('" + std::string(setting.name) + "', '" + setting.value) +
                         "', false)";
      }
      return statement;
    case State::kLook:
      statement.sql = "select " + kFacts;
      for (const Table& table : tables())
        statement.sql += ", to_regclass('" + table.name + "') is not null";
      for (const Setting& setting : wanted)
        statement.sql += ", current_setting('" + std::string(setting.name) + "')";
      return statement;
    case State::kTable:
      return make_table(tables()[missing_table_]);
    case State::kShard:
      return make_shard(plan_.shard);
  }
  return statement;
}

Session::Step Session::take(const Answer& answer) {
  if (state_ == State::kTable) {
    if (!answer.ok()) return table_refused(answer);
    state_ = State::kLook;
    return Step::kMore;
  }
  if (!answer.ok()) return fail(answer.failure(), lacks_right(answer.sqlstate()));
  if (state_ == State::kShard) return Step::kReady;
  if (state_ == State::kLook) return look(answer);
  for (size_t i = 0; i < settings(plan_).size(); ++i)
    settings_.emplace_back(answer.bytes(0, static_cast<int>(i)));
  state_ = State::kLook;
  return Step::kMore;
}

Session::Step Session::fail(std::string failure, bool needs_person) {
  failure_ = std::move(failure);
  needs_person_ = needs_person;
  return Step::kFailed;
}

Session::Step Session::look(const Answer& answer) {
  const int first_setting = kFirstTable + static_cast<int>(tables().size());
  bool holds = answer.number(0, kProcess) == server_process_;
  for (size_t i = 0; i < settings_.size(); ++i)
    holds = holds && answer.bytes(0, first_setting + static_cast<int>(i)) == settings_[i];
  if (!holds)
    return fail(
        "a connection pooler stands between this member and PostgreSQL, and what an "
        "append promises would be lost in it: give the address of the server itself",
        true);
  if (answer.truth(0, kRecovery)) return fail("the server is a standby of PostgreSQL", false);
  facts_ = {.version = one_line(answer.bytes(0, kVersion)),
            .copies = copies_of(std::string(answer.bytes(0, kStandbys))),
            .syncs = answer.bytes(0, kFsync) == "on"};
  user_ = answer.bytes(0, kUser);
  for (missing_table_ = 0; missing_table_ < tables().size(); ++missing_table_) {
    if (answer.truth(0, kFirstTable + static_cast<int>(missing_table_))) continue;
    if (++looks_ > kLooksMax) return fail("the tables of the shared log cannot be made", false);
    state_ = State::kTable;
    return Step::kMore;
  }
  if (!plan_.makes_shard) return Step::kReady;
  state_ = State::kShard;
  return Step::kMore;
}

// Two members that make a table at once: one of them is told that something is there already.
Session::Step Session::table_refused(const Answer& answer) {
  const std::string sqlstate = answer.sqlstate();
  state_ = State::kLook;
  if (is_race(sqlstate)) return Step::kMore;
  if (!lacks_right(sqlstate)) return fail("cannot make the tables: " + answer.failure(), false);
  std::string advice;
  for (const Table& table : tables()) advice += table.made_by + " ";
  const std::string role = "\"" + user_ + "\"";
  return fail("the role " + role + " may not make the tables of the shared log (" +
                  answer.failure() + "). Somebody who may gives, once: " + advice +
                  "grant select, insert, update, delete on weir_head, weir_log, weir_board to " +
                  role + "; alter role " + role +
                  " connection limit 12; (4 for each member of all shards)",
              true);
}

}  // namespace weir::storage::postgres
