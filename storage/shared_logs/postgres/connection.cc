#include "storage/shared_logs/postgres/connection.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/one_line.h"

namespace weir::storage::postgres {
namespace {

constexpr int kBinary = 1;
// More than any answer to weir has; a server that sends more has an error text without end.
constexpr size_t kAnswerBytesMax = 48 << 20;
constexpr int kTakenAtOnce = 8192;  // libpq makes room for as many before it reads

bool is_error(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK;
}

}  // namespace

Connection::Connection(OpenConnection connection) : connection_(std::move(connection)) {
  PQsetNoticeReceiver(connection_.get(), &Connection::hear, this);
}

bool Connection::send(const Statement& statement) {
  is_busy_ = true;
  was_warned_ = false;
  received_ = 0;
  result_.reset();
  if (statement.is_script)
    return PQsendQuery(connection_.get(), statement.sql.c_str()) == 1 && flush();
  const size_t count = statement.parameters.size();
  std::vector<Oid> types(count);
  std::vector<const char*> values(count);
  std::vector<int> lengths(count), formats(count, kBinary);
  for (size_t i = 0; i < count; ++i) {
    const Parameter& parameter = statement.parameters[i];
    types[i] = static_cast<Oid>(parameter.type);
    values[i] = parameter.bytes ? parameter.bytes->data() : nullptr;
    lengths[i] = parameter.bytes ? static_cast<int>(parameter.bytes->size()) : 0;
  }
  return PQsendQueryParams(connection_.get(), statement.sql.c_str(), static_cast<int>(count),
                           types.data(), values.data(), lengths.data(), formats.data(),
                           kBinary) == 1 &&
         flush();
}

// Takes in what has come. libpq keeps an answer whole, however long it is; what it has taken of the
// socket is not less than what is counted here. A short answer, as to an append, is taken at once.
bool Connection::receive() {
  const int before = is_busy_ ? waiting_bytes() : 0;
  if (PQconsumeInput(connection_.get()) == 0) return false;
  const int left = before > kTakenAtOnce ? waiting_bytes() : 0;
  received_ += static_cast<size_t>(std::max(before - left, 0));
  if (received_ <= kAnswerBytesMax) return true;
  last_words_ = "the server answers more than " + std::to_string(kAnswerBytesMax) + " bytes";
  return false;
}

int Connection::waiting_bytes() const {
  int waiting = 0;
  return ::ioctl(PQsocket(connection_.get()), FIONREAD, &waiting) == 0 ? waiting : 0;
}

// The first error of a script is its answer.
Connection::Step Connection::step() {
  if (!receive() || !flush()) return Step::kLost;
  while (is_busy_ && PQisBusy(connection_.get()) == 0) {
    std::unique_ptr<PGresult, Clear> next(PQgetResult(connection_.get()));
    if (!next) {
      is_busy_ = false;
      return Step::kAnswered;
    }
    if (!result_ || !is_error(result_.get())) result_ = std::move(next);
  }
  // What the server says of its own accord is heard here.
  if (!is_busy_) PQisBusy(connection_.get());
  return PQstatus(connection_.get()) == CONNECTION_OK ? Step::kWaiting : Step::kLost;
}

Answer Connection::take() { return {std::move(result_), was_warned_}; }

std::string Connection::failure() const {
  if (!last_words_.empty()) return last_words_;
  if (result_ && is_error(result_.get())) return one_line(PQresultErrorMessage(result_.get()));
  return one_line(PQerrorMessage(connection_.get()));
}

void Connection::hear(void* self, const PGresult* notice) {
  const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  auto* const connection = static_cast<Connection*>(self);
  for (const char* harmless : {"NOTICE", "INFO", "LOG", "DEBUG"})
    if (severity && std::strcmp(severity, harmless) == 0) return;
  connection->was_warned_ = true;
  const char* text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  const bool is_warning = severity && std::strcmp(severity, "WARNING") == 0;
  if (text && !is_warning) connection->last_words_ = one_line(text);
}

bool Connection::flush() {
  const int left = PQflush(connection_.get());
  wants_write_ = left == 1;
  return left >= 0;
}

}  // namespace weir::storage::postgres
