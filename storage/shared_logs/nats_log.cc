#include "storage/shared_logs/nats_log.h"

#include <algorithm>
#include <utility>

#include "base/crc64.h"
#include "storage/shared_logs/nats/outcome.h"

namespace weir::storage {

using nats::Found;
using nats::Incoming;
using nats::Reply;
using replication::Appended;
using replication::Head;
using replication::LogFacts;
using replication::LogTrouble;
using replication::Read;

namespace {

constexpr int64_t kNatsPatience = 3;  // times log-timeout
constexpr int64_t kMaking = 3;        // times that: servers make a stream and elect its leader
constexpr int64_t kBetweenNs = kNsPerS;
constexpr int64_t kNatsLookNs = 10 * kNsPerMs;  // where nobody watches the mailbox
constexpr int64_t kAskAgainNs = 250 * kNsPerMs;
constexpr size_t kNatsBytesOfASecond = 4 << 20;
constexpr size_t kHeadersMax = 1024;
constexpr const char* kOneCopy = "one server alone holds the stream";
constexpr const char* kNotPermitted =
    "the server does not permit this user all that a member needs (docs/failover.md has the list)";

int64_t time_for(size_t bytes) {
  return static_cast<int64_t>(bytes / kNatsBytesOfASecond) * kNsPerS;
}

Appended outcome_of(Appended::Outcome outcome) { return {.outcome = outcome, .head = {}}; }

Found found_in(const Reply& reply, std::string* trouble) {
  if (reply.kind != Reply::Kind::kAnswer) return {};
  auto message = nats::message(reply.text);
  if (message) return {.kind = Found::Kind::kMessage, .message = std::move(*message)};
  if (message.error().code == nats::kNoMessage) return {.kind = Found::Kind::kNone, .message = {}};
  *trouble = "NATS: " + message.error().text;
  return {};
}

}  // namespace

NatsLog::NatsLog(NatsOptions options)
    : options_(std::move(options)),
      names_(options_.shard),
      link_({.address = options_.address, .password_file = options_.password_file}),
      calls_(&link_),
      upkeep_(names_, &calls_) {}

void NatsLog::append(std::optional<Head> expected, std::string record,
                     std::function<void(Appended)> answer) {
  const uint64_t crc = crc64_xz(record);
  const bool fits = record.size() <= kPayloadMax - kHeadersMax;
  Waiting waiting{.what = Append{.expected = expected,
                                 .record = std::move(record),
                                 .crc = crc,
                                 .answer = std::move(answer)},
                  .deadline_ns = std::nullopt};
  if (!fits) return fail(std::move(waiting));
  enqueue(std::move(waiting));
}

void NatsLog::read(Head after, size_t bytes_max, std::function<void(Read)> answer) {
  auto reader = std::make_shared<Reader>(after, bytes_max);
  reader->answer = std::move(answer);
  enqueue({.what = std::move(reader), .deadline_ns = std::nullopt});
}

LogFacts NatsLog::facts() const {
  const nats::StreamInfo& info = upkeep_.info();
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

LogTrouble NatsLog::trouble() const {
  if (!connection_trouble_.text.empty()) return connection_trouble_;
  for (const std::string* text : {&append_trouble_, &read_trouble_, &permission_trouble_})
    if (!text->empty()) return {.text = *text, .needs_person = false};
  const std::string weakness = upkeep_.info().version.empty() || options_.allows_weak_engine
                                   ? ""
                                   : nats::weakness_of(upkeep_.info());
  return {.text = weakness.empty() ? "" : "NATS: it may lose what it acknowledges: " + weakness,
          .needs_person = false};
}

void NatsLog::tick(int64_t boot_ns) {
  now_ns_ = boot_ns;
  note_time();
  for (const Incoming& incoming : link_.take()) take(incoming);
  connect();
  if (state_ == State::kSession && now_ns_ >= ask_again_ns_) ask_session();
  expire();
  if (state_ == State::kReady) upkeep_.step(now_ns_);
  if (state_ == State::kReady && upkeep_.is_stream_gone())
    lose("the stream " + names_.log_stream() + " is gone");
  for (const auto& answer : std::exchange(answers_, {})) answer();
  note_time();
}

int64_t NatsLog::next_deadline() const {
  if (!answers_.empty()) return 0;
  int64_t next = calls_.next_deadline();
  for (const Waiting& waiting : waiting_)
    next = std::min(next, waiting.deadline_ns.value_or(now_ns_ + patience_ns()));
  if (state_ == State::kClosed) next = std::min(next, open_again_ns_);
  if (state_ == State::kSession) next = std::min(next, ask_again_ns_);
  if (state_ == State::kReady) next = std::min(next, upkeep_.next_deadline());
  const bool expects = state_ == State::kOpening || !calls_.empty();
  if (expects && !watcher_) next = std::min(next, now_ns_ + kNatsLookNs);
  return next;
}

void NatsLog::put(std::string name, std::string bytes) {
  upkeep_.put(std::move(name), std::move(bytes));
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
      return fail_waiting();
    case Incoming::Kind::kLost:
      return lose(incoming.text);
    case Incoming::Kind::kAnswer:
    case Incoming::Kind::kNobody:
      if (incoming.kind == Incoming::Kind::kAnswer) answered_ns_ = now_ns_;
      return calls_.take(incoming);
    case Incoming::Kind::kNotPermitted:
      permission_trouble_ = std::string("NATS: ") + kNotPermitted;
      if (state_ != State::kSession) return;
      lose(kNotPermitted);
      return fail_waiting();
  }
}

void NatsLog::connect() {
  if (state_ != State::kClosed || now_ns_ < open_again_ns_) return;
  open_again_ns_ = now_ns_ + kBetweenNs;
  state_ = State::kOpening;
  connection_ = link_.open();
}

void NatsLog::begin_session(size_t payload_max) {
  answered_ns_ = now_ns_;
  permission_trouble_.clear();
  if (payload_max < kPayloadMax) {
    lose("the server's max_payload is " + std::to_string(payload_max) + ", and has to be " +
             std::to_string(kPayloadMax) + " at least",
         true);
    return fail_waiting();
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
  ask_again_ns_ = now_ns_ + kAskAgainNs;
  calls_.ask(session_->next(), kNatsPatience * options_.log_timeout_ns,
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
    if (session_->needs_person()) fail_waiting();
    return;
  }
  upkeep_.begin(session_->info());
  session_.reset();
  connection_trouble_ = {};
  state_ = State::kReady;
  for (Waiting& waiting : std::exchange(waiting_, {})) send(std::move(waiting));
}

// What is under way is answered, and what it asks anew waits for the next connection.
void NatsLog::lose(std::string why, bool needs_person) {
  const bool is_known = !needs_person && !permission_trouble_.empty();
  connection_trouble_ = {.text = is_known ? permission_trouble_ : "NATS: " + std::move(why),
                         .needs_person = needs_person};
  state_ = State::kClosed;
  link_.close();
  calls_.lose_all();
}

void NatsLog::enqueue(Waiting waiting) {
  if (state_ == State::kReady) return send(std::move(waiting));
  waiting_.push_back(std::move(waiting));
}

void NatsLog::send(Waiting waiting) {
  if (auto* const append = std::get_if<Append>(&waiting.what))
    return send_append(std::move(*append));
  read_round(std::get<std::shared_ptr<Reader>>(waiting.what));
}

void NatsLog::send_append(Append append) {
  const int64_t allowed_ns = options_.log_timeout_ns + time_for(append.record.size());
  nats::Outgoing message =
      nats::append(names_, append.expected, append.crc, std::move(append.record));
  calls_.ask(
      std::move(message), allowed_ns,
      [this, append = std::move(append)](const Reply& reply) { take_append(append, reply); });
}

void NatsLog::take_append(const Append& append, const Reply& reply) {
  const nats::AppendEnd end =
      nats::end_of_append(reply, names_.log_stream(), append.expected, append.crc);
  append_trouble_ = end.trouble.empty() ? "" : "NATS: " + end.trouble;
  answers_.push_back([answer = append.answer, told = end.told] { answer(told); });
}

void NatsLog::read_round(const std::shared_ptr<Reader>& reader) {
  const std::vector<uint64_t> sequences = reader->reading.next_round();
  if (sequences.empty()) return end_read(reader);
  for (const uint64_t sequence : sequences) {
    calls_.ask(nats::get_message(names_.log_stream(), sequence), options_.log_timeout_ns,
               [this, reader, sequence](const Reply& reply) {
                 if (reader->reading.take(sequence, found_in(reply, &read_trouble_)))
                   read_round(reader);
               });
  }
}

void NatsLog::end_read(const std::shared_ptr<Reader>& reader) {
  Read told = reader->reading.result();
  if (told.outcome != Read::Outcome::kFailed) read_trouble_.clear();
  if (told.outcome == Read::Outcome::kDamaged && !reader->is_second) {
    auto again = std::make_shared<Reader>(reader->after, reader->bytes_max);
    again->is_second = true;
    again->answer = std::move(reader->answer);
    return enqueue({.what = std::move(again), .deadline_ns = std::nullopt});
  }
  answers_.push_back([answer = std::move(reader->answer), told = std::move(told)]() mutable {
    answer(std::move(told));
  });
}

// Of what was not sent.
void NatsLog::fail(Waiting waiting) {
  if (auto* const append = std::get_if<Append>(&waiting.what)) {
    answers_.push_back(
        [answer = std::move(append->answer)] { answer(outcome_of(Appended::Outcome::kRefused)); });
  } else {
    answers_.push_back(
        [answer = std::move(std::get<std::shared_ptr<Reader>>(waiting.what)->answer)] {
          answer(Read{});
        });
  }
}

void NatsLog::fail_waiting() {
  for (Waiting& waiting : std::exchange(waiting_, {})) fail(std::move(waiting));
}

void NatsLog::expire() {
  const nats::Calls::Expired expired = calls_.expire(now_ns_);
  const bool is_over = now_ns_ >= answered_ns_ + kNatsPatience * options_.log_timeout_ns;
  if (state_ == State::kReady && expired == nats::Calls::Expired::kAndNothingSince) {
    lose("the server does not answer");
  } else if (state_ == State::kReady && expired == nats::Calls::Expired::kSome && is_over) {
    lose("JetStream does not answer");
  }
  for (size_t i = 0; i < waiting_.size();) {
    if (now_ns_ < waiting_[i].deadline_ns.value_or(INT64_MAX)) {
      ++i;
      continue;
    }
    fail(std::move(waiting_[i]));
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    if (connection_trouble_.text.empty()) connection_trouble_.text = what_is_waited_for();
  }
}

// Where it is not known yet that it is in vain.
std::string NatsLog::what_is_waited_for() const {
  if (state_ == State::kSession) return "NATS: JetStream does not answer; has it a leader?";
  return "NATS: no connection yet";
}

int64_t NatsLog::patience_ns() const {
  return kNatsPatience * options_.log_timeout_ns * (options_.makes_shard ? kMaking : 1);
}

// What was asked since the last tick began at an unknown time: it counts from now on.
void NatsLog::note_time() {
  calls_.note_time(now_ns_);
  for (Waiting& waiting : waiting_)
    if (!waiting.deadline_ns) waiting.deadline_ns = now_ns_ + patience_ns();
}

}  // namespace weir::storage
