#include "server/http/grpc/conversation.h"

#include <algorithm>

#include "base/heap_bytes.h"
#include "resp/value.h"
#include "server/acl/acl.h"
#include "server/core/metrics/metrics.h"
#include "server/core/run/server.h"
#include "server/http/credentials.h"
#include "server/http/format/reply.h"
#include "server/http/grpc/framing.h"
#include "server/http/grpc/health.h"
#include "server/http/grpc/reflection.h"

namespace weir::server::grpc {
namespace {

constexpr std::string_view kContentType = "application/grpc";
constexpr std::string_view kForeign =
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    "Content-Length: 51\r\n\r\nthis port is for gRPC: HTTP/2 with prior knowledge\n";

// Output beyond this waits in HTTP/2's queues, and its memory is given back beyond that.
constexpr size_t kWrittenMax = 64 << 10;
constexpr size_t kWrittenKept = 16 << 10;

// What a call costs besides its bytes and its commands, in work units, and what a frame does.
constexpr size_t kCallUnits = 200;
constexpr size_t kFrameUnits = 10;
// How many bytes of header, as they are when decompressed, and how many rules that are passed, are
// one work unit.
constexpr size_t kHeaderBytesPerUnit = 256;
constexpr size_t kRulesPerUnit = 8;
constexpr size_t kBodyBytesPerUnit = 32;  // which are read, and may be hashed

bool is_grpc(std::string_view content_type) {
  if (!content_type.starts_with(kContentType)) return false;
  const std::string_view rest = content_type.substr(kContentType.size());
  return rest.empty() || rest.front() == '+' || rest.front() == ';';
}

bool is_reflection(std::string_view path) {
  return path == kReflectionPath || path == kReflectionAlphaPath;
}

HeaderFields fields_of_answer() { return {{"content-type", std::string(kContentType)}}; }

HeaderFields trailers_of(const Status& status) {
  HeaderFields trailers = {{"grpc-status", std::to_string(static_cast<int>(status.code))}};
  if (!status.text.empty()) trailers.emplace_back("grpc-message", percent_encoded(status.text));
  return trailers;
}

}  // namespace

Conversation::Conversation(Server* server, Session* session, http::Clients* clients)
    : server_(*server),
      session_(*session),
      clients_(*clients),
      http2_(kMessageBytesMax + kFrameHeadBytes, is_reflection),
      pace_{.session = session},
      begun_ns_(server->clock().steady_ns()),
      owed_since_ns_(begun_ns_) {
  constexpr int kProtocol = 3;  // replies say what is a map
  session_.replies().writer().set_protocol(kProtocol);
  (void)session_.client().set_library_name("grpc", "");
  clients_.add(&pace_);
  go_on();
}

Conversation::~Conversation() { clients_.remove(&pace_); }

void Conversation::receive(std::string_view bytes) {
  session_.join_turn();
  const uint64_t units_before = server_.work().units();
  if (!bytes.empty()) {
    Stats& stats = server_.report().stats;
    stats.bytes_in += bytes.size();
    ++stats.reads;
    const size_t frames = http2_.frames_received();
    const size_t header_bytes = http2_.header_bytes_received();
    http2_.receive(bytes, server_.clock().steady_ns());
    server_.work().charge_entries(kFrameUnits * (http2_.frames_received() - frames) +
                                  (http2_.header_bytes_received() - header_bytes) /
                                      kHeaderBytesPerUnit);
    take_whole();
    if (http2_.is_foreign()) output_ = kForeign;
  }
  run_calls();
  if (server_.work().units() - units_before >= WorkMeter::kSliceUnits)
    session_.activity().note_long();
  go_on();
}

void Conversation::run_calls() {
  const uint64_t end = server_.work().slice_end();
  bool is_first = true;  // which goes on whatever the turn has done before
  while (has_more() && !session_.closing() &&
         (std::exchange(is_first, false) || server_.work().units() < end)) {
    const int32_t stream = waiting_.front();
    waiting_.pop_front();
    if (http2_.is_open(stream)) {
      run_call(stream);
    } else {
      calls_.erase(stream);
    }
    (void)server_.timeline().now_ns();  // the turn's time is known by looks at the clock
  }
}

void Conversation::take_whole() {
  const std::vector<int32_t> whole = http2_.take_whole();
  waiting_.insert(waiting_.end(), whole.begin(), whole.end());
}

void Conversation::run_call(int32_t stream) {
  if (http2_.is_dialogue(stream)) return go_on_reflecting(stream);
  const auto call = calls_.find(stream);
  if (call == calls_.end()) return begin_call(stream);
  if (const auto logged_in = log_in(call->second.authorization); !logged_in) {
    answer(stream, logged_in.error());
    calls_.erase(call);
    return;
  }
  submit(stream, &call->second);
}

void Conversation::begin_call(int32_t stream) {
  server_.work().charge_entries(kCallUnits);
  Request request = http2_.take_request(stream);
  server_.work().charge_entries(request.body.size() / kBodyBytesPerUnit);
  if (!is_grpc(request.content_type) && !request.is_too_large)
    return http2_.answer(stream, {.http_status = 415});
  ++server_.report().stats.grpc_requests;
  if (!asks_limiters(request.path) || request.is_too_large)
    return answer(stream, answer_at_once(request));
  auto ask = begin_ask(request);
  if (!ask) return answer(stream, ask.error());
  Call& call =
      calls_.emplace(stream, Call{std::move(request.authorization), std::move(*ask)}).first->second;
  if (begin_part(stream, &call)) submit(stream, &call);
}

// A question is answered when the answer before it has left, so a client that does not read has
// kDialogueBytesMax and one answer kept.
void Conversation::go_on_reflecting(int32_t stream) {
  server_.work().charge_entries(kCallUnits);
  Request* const request = http2_.listen(stream);
  if (request == nullptr) return;
  if (!is_grpc(request->content_type) && !request->is_too_large)
    return http2_.answer(stream, {.http_status = 415});
  const auto question = first_message(request->body, kDialogueBytesMax - kFrameHeadBytes);
  if (!question) return end(stream, question.error());
  if (*question) {
    ++server_.report().stats.grpc_requests;
    const auto said = reflect(**question);
    if (!said) return end(stream, said.error());
    request->body.erase(0, kFrameHeadBytes + (*question)->size());
    return http2_.say(stream, fields_of_answer(), framed(*said));
  }
  if (request->is_too_large) {
    end(stream, {Code::kResourceExhausted, "more is asked than is answered"});
  } else if (http2_.has_ended(stream)) {
    end(stream,
        request->body.empty() ? Status{} : Status{Code::kInvalidArgument, "the message is cut"});
  }
}

Result<std::string, Status> Conversation::answer_at_once(const Request& request) {
  if (request.is_too_large) {
    return Status{Code::kResourceExhausted,
                  "a call has at most " + std::to_string(kHeaderBytesMax) +
                      " bytes of header and " + std::to_string(kMessageBytesMax) + " of message"};
  }
  const auto message = message_of(request.body);
  if (request.path == kHealthCheckPath) {
    if (!message) return message.error();
    return check_health(server_, *message);
  }
  return Status{Code::kUnimplemented,
                "there are " + list_of_methods() + std::string(kHealthCheckPath)};
}

// Who keeps the connection to a member that does not serve would hear the same for ever.
Result<std::unique_ptr<Ask>, Status> Conversation::begin_ask(const Request& request) {
  if (const std::string why = unserving_reason(server_); !why.empty()) {
    http2_.leave();
    return Status{Code::kUnavailable, why};
  }
  const auto& rules = server_.limiters().descriptor_rules;
  if (rules == nullptr)
    return Status{Code::kUnavailable, "policies-file is not set, or has not been read"};
  if (auto logged_in = log_in(request.authorization); !logged_in) return logged_in.error();
  const auto message = message_of(request.body);
  if (!message) return message.error();
  auto ask = read_ask(request.path, *message, *rules);
  if (ask) {
    server_.report().stats.rls_unruled += (*ask)->unruled();
    server_.work().charge_entries((*ask)->rules_passed() / kRulesPerUnit);
  }
  return ask;
}

Result<void, Status> Conversation::log_in(std::string_view authorization) {
  acl::Acl& acl = server_.acl();
  acl.begin_session(session_);
  if (!authorization.empty()) {
    const auto credentials = http::parse_credentials(authorization);
    if (!credentials || !acl.log_in(session_, credentials->user, credentials->password, "grpc"))
      return status_of_error("WRONGPASS invalid username-password pair or user is disabled.");
  }
  if (session_.is_unauthenticated()) return status_of_error("NOAUTH Authentication required.");
  return {};
}

bool Conversation::begin_part(int32_t stream, Call* call) {
  call->submitted = call->answered = 0;
  call->commands = call->ask->next();
  if (!call->commands.empty()) return true;
  if (call->ask->is_over()) ++server_.report().stats.rls_over_limit;
  answer(stream, call->ask->message());
  calls_.erase(stream);
  return false;
}

// Replies come between turns, so the call stays where it is meanwhile.
void Conversation::submit(int32_t stream, Call* call) {
  while (call->submitted < call->commands.size() && may_submit() && !session_.closing()) {
    const size_t place = call->submitted++;
    const Words& words = call->commands[place];
    const std::vector<std::string_view> args(words.begin(), words.end());
    ++unanswered_;
    session_.submit(
        args, [this, stream, place](std::string_view reply) { on_reply(stream, place, reply); });
    session_.resume(1);  // as this call's user; run_calls() bounds how many run
    is_kept_back_ = session_.runnable();
  }
  if (call->submitted < call->commands.size()) waiting_.push_front(stream);
}

// The session's queue calls it when the turn is committed and, with `durability always`, synced.
void Conversation::on_reply(int32_t stream, size_t place, std::string_view bytes) {
  if (--unanswered_ == 0) is_kept_back_ = false;
  const auto found = calls_.find(stream);
  if (found == calls_.end()) return;  // it was answered an error
  Call& call = found->second;
  const auto reply = http::read_reply(bytes);
  const auto taken =
      reply ? call.ask->take(place, *reply) : Result<void, Status>(status_of_error(reply.error()));
  if (!taken) {
    answer(stream, taken.error());
    calls_.erase(found);
  } else if (++call.answered == call.commands.size() && begin_part(stream, &call)) {
    waiting_.push_back(stream);
  }
  go_on();
}

void Conversation::answer(int32_t stream, const Result<std::string, Status>& response) {
  if (!response) return end(stream, response.error());
  http2_.answer(
      stream,
      {.fields = fields_of_answer(), .body = framed(*response), .trailers = trailers_of({})});
}

void Conversation::end(int32_t stream, const Status& status) {
  if (status.code != Code::kOk) ++server_.report().stats.grpc_failed;
  http2_.answer(stream, {.fields = fields_of_answer(), .trailers = trailers_of(status)});
}

void Conversation::go_on() {
  const size_t answers = http2_.answer_frames_sent();
  http2_.write(&output_, kWrittenMax);
  take_whole();  // a dialogue goes on where its answer has left
  holds_answers_ |= http2_.answer_frames_sent() != answers;
  if (http2_.is_over()) session_.close_after_reply();
  note_pace();
}

void Conversation::note_pace() {
  using For = http::Pace::For;
  const int64_t now_ns = server_.clock().steady_ns();
  const bool owes = !output().empty() || http2_.owes_answers();
  if (owes && !std::exchange(owed_, owes)) owed_since_ns_ = now_ns;
  owed_ = owes;
  const auto part_ns = http2_.has_begun() ? http2_.oldest_part_ns() : begun_ns_;
  pace_ = {.session = &session_, .since_ns = now_ns};
  if (part_ns) {
    pace_.waited_for = For::kRest;
    pace_.since_ns = *part_ns;
    pace_.until_ns = *part_ns + kRequestNs;
  }
  if (owes) {
    pace_.waited_for = For::kTaking;
    pace_.since_ns = owed_since_ns_;
    pace_.until_ns = std::min(pace_.until_ns, owed_since_ns_ + kAnswerNs);
  }
  if (!waiting_.empty() || unanswered_ > 0) pace_.waited_for = For::kWeir;
}

void Conversation::mark_sent(size_t bytes) {
  Stats& stats = server_.report().stats;
  stats.bytes_out += bytes;
  ++stats.writes;
  sent_ += bytes;
  if (holds_answers_) owed_since_ns_ = server_.clock().steady_ns();
  if (sent_ < output_.size()) return note_pace();
  output_.clear();
  holds_answers_ = false;
  if (output_.capacity() > kWrittenKept) output_.shrink_to_fit();
  sent_ = 0;
  go_on();
}

size_t Conversation::memory_bytes() const {
  size_t bytes = block_bytes(sizeof(*this)) + http2_.memory_bytes() + heap_bytes(output_) +
                 waiting_.size() * sizeof(int32_t);
  for (const auto& [stream, call] : calls_) {
    bytes += tree_node_bytes<std::pair<const int32_t, Call>>() + heap_bytes(call.authorization) +
             call.ask->memory_bytes() + heap_bytes(call.commands);
    for (const Words& words : call.commands) bytes += heap_bytes(words);
  }
  return bytes;
}

}  // namespace weir::server::grpc
