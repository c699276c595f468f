#include "storage/shared_logs/postgres_log.h"

#include <algorithm>
#include <utility>

#include "storage/shared_logs/postgres/sql.h"

namespace weir::storage {

using postgres::Answer;
using postgres::Connection;
using postgres::Connector;
using postgres::Session;
using postgres::Statement;
using replication::Appended;
using replication::LogFacts;
using replication::LogTrouble;
using replication::Read;

namespace {

Read damaged_read() {
  Read read;
  read.outcome = Read::Outcome::kDamaged;
  return read;
}

}  // namespace

PostgresLog::PostgresLog(PostgresOptions options)
    : ServerLog("PostgreSQL", kRecordBytesMax),
      options_(std::move(options)),
      connector_(options_.address, options_.password_file),
      maintenance_(options_.shard) {}

LogFacts PostgresLog::facts() const {
  return {.engine = "postgresql",
          .version = server_.version.empty() ? "unknown" : server_.version,
          .copies = maintenance_.copies().value_or(server_.copies),
          .fsync = server_.version.empty() ? LogFacts::Fsync::kUnknown
                   : server_.syncs         ? LogFacts::Fsync::kYes
                                           : LogFacts::Fsync::kNo,
          .record_bytes_max = kRecordBytesMax,
          .uses_parts = false,
          .weakness = ""};
}

int64_t PostgresLog::allowed_ns(size_t append_bytes) const {
  return kPatience * options_.log_timeout_ns + transfer_ns(append_bytes);
}

void PostgresLog::send_waiting() {
  if (send_next()) watch();
}

void PostgresLog::note_time() {
  if (doing_ != Doing::kNothing && !deadline_ns_) deadline_ns_ = now_ns() + in_flight_ns_;
}

void PostgresLog::work() {
  if (is_overdue()) is_ready_ = true;  // the watcher's owner may not have come to say so
  do {
    while (step()) continue;
  } while (expire());
  watch();
}

int64_t PostgresLog::own_deadline() const {
  if (is_lost_) return 0;
  int64_t next = INT64_MAX;
  // What was asked since the last tick is not older than that.
  if (doing_ != Doing::kNothing) next = deadline_ns_.value_or(now_ns() + in_flight_ns_);
  if (!connection_) next = std::min(next, connector_.next_deadline());
  if (connection_ && doing_ == Doing::kNothing) next = std::min(next, maintenance_.next_deadline());
  const bool expects = doing_ != Doing::kNothing || connector_.descriptor() >= 0;
  if (expects && !watch_.has_watcher()) next = std::min(next, now_ns() + kLookNs);
  return next;
}

LogTrouble PostgresLog::own_trouble() const {
  const std::string& maintenance = maintenance_.trouble();
  return {.text = maintenance.empty() ? "" : line(maintenance), .needs_person = false};
}

void PostgresLog::put(std::string name, std::string bytes) {
  maintenance_.put(std::move(name), std::move(bytes), now_ns());
}

void PostgresLog::set_watcher(SocketWatcher* watcher) {
  is_ready_ = true;
  watch_.set_watcher(watcher);
  watch();
}

void PostgresLog::on_ready(int64_t boot_ns) {
  is_ready_ = true;
  tick(boot_ns);
}

bool PostgresLog::step() {
  if (!connection_) return connect();
  if (is_lost_) {
    lose(connection_->failure());
    return true;
  }
  return (is_ready_ && look()) || send_next();
}

bool PostgresLog::look() {
  is_ready_ = !watch_.has_watcher();
  const Connection::Step step = connection_->step();
  if (step == Connection::Step::kWaiting) return false;
  if (step == Connection::Step::kLost) {
    lose(connection_->failure());
  } else {
    take(connection_->take());
  }
  return true;
}

bool PostgresLog::connect() {
  const Connector::Step step = connector_.step(now_ns());
  if (step == Connector::Step::kWaiting) return false;
  if (step == Connector::Step::kRoundFailed) {
    troubles().connection = {.text = line(connector_.failure()), .needs_person = false};
    requests().fail_waiting();
    return false;
  }
  connection_ = std::make_unique<Connection>(connector_.take());
  is_ready_ = true;
  session_.emplace(postgres::SessionPlan{.shard = options_.shard,
                                         .makes_shard = options_.makes_shard,
                                         .lock_timeout_ns = options_.log_timeout_ns / 5 * 4});
  go_on_with_session(session_->begin(*connection_));
  return true;
}

bool PostgresLog::send_next() {
  if (!connection_ || session_ || is_lost_ || doing_ != Doing::kNothing) return false;
  if (const auto statement = maintenance_.next(now_ns(), requests().empty())) {
    send(Doing::kMaintenance, *statement, kPatience * options_.log_timeout_ns);
    return true;
  }
  if (requests().empty()) return false;
  send_request(requests().pop());
  return true;
}

void PostgresLog::send(Doing doing, const Statement& statement, int64_t allowed_ns) {
  doing_ = doing;
  in_flight_ns_ = allowed_ns;
  deadline_ns_.reset();
  is_lost_ = !connection_->send(statement);
}

void PostgresLog::send_request(LogRequest request) {
  const int64_t allowed = request.allowed_ns;
  if (AppendRequest* append = request.append()) {
    Statement statement =
        postgres::append(options_.shard, append->expected, append->crc, std::move(append->record));
    in_flight_ = std::move(request);
    return send(Doing::kRequest, statement, allowed);
  }
  ReadRequest& read = *request.read();
  if (std::exchange(is_damaged_, false)) return requests().answer(std::move(read), damaged_read());
  const Statement statement = postgres::read(options_.shard, read.after, read.bytes_max);
  in_flight_ = std::move(request);
  send(Doing::kRequest, statement, allowed);
}

void PostgresLog::take(const Answer& answer) {
  const Doing done = std::exchange(doing_, Doing::kNothing);
  if (done == Doing::kSession) return go_on_with_session(session_->take(answer));
  if (done == Doing::kMaintenance) return maintenance_.take(answer, now_ns());
  LogRequest request = std::move(*in_flight_);
  in_flight_.reset();
  if (request.append()) return take_append(*request.append(), answer);
  take_read(std::move(request), answer);
}

void PostgresLog::go_on_with_session(Session::Step step) {
  if (step == Session::Step::kMore)
    return send(Doing::kSession, session_->next(), kPatience * options_.log_timeout_ns);
  if (step == Session::Step::kFailed) {
    troubles().connection = {.text = line(session_->failure()),
                             .needs_person = session_->needs_person()};
    drop();
    return requests().fail_waiting();
  }
  server_ = session_->facts();
  session_.reset();
  troubles().connection = {};
  maintenance_.begin(now_ns());
}

void PostgresLog::take_append(const AppendRequest& request, const Answer& answer) {
  const Appended told = postgres::appended(answer, request.crc);
  std::string& trouble = troubles().append;
  if (told.outcome == Appended::Outcome::kDone) trouble.clear();
  if (answer.was_warned())
    trouble = line("somebody cancelled an append that waited for the standbys");
  if (!answer.ok()) trouble = failure_of(answer);
  if (answer.sqlstate() == "23505" && answer.table() == "weir_log") {
    is_damaged_ = true;
    trouble += ": weir_log has records that weir_head does not know of; were they restored apart?";
  }
  requests().answer(request, told);
}

void PostgresLog::take_read(LogRequest request, const Answer& answer) {
  ReadRequest& read = *request.read();
  Read told;
  if (answer.ok()) {
    told = postgres::rows_read(answer, read.after, read.bytes_max);
    troubles().read.clear();
    if (told.outcome == Read::Outcome::kDamaged || told.outcome == Read::Outcome::kFailed)
      troubles().read = line(postgres::fault_of_rows(answer));
  } else {
    troubles().read = failure_of(answer);
  }
  if (told.outcome == Read::Outcome::kDamaged && !std::exchange(read.is_second, true))
    return requests().push_front(std::move(request));
  requests().answer(std::move(read), std::move(told));
}

// Tables that are gone are looked for on a new connection.
std::string PostgresLog::failure_of(const Answer& answer) {
  const std::string sqlstate = answer.sqlstate();
  if (sqlstate == "42P01") is_lost_ = true;
  std::string text = line(answer.failure());
  if (sqlstate == "42501")
    text += "; the role needs select, insert, update and delete on weir_head, weir_log, weir_board";
  return text;
}

void PostgresLog::lose(const std::string& why) {
  if (in_flight_) requests().give_up(std::move(*in_flight_), true);
  troubles().connection = {.text = line(why), .needs_person = false};
  drop();
}

void PostgresLog::drop() {
  connection_.reset();
  session_.reset();
  in_flight_.reset();
  doing_ = Doing::kNothing;
  is_lost_ = false;
  connector_.begin_round();
}

bool PostgresLog::is_overdue() const {
  return doing_ != Doing::kNothing && now_ns() >= deadline_ns_.value_or(now_ns() + in_flight_ns_);
}

// An append that was not answered keeps its connection no longer: the next one gets a new one, and
// is refused by lock_timeout as long as the server still works on this one.
bool PostgresLog::expire() {
  if (!is_overdue()) return false;
  std::string why = "no answer within " + std::to_string(in_flight_ns_ / kNsPerMs) + " ms";
  if (in_flight_ && in_flight_->append()) {
    why += " to an append; perhaps it waits for a synchronous standby that is away";
    troubles().append = line(why);
  }
  const bool is_unusable = session_.has_value();
  lose(why);
  if (is_unusable) requests().fail_waiting();
  return true;
}

void PostgresLog::watch() {
  if (connection_)
    return watch_.update(connection_->descriptor(), connector_.descriptor_serial(),
                         connection_->wants_write());
  watch_.update(connector_.descriptor(), connector_.descriptor_serial(), connector_.wants_write());
}

}  // namespace weir::storage
