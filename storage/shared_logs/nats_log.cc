#include "storage/shared_logs/nats_log.h"

#include <algorithm>
#include <utility>

#include "storage/shared_logs/nats/outcome.h"

namespace weir::storage {

using nats::Found;
using nats::Incoming;
using nats::Reply;
using replication::LogFacts;
using replication::LogTrouble;
using replication::Read;

namespace {

constexpr int64_t kMaking = 3;  // times the patience: servers make a stream and elect its leader
constexpr int64_t kBetweenNs = kNsPerS;
constexpr int64_t kAskAgainNs = 250 * kNsPerMs;
constexpr size_t kHeadersMax = 1024;
constexpr const char* kOneCopy = "one server alone holds the stream";
constexpr const char* kNotPermitted =
    "the server does not permit this user all that a member needs (docs/failover.md has the list)";

// An error that says more than that there is none is also put into `error`.
Found found_in(const Reply& reply, std::string* error) {
  if (reply.kind != Reply::Kind::kAnswer) return {};
  auto message = nats::message(reply.text);
  if (message) return {.kind = Found::Kind::kMessage, .message = std::move(*message)};
  if (message.error().code == nats::kNoMessage) return {.kind = Found::Kind::kNone, .message = {}};
  *error = message.error().text;
  return {};
}

}  // namespace

NatsLog::NatsLog(NatsOptions options)
    : ServerLog("NATS", kPayloadMax - kHeadersMax),
      options_(std::move(options)),
      names_(options_.shard),
      link_({.address = options_.address, .password_file = options_.password_file}),
      calls_(&link_),
      maintenance_(names_, &calls_) {}

LogFacts NatsLog::facts() const {
  const nats::StreamInfo& info = maintenance_.info();
  std::string weakness = info.version.empty() ? "" : nats::weakness_of(info);
  if (weakness.empty() && info.replicas < 2 && !info.version.empty()) weakness = kOneCopy;
  return {.engine = "nats jetstream",
          .version = info.version.empty() ? "unknown" : info.version,
          .copies = info.copies,
          .fsync = LogFacts::Fsync::kUnknown,
          .record_bytes_max = kRecordBytesMax,
          .uses_parts = true,
          .weakness = std::move(weakness)};
}

LogTrouble NatsLog::own_trouble() const {
  if (!permission_trouble_.empty()) return {.text = permission_trouble_, .needs_person = false};
  const std::string weakness = maintenance_.info().version.empty() || options_.allows_weak_engine
                                   ? ""
                                   : nats::weakness_of(maintenance_.info());
  return {.text = weakness.empty() ? "" : line("it may lose what it acknowledges: " + weakness),
          .needs_person = false};
}

void NatsLog::work() {
  for (const Incoming& incoming : link_.take()) take(incoming);
  connect();
  if (state_ == State::kSession && now_ns() >= ask_again_ns_) ask_session();
  expire();
  if (state_ == State::kReady) maintenance_.step(now_ns());
  if (state_ == State::kReady && maintenance_.is_stream_gone())
    lose("the stream " + names_.log_stream() + " is gone");
}

int64_t NatsLog::own_deadline() const {
  int64_t next = calls_.next_deadline();
  if (state_ == State::kClosed) next = std::min(next, open_again_ns_);
  if (state_ == State::kSession) next = std::min(next, ask_again_ns_);
  if (state_ == State::kReady) next = std::min(next, maintenance_.next_deadline());
  const bool expects = state_ == State::kOpening || !calls_.empty();
  if (expects && !watcher_) next = std::min(next, now_ns() + kLookNs);
  return next;
}

int64_t NatsLog::allowed_ns(size_t) const {
  return kPatience * options_.log_timeout_ns * (options_.makes_shard ? kMaking : 1);
}

// Where it is not known yet that it is in vain.
void NatsLog::waited_in_vain() {
  if (!troubles().connection.text.empty()) return;
  troubles().connection.text =
      line(state_ == State::kSession ? "JetStream does not answer; has it a leader?"
                                     : "no connection yet");
}

void NatsLog::put(std::string name, std::string bytes) {
  maintenance_.put(std::move(name), std::move(bytes));
}

void NatsLog::set_watcher(SocketWatcher* watcher) {
  if (watcher_) watcher_->unwatch();
  watcher_ = watcher;
  if (watcher_) watcher_->watch(link_.descriptor(), false);
}

void NatsLog::take(const Incoming& incoming) {
  if (incoming.connection != connection_ || state_ == State::kClosed) return;
  switch (incoming.kind) {
    case Incoming::Kind::kOpened:
      return begin_session(incoming.payload_max);
    case Incoming::Kind::kNotOpened:
      lose(incoming.text);
      return requests().fail_waiting();
    case Incoming::Kind::kLost:
      return lose(incoming.text);
    case Incoming::Kind::kAnswer:
    case Incoming::Kind::kNobody:
      if (incoming.kind == Incoming::Kind::kAnswer) answered_ns_ = now_ns();
      return calls_.take(incoming);
    case Incoming::Kind::kNotPermitted:
      permission_trouble_ = line(kNotPermitted);
      if (state_ != State::kSession) return;
      lose(kNotPermitted);
      return requests().fail_waiting();
  }
}

void NatsLog::connect() {
  if (state_ != State::kClosed || now_ns() < open_again_ns_) return;
  open_again_ns_ = now_ns() + kBetweenNs;
  state_ = State::kOpening;
  connection_ = link_.open();
}

void NatsLog::begin_session(size_t payload_max) {
  answered_ns_ = now_ns();
  permission_trouble_.clear();
  if (payload_max < kPayloadMax) {
    lose("the server's max_payload is " + std::to_string(payload_max) + ", and has to be " +
             std::to_string(kPayloadMax) + " at least",
         true);
    return requests().fail_waiting();
  }
  state_ = State::kSession;
  session_.emplace(names_, nats::SessionPlan{.makes_shard = options_.makes_shard,
                                             .allows_weak_engine = options_.allows_weak_engine,
                                             .bytes_max = options_.bytes_max});
  ask_session();
}

// A stream without a leader answers nothing, and does not answer later what it was asked then. The
// first answer to a question counts, and the first that expires ends them all.
void NatsLog::ask_session() {
  ask_again_ns_ = now_ns() + kAskAgainNs;
  calls_.ask(session_->next(), kPatience * options_.log_timeout_ns,
             [this, question = question_](const Reply& reply) {
               if (question == question_) take_session(reply);
             });
}

void NatsLog::take_session(const Reply& reply) {
  ++question_;
  if (reply.kind == Reply::Kind::kLost) return;
  const nats::Session::Step step = session_->take(reply);
  if (step == nats::Session::Step::kMore) return ask_session();
  if (step == nats::Session::Step::kFailed) {
    lose(session_->failure(), session_->needs_person());
    if (session_->needs_person()) requests().fail_waiting();
    return;
  }
  maintenance_.begin(session_->info());
  session_.reset();
  troubles().connection = {};
  state_ = State::kReady;
  send_waiting();
}

// What is under way is answered, and what it asks anew waits for the next connection.
void NatsLog::lose(std::string why, bool needs_person) {
  const bool is_known = !needs_person && !permission_trouble_.empty();
  troubles().connection = {.text = is_known ? permission_trouble_ : line(why),
                           .needs_person = needs_person};
  state_ = State::kClosed;
  link_.close();
  calls_.lose_all();
}

void NatsLog::send_waiting() {
  while (state_ == State::kReady && !requests().empty()) {
    LogRequest request = requests().pop();
    if (AppendRequest* const append = request.append()) {
      send_append(std::move(*append));
    } else {
      read_round(std::make_shared<Reader>(std::move(*request.read())));
    }
  }
}

void NatsLog::send_append(AppendRequest append) {
  const int64_t allowed_ns = options_.log_timeout_ns + transfer_ns(append.record.size());
  nats::Outgoing message =
      nats::append(names_, append.expected, append.crc, std::move(append.record));
  calls_.ask(
      std::move(message), allowed_ns,
      [this, append = std::move(append)](const Reply& reply) { take_append(append, reply); });
}

void NatsLog::take_append(const AppendRequest& append, const Reply& reply) {
  const nats::AppendEnd end =
      nats::end_of_append(reply, names_.log_stream(), append.expected, append.crc);
  troubles().append = end.trouble.empty() ? "" : line(end.trouble);
  requests().answer(append, end.told);
}

void NatsLog::read_round(const std::shared_ptr<Reader>& reader) {
  const std::vector<uint64_t> sequences = reader->reading.next_round();
  if (sequences.empty()) return end_read(reader);
  for (const uint64_t sequence : sequences) {
    calls_.ask(nats::get_message(names_.log_stream(), sequence), options_.log_timeout_ns,
               [this, reader, sequence](const Reply& reply) {
                 std::string error;
                 const bool is_over = reader->reading.take(sequence, found_in(reply, &error));
                 if (!error.empty()) troubles().read = line(error);
                 if (is_over) read_round(reader);
               });
  }
}

void NatsLog::end_read(const std::shared_ptr<Reader>& reader) {
  Read told = reader->reading.result();
  if (told.outcome != Read::Outcome::kFailed) troubles().read.clear();
  ReadRequest& request = reader->request;
  if (told.outcome != Read::Outcome::kDamaged || std::exchange(request.is_second, true))
    return requests().answer(std::move(request), std::move(told));
  enqueue({.what = std::move(request), .allowed_ns = allowed_ns(0), .deadline_ns = std::nullopt});
}

void NatsLog::expire() {
  const nats::Calls::Expired expired = calls_.expire(now_ns());
  const bool is_over = now_ns() >= answered_ns_ + kPatience * options_.log_timeout_ns;
  if (state_ == State::kReady && expired == nats::Calls::Expired::kAndNothingSince) {
    lose("the server does not answer");
  } else if (state_ == State::kReady && expired == nats::Calls::Expired::kSome && is_over) {
    lose("JetStream does not answer");
  }
}

}  // namespace weir::storage
