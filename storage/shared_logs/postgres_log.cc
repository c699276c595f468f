#include "storage/shared_logs/postgres_log.h"

#include <algorithm>
#include <utility>

#include "base/crc64.h"
#include "storage/shared_logs/postgres/sql.h"

namespace weir::storage {

using postgres::Answer;
using postgres::AppendRequest;
using postgres::Connection;
using postgres::Connector;
using postgres::ReadRequest;
using postgres::Session;
using postgres::Statement;
using replication::Appended;
using replication::Head;
using replication::LogFacts;
using replication::LogTrouble;
using replication::Read;

namespace {

constexpr int64_t kPatience = 3;  // times log-timeout
constexpr size_t kBytesOfASecond = 4 << 20;
constexpr int64_t kLookNs = 10 * kNsPerMs;  // where nobody watches the socket

Read read_of(Read::Outcome outcome) {
  Read read;
  read.outcome = outcome;
  return read;
}

}  // namespace

PostgresLog::PostgresLog(PostgresOptions options)
    : options_(std::move(options)),
      connector_(options_.address, options_.password_file),
      upkeep_(options_.shard) {}

void PostgresLog::append(std::optional<Head> expected, std::string record,
                         std::function<void(Appended)> answer) {
  const uint64_t crc = crc64_xz(record);
  const size_t bytes = record.size();
  Request request{.what = AppendRequest{.expected = expected,
                                        .record = std::move(record),
                                        .crc = crc,
                                        .bytes = bytes,
                                        .answer = std::move(answer)},
                  .deadline_ns = std::nullopt};
  if (bytes > kRecordBytesMax) return fail(std::move(request), false);
  enqueue(std::move(request));
}

void PostgresLog::read(Head after, size_t bytes_max, std::function<void(Read)> answer) {
  enqueue({.what = ReadRequest{.after = after,
                               .bytes_max = bytes_max,
                               .is_second = false,
                               .answer = std::move(answer)},
           .deadline_ns = std::nullopt});
}

LogFacts PostgresLog::facts() const {
  return {.engine = "postgresql",
          .version = server_.version.empty() ? "unknown" : server_.version,
          .copies = upkeep_.copies().value_or(server_.copies),
          .fsync = server_.version.empty() ? LogFacts::Fsync::kUnknown
                   : server_.syncs         ? LogFacts::Fsync::kYes
                                           : LogFacts::Fsync::kNo,
          .record_bytes_max = kRecordBytesMax,
          .uses_parts = false,
          .weakness = ""};
}

LogTrouble PostgresLog::trouble() const {
  if (!connection_trouble_.text.empty()) return connection_trouble_;
  for (const std::string* text : {&append_trouble_, &read_trouble_})
    if (!text->empty()) return {.text = *text, .needs_person = false};
  const std::string& upkeep = upkeep_.trouble();
  return {.text = upkeep.empty() ? "" : "PostgreSQL: " + upkeep, .needs_person = false};
}

void PostgresLog::tick(int64_t boot_ns) {
  now_ns_ = boot_ns;
  note_time();
  if (is_overdue()) is_ready_ = true;  // the watcher's owner may not have come to say so
  do {
    while (step()) continue;
  } while (expire());
  for (const auto& answer : std::exchange(answers_, {})) answer();
  note_time();
  watch();
}

int64_t PostgresLog::next_deadline() const {
  if (!answers_.empty() || is_lost_) return 0;
  int64_t next = INT64_MAX;
  // What was asked since the last tick is not older than that.
  if (doing_ != Doing::kNothing) next = deadline_ns_.value_or(now_ns_ + in_flight_ns_);
  for (const Request& request : waiting_)
    next = std::min(next, request.deadline_ns.value_or(now_ns_ + allowed_ns(request)));
  if (!connection_) next = std::min(next, connector_.next_deadline());
  if (connection_ && doing_ == Doing::kNothing) next = std::min(next, upkeep_.next_deadline());
  const bool expects = doing_ != Doing::kNothing || connector_.descriptor() >= 0;
  if (expects && !watch_.has_watcher()) next = std::min(next, now_ns_ + kLookNs);
  return next;
}

void PostgresLog::put(std::string name, std::string bytes) {
  upkeep_.put(std::move(name), std::move(bytes));
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
  const Connector::Step step = connector_.step(now_ns_);
  if (step == Connector::Step::kWaiting) return false;
  if (step == Connector::Step::kRoundFailed) {
    connection_trouble_ = {.text = "PostgreSQL: " + connector_.failure(), .needs_person = false};
    fail_waiting();
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
  if (const auto statement = upkeep_.next(now_ns_, waiting_.empty())) {
    send(Doing::kUpkeep, *statement, kPatience * options_.log_timeout_ns);
    return true;
  }
  if (waiting_.empty()) return false;
  Request request = std::move(waiting_.front());
  waiting_.pop_front();
  send_request(std::move(request));
  return true;
}

void PostgresLog::enqueue(Request request) {
  waiting_.push_back(std::move(request));
  if (send_next()) watch();
}

void PostgresLog::send(Doing doing, const Statement& statement, int64_t allowed_ns) {
  doing_ = doing;
  in_flight_ns_ = allowed_ns;
  deadline_ns_.reset();
  is_lost_ = !connection_->send(statement);
}

void PostgresLog::send_request(Request request) {
  const int64_t allowed = allowed_ns(request);
  if (AppendRequest* append = request.append()) {
    Statement statement =
        postgres::append(options_.shard, append->expected, append->crc, std::move(append->record));
    in_flight_ = std::move(request);
    return send(Doing::kRequest, statement, allowed);
  }
  const ReadRequest& read = *request.read();
  if (std::exchange(is_damaged_, false)) {
    answers_.push_back([answer = read.answer] { answer(read_of(Read::Outcome::kDamaged)); });
    return;
  }
  const Statement statement = postgres::read(options_.shard, read.after, read.bytes_max);
  in_flight_ = std::move(request);
  send(Doing::kRequest, statement, allowed);
}

void PostgresLog::take(const Answer& answer) {
  const Doing done = std::exchange(doing_, Doing::kNothing);
  if (done == Doing::kSession) return go_on_with_session(session_->take(answer));
  if (done == Doing::kUpkeep) return upkeep_.take(answer, now_ns_);
  Request request = std::move(*in_flight_);
  in_flight_.reset();
  if (request.append()) return take_append(*request.append(), answer);
  take_read(std::move(request), answer);
}

void PostgresLog::go_on_with_session(Session::Step step) {
  if (step == Session::Step::kMore)
    return send(Doing::kSession, session_->next(), kPatience * options_.log_timeout_ns);
  if (step == Session::Step::kFailed) {
    connection_trouble_ = {.text = "PostgreSQL: " + session_->failure(),
                           .needs_person = session_->needs_person()};
    drop();
    return fail_waiting();
  }
  server_ = session_->facts();
  session_.reset();
  connection_trouble_ = {};
  upkeep_.begin(now_ns_);
}

void PostgresLog::take_append(const AppendRequest& request, const Answer& answer) {
  const Appended told = postgres::appended(answer, request.crc);
  if (told.outcome == Appended::Outcome::kDone) append_trouble_.clear();
  if (answer.was_warned())
    append_trouble_ = "PostgreSQL: somebody cancelled an append that waited for the standbys";
  if (!answer.ok()) append_trouble_ = failure_of(answer);
  if (answer.sqlstate() == "23505" && answer.table() == "weir_log") {
    is_damaged_ = true;
    append_trouble_ +=
        ": weir_log has records that weir_head does not know of; were they restored apart?";
  }
  answers_.push_back([answer = request.answer, told] { answer(told); });
}

void PostgresLog::take_read(Request request, const Answer& answer) {
  ReadRequest& read = *request.read();
  Read told;
  if (answer.ok()) {
    told = postgres::rows_read(answer, read.after, read.bytes_max);
    read_trouble_.clear();
    if (told.outcome == Read::Outcome::kDamaged || told.outcome == Read::Outcome::kFailed)
      read_trouble_ = "PostgreSQL: " + postgres::fault_of_rows(answer);
  } else {
    read_trouble_ = failure_of(answer);
  }
  if (told.outcome == Read::Outcome::kDamaged && !std::exchange(read.is_second, true))
    return waiting_.push_front(std::move(request));
  answers_.push_back([answer = std::move(read.answer), told = std::move(told)]() mutable {
    answer(std::move(told));
  });
}

// Tables that are gone are looked for on a new connection.
std::string PostgresLog::failure_of(const Answer& answer) {
  const std::string sqlstate = answer.sqlstate();
  if (sqlstate == "42P01") is_lost_ = true;
  std::string text = "PostgreSQL: " + answer.failure();
  if (sqlstate == "42501")
    text += "; the role needs select, insert, update and delete on weir_head, weir_log, weir_board";
  return text;
}

void PostgresLog::lose(const std::string& why) {
  if (in_flight_) fail(std::move(*in_flight_), true);
  connection_trouble_ = {.text = "PostgreSQL: " + why, .needs_person = false};
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
  return doing_ != Doing::kNothing && now_ns_ >= deadline_ns_.value_or(now_ns_ + in_flight_ns_);
}

// An append that was not answered keeps its connection no longer: the next one gets a new one, and
// is refused by lock_timeout as long as the server still works on this one.
bool PostgresLog::expire() {
  if (is_overdue()) {
    std::string why = "no answer within " + std::to_string(in_flight_ns_ / kNsPerMs) + " ms";
    if (in_flight_ && in_flight_->append()) {
      why += " to an append; perhaps it waits for a synchronous standby that is away";
      append_trouble_ = "PostgreSQL: " + why;
    }
    const bool is_unusable = session_.has_value();
    lose(why);
    if (is_unusable) fail_waiting();
    return true;
  }
  for (size_t i = 0; i < waiting_.size();) {
    if (now_ns_ < waiting_[i].deadline_ns.value_or(INT64_MAX)) {
      ++i;
      continue;
    }
    fail(std::move(waiting_[i]), false);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return false;
}

void PostgresLog::fail(Request request, bool was_sent) {
  if (const AppendRequest* append = request.append()) {
    const Appended told{
        .outcome = was_sent ? Appended::Outcome::kUnknown : Appended::Outcome::kRefused,
        .head = {}};
    answers_.push_back([answer = append->answer, told] { answer(told); });
  } else {
    answers_.push_back(
        [answer = request.read()->answer] { answer(read_of(Read::Outcome::kFailed)); });
  }
}

void PostgresLog::fail_waiting() {
  for (Request& request : std::exchange(waiting_, {})) fail(std::move(request), false);
}

int64_t PostgresLog::allowed_ns(const Request& request) const {
  const auto* append = std::get_if<AppendRequest>(&request.what);
  const size_t bytes = append ? append->bytes : 0;
  return kPatience * options_.log_timeout_ns +
         static_cast<int64_t>(bytes / kBytesOfASecond) * kNsPerS;
}

// What was asked since the last tick began at an unknown time: it counts from now on.
void PostgresLog::note_time() {
  if (doing_ != Doing::kNothing && !deadline_ns_) deadline_ns_ = now_ns_ + in_flight_ns_;
  for (Request& request : waiting_)
    if (!request.deadline_ns) request.deadline_ns = now_ns_ + allowed_ns(request);
}

void PostgresLog::watch() {
  if (connection_)
    return watch_.update(connection_->descriptor(), connector_.descriptor_serial(),
                         connection_->wants_write());
  watch_.update(connector_.descriptor(), connector_.descriptor_serial(), connector_.wants_write());
}

}  // namespace weir::storage
