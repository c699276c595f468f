#include "server/http/grpc/conversation.h"

#include <algorithm>

#include "base/heap_bytes.h"
#include "server/core/run/server.h"
#include "server/http/grpc/framing.h"
#include "server/http/grpc/health.h"

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

bool is_grpc(std::string_view content_type) {
  if (!content_type.starts_with(kContentType)) return false;
  const std::string_view rest = content_type.substr(kContentType.size());
  return rest.empty() || rest.front() == '+' || rest.front() == ';';
}

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
      http2_(kMessageBytesMax + kFrameHeadBytes),
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
  if (!bytes.empty()) {
    Stats& stats = server_.report().stats;
    stats.bytes_in += bytes.size();
    ++stats.reads;
    const size_t frames = http2_.frames_received();
    http2_.receive(bytes, server_.clock().steady_ns());
    server_.work().charge_entries(kFrameUnits * (http2_.frames_received() - frames));
    const std::vector<int32_t> whole = http2_.take_whole();
    waiting_.insert(waiting_.end(), whole.begin(), whole.end());
    if (http2_.is_foreign()) output_ = kForeign;
  }
  run_calls();
  go_on();
}

void Conversation::run_calls() {
  const uint64_t end = server_.work().slice_end();
  bool is_first = true;  // which goes on whatever the turn has done before
  while (!waiting_.empty() && !session_.closing() &&
         (std::exchange(is_first, false) || server_.work().units() < end)) {
    const int32_t stream = waiting_.front();
    waiting_.pop_front();
    if (http2_.is_open(stream)) run_call(stream);
    (void)server_.timeline().now_ns();  // the turn's time is known by looks at the clock
  }
}

void Conversation::run_call(int32_t stream) {
  server_.work().charge_entries(kCallUnits);
  const Request request = http2_.take_request(stream);
  if (!is_grpc(request.content_type) && !request.is_too_large)
    return http2_.answer(stream, {.http_status = 415});
  ++server_.report().stats.grpc_requests;
  answer(stream, call(request));
}

Result<std::string, Status> Conversation::call(const Request& request) {
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
  return Status{Code::kUnimplemented, "there is " + std::string(kHealthCheckPath)};
}

void Conversation::answer(int32_t stream, const Result<std::string, Status>& response) {
  Answer answer = {.fields = {{"content-type", std::string(kContentType)}}};
  if (response) {
    answer.body = framed(*response);
    answer.trailers = trailers_of({});
  } else {
    ++server_.report().stats.grpc_failed;
    answer.trailers = trailers_of(response.error());
  }
  http2_.answer(stream, std::move(answer));
}

void Conversation::go_on() {
  http2_.write(&output_, kWrittenMax);
  if (http2_.is_over()) session_.close_after_reply();
  note_pace();
}

void Conversation::note_pace() {
  using For = http::Pace::For;
  const int64_t now_ns = server_.clock().steady_ns();
  const bool owes = !output().empty() || http2_.owes_answers();
  if (!owes) owed_since_ns_ = now_ns;
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
  if (!waiting_.empty()) pace_.waited_for = For::kWeir;
}

void Conversation::mark_sent(size_t bytes) {
  Stats& stats = server_.report().stats;
  stats.bytes_out += bytes;
  ++stats.writes;
  sent_ += bytes;
  owed_since_ns_ = server_.clock().steady_ns();
  if (sent_ < output_.size()) return;
  output_.clear();
  if (output_.capacity() > kWrittenKept) output_.shrink_to_fit();
  sent_ = 0;
  go_on();
}

size_t Conversation::memory_bytes() const {
  return block_bytes(sizeof(*this)) + http2_.memory_bytes() + heap_bytes(output_) +
         waiting_.size() * sizeof(int32_t);
}

}  // namespace weir::server::grpc
