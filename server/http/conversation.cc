#include "server/http/conversation.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "base/heap_bytes.h"
#include "server/acl/acl.h"
#include "server/command/command_errors.h"
#include "server/core/run/server.h"
#include "server/http/credentials.h"
#include "server/http/format/json.h"
#include "server/http/format/reply.h"
#include "server/http/format/trace_field.h"
#include "server/http/page.h"
#include "server/http/v1/endpoints.h"
#include "server/http/v1/problem.h"

namespace weir::server::http {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kGateCredentials = "X-Weir-Authorization";
constexpr std::string_view kNotLoggedIn =
    "WRONGPASS invalid username-password pair or user is disabled.";
constexpr std::string_view kUnauthenticated = "NOAUTH Authentication required.";
constexpr std::string_view kProtected =
    "DENIED weir has no password (protected-mode): the page's tables are shown on this machine "
    "only";
constexpr std::string_view kTooManyWait =
    "ERR max number of clients that wait over HTTP reached: half of http-maxclients";
constexpr std::string_view kTooLong =
    "ERR the replies to one request of the page would have more than 8 MB: ask for less at once";
constexpr int kProtocol = 3;  // replies say what is a map

// An answer's memory is kept for the next one, up to here.
constexpr size_t kOutputKept = 64 << 10;

// What a request costs besides its bytes and its command, in work units: parsing, and writing
// the answer.
constexpr size_t kRequestUnits = 100;
// How many bytes of JSON are read in a work unit.
constexpr size_t kJsonBytesPerUnit = 16;

// Only a browser sends Sec-Fetch-Site, and only a proxy the fields of proxies. To an address
// without TLS on another machine browsers do not send it; there a page cannot change User-Agent
// without leave, and all browsers begin it with the same word.
bool is_of_a_page(Fields fields) {
  constexpr std::string_view kOfProxies[] = {"X-Forwarded-For", "Forwarded", "Via"};
  const bool is_of_browser = combined(fields, "Sec-Fetch-Site") ||
                             combined(fields, "User-Agent").value_or("").starts_with("Mozilla/");
  return is_of_browser &&
         std::none_of(std::begin(kOfProxies), std::end(kOfProxies),
                      [&](std::string_view name) { return combined(fields, name).has_value(); });
}

bool has_right(Server& server, const Session& session, Args words) {
  const Command* command = server.executor().table().resolve(words);
  return command != nullptr && arity_fits(*command, words.size()) &&
         server.acl().check(session, *command, words).allowed();
}

}  // namespace

Conversation::Conversation(Server* server, Session* session, Clients* clients,
                           ListenerKind listener)
    : server_(*server),
      session_(*session),
      clients_(*clients),
      listener_(listener),
      pace_{.session = session} {
  enter(Stage::kSilent);
  session_.replies().writer().set_protocol(kProtocol);
  (void)session_.client().set_library_name(listener == ListenerKind::kMetrics ? "metrics" : "http",
                                           "");
  clients_.add(&pace_);
}

Conversation::~Conversation() { clients_.remove(&pace_); }

void Conversation::enter(Stage stage) {
  stage_ = stage;
  pace_.since_ns = server_.clock().steady_ns();
  pace_.until_ns = stage == Stage::kAsked ? Pace::kNoEnd : pace_.since_ns + time_for(stage);
  pace_.waited_for = waited_for(stage);
}

Pace::For Conversation::waited_for(Stage stage) {
  if (stage == Stage::kSilent) return Pace::For::kRequest;
  if (stage == Stage::kBegun) return Pace::For::kRest;
  return stage == Stage::kAsked ? Pace::For::kWeir : Pace::For::kTaking;
}

int64_t Conversation::time_for(Stage stage) const {
  if (stage == Stage::kSilent) return is_new_ ? kRequestNs : kSilenceNs;
  if (stage == Stage::kDraining) return kDrainNs;
  return stage == Stage::kBegun ? kRequestNs : kAnswerNs;
}

void Conversation::receive(std::string_view bytes) {
  Stats& stats = server_.report().stats;
  stats.bytes_in += bytes.size();
  ++stats.reads;
  session_.join_turn();
  if (stage_ == Stage::kDraining) {
    drained_ += bytes.size();
    if (drained_ > kDrainBytesMax) session_.close_after_reply();
    return;
  }
  if (has_command_left()) return run(commands_[next_++]);
  input_.append(bytes);
  is_unexamined_ = true;
  if (awaits_request() && !session_.closing()) read_request();
}

void Conversation::read_request() {
  using Progress = RequestReader::Progress;
  is_unexamined_ = false;
  if (input_.empty()) return;
  is_new_ = false;
  if (stage_ == Stage::kSilent) enter(Stage::kBegun);
  Progress progress = read_on();
  const bool asks_gate = listener_ == ListenerKind::kRequests && is_gate(reader_.request());
  if (progress == Progress::kHasHeader && !asks_gate) progress = read_on();
  if (progress == Progress::kNeedsMore) return;
  if (progress == Progress::kAsksToGoOn) {
    output_ += "HTTP/1.1 100 Continue\r\n\r\n";
    return;
  }
  const uint64_t units_before = server_.work().units();
  server_.work().charge_entries(kRequestUnits);
  if (listener_ == ListenerKind::kRequests) ++server_.report().stats.http_requests;
  // The gate uses no body: it does not wait for the rest, which is thrown away.
  is_refused_ = progress != Progress::kDone;
  if (progress == Progress::kRefused) {
    answer(refusal());
  } else {
    ask();
  }
  if (server_.work().units() - units_before >= WorkMeter::kSliceUnits)
    session_.activity().note_long();
  (void)server_.timeline().now_ns();  // the turn's time is known by looks at the clock
}

RequestReader::Progress Conversation::read_on() {
  size_t used = 0;
  const RequestReader::Progress progress = reader_.read(input_.unused(), &used);
  if (used > 0) input_.use(used);
  return progress;
}

bool Conversation::is_held_up() const {
  const bool waits = session_.hold() == Hold::kPause || session_.wait_state().waiting();
  return stage_ == Stage::kAsked && waits && input_.size() < kReadBytes;
}

bool Conversation::asks_v1() const {
  return listener_ == ListenerKind::kRequests && Calls::has(reader_.request().path());
}

Answer Conversation::refusal() const {
  const Answer& refused = reader_.refusal();
  const Request& request = reader_.request();
  const bool tells_problems =
      listener_ == ListenerKind::kRequests && request.path().starts_with(kV1) && !is_gate(request);
  return tells_problems ? problem_answer(refused.status, trimmed(refused.body)) : refused;
}

void Conversation::ask() {
  const Request& request = reader_.request();
  if (listener_ == ListenerKind::kRequests && is_gate(request)) return ask_gate();
  if (asks_v1()) return ask_v1();
  if (listener_ == ListenerKind::kMetrics && request.path() == kPagePath) return ask_page();
  const std::string accept = combined(request.fields, "Accept").value_or("");
  const std::string authorization = combined(request.fields, "Authorization").value_or("");
  answer(http::answer(server_,
                      {.method = request.method,
                       .target = request.target,
                       .accept = accept,
                       .authorization = authorization,
                       .host = combined(request.fields, "Host").value_or("")},
                      listener_));
}

void Conversation::ask_v1() {
  question_ = Question::kCalls;
  const Request& request = reader_.request();
  const std::string path(request.path());
  if (request.method != "POST") {
    Answer wrong = problem_answer(405, "the method of " + path + " is POST");
    wrong.fields = {{"Allow", "POST"}};
    return answer(wrong);
  }
  // Only a browser sends it: a page of somebody else's, to a weir on its reader's machine.
  if (combined(request.fields, "Origin"))
    return answer_error("DENIED " + path +
                        " is not for pages in a browser: the request has an Origin");
  if (!log_in()) return answer_error(kNotLoggedIn);
  if (session_.is_unauthenticated()) return answer_error(kUnauthenticated);
  server_.work().charge_entries(request.body.size() / kJsonBytesPerUnit);
  if (const auto read = calls_.read(path, request.body, trace_of(request.fields)); !read)
    return answer(problem_answer(read.error().line(), read.error().at));
  if (calls_.waits() && !clients_.begin_wait(&pace_)) return answer_error(kTooManyWait);
  run_calls();
}

// They share a slice, as the requests of a pipeline do; what it has no more room for runs later.
void Conversation::run_calls() {
  server_.work().charge_entries(kRequestUnits * (calls_.count() - 1));
  enter(Stage::kAsked);
  for (const Calls::Words& words : calls_.take_commands()) {
    const std::vector<std::string_view> args(words.begin(), words.end());
    session_.submit(args, [this](std::string_view reply) { on_call_reply(reply); });
  }
  session_.resume(kBatchMax);
}

void Conversation::ask_gate() {
  question_ = Question::kGate;
  terms_ = {};
  if (is_of_a_page(reader_.request().fields))
    return answer_error(
        "DENIED the gate is not for pages in a browser: the request has a Sec-Fetch-Site, or a "
        "browser's User-Agent");
  const auto words = parse_gate(reader_.request(), &terms_);
  if (!log_in()) return answer_error(kNotLoggedIn);
  if (!words) return answer_error(words.error());
  run(*words);
}

void Conversation::ask_page() {
  question_ = Question::kPage;
  const Request& request = reader_.request();
  if (request.method != "POST") {
    return answer(
        {.status = 405, .fields = {{"Allow", "POST"}}, .body = "the method of /v1/page is POST\n"});
  }
  const std::string fault = fault_of_page_request(request, server_.config().metrics_hosts);
  if (!fault.empty()) return answer_error(fault);
  const Peer& peer = session_.client().peer();
  if (server_.config().protected_mode && !server_.acl().asks_for_login() && !peer.loopback)
    return answer_error(kProtected);
  if (!log_in()) return answer_error(kNotLoggedIn);
  if (session_.is_unauthenticated()) return answer_error(kUnauthenticated);
  const bool logged_in = combined(request.fields, "Authorization").has_value();
  const auto commands = page_commands(request.body, logged_in);
  if (!commands) return answer_error(commands.error());
  session_.client().select(0);
  replies_.clear();
  commands_ = *commands;
  answered_ = 0;
  next_ = 1;
  run(commands_[0]);
}

// A proxy hands over what its own client has sent, so the gate asks another field first, and does
// not look at Authorization where nobody has to log in: wrong credentials and none come to the same
// there.
bool Conversation::log_in() {
  const Fields fields = reader_.request().fields;
  server_.acl().begin_session(session_);
  session_.client().switches().takes_no_leases = question_ == Question::kGate;
  std::optional<std::string> given;
  if (question_ == Question::kGate) given = combined(fields, kGateCredentials);
  const bool may_ask = question_ != Question::kGate || session_.is_unauthenticated();
  if (!given && may_ask) given = combined(fields, "Authorization");
  if (!given) return true;
  const auto credentials = parse_credentials(*given);
  return credentials &&
         server_.acl().log_in(session_, credentials->user, credentials->password, "http");
}

void Conversation::run(const std::vector<std::string>& words) {
  enter(Stage::kAsked);
  const std::vector<std::string_view> args(words.begin(), words.end());
  if (question_ == Question::kPage && words[0] == kMay) {
    const bool may = has_right(server_, session_, Args(args).subspan(1));
    return on_page_reply(may ? ":1\r\n" : ":0\r\n");
  }
  session_.submit(args, [this](std::string_view reply) {
    question_ == Question::kPage ? on_page_reply(reply) : on_gate_reply(reply);
  });
  session_.resume(1);
}

// The session's queue calls these when the turn is committed and, with `durability always`, synced.
void Conversation::on_call_reply(std::string_view bytes) {
  if (calls_.take_reply(bytes)) answer(calls_.take_answer());
}

void Conversation::on_gate_reply(std::string_view bytes) {
  const auto reply = read_reply(bytes);
  if (!reply) return answer_error(reply.error());
  if (reply->is_error()) return answer_error(reply->text);
  answer(gate_answer(*reply, terms_));
}

void Conversation::on_page_reply(std::string_view bytes) {
  const bool is_too_long = replies_.size() + bytes.size() > kAnswerBytesMax;
  replies_.append(replies_.empty() ? "{\"replies\":[" : ",");
  auto reply = is_too_long ? Result<resp::Value, std::string_view>(kTooLong) : read_reply(bytes);
  if (!reply) {
    replies_.append(trimmed(json_of_error(reply.error())));
  } else {
    replies_ += page_json_of(*reply);
  }
  if (++answered_ < commands_.size()) return;
  commands_.clear();
  answer({.content_type = kJson, .body = std::exchange(replies_, {}) + "]}\n"});
}

void Conversation::answer_error(std::string_view error) {
  if (question_ == Question::kGate) {
    clients_.note_gate_error(error);
    return answer(gate_error(error, terms_));
  }
  if (question_ == Question::kCalls) return answer(problem_answer(error));
  Answer refused = error_answer(error);
  refused.content_type = kJson;
  refused.body = json_of_error(error);
  answer(refused);
}

void Conversation::answer(const Answer& answer) {
  const Request& request = reader_.request();
  // Who keeps the connection to a member that does not serve would hear the same for ever.
  const bool is_elsewhere = listener_ == ListenerKind::kRequests && !server_.shard_role().serves();
  const bool goes_on = request.keep_alive && !is_refused_ && !is_elsewhere && !session_.closing();
  if (answer.status >= 500 && listener_ == ListenerKind::kRequests)
    ++server_.report().stats.http_failed;
  write(answer, goes_on, request.method == "HEAD", &output_);
  if (!goes_on) is_last_ = true;
  reader_.reset();
  calls_ = {};
  clients_.end_wait(&pace_);
  enter(Stage::kAnswering);
}

size_t Conversation::memory_bytes() const {
  size_t bytes = block_bytes(sizeof(*this)) + reader_.memory_bytes() +
                 block_bytes(input_.capacity()) + heap_bytes(output_) + heap_bytes(replies_) +
                 heap_bytes(commands_) + calls_.memory_bytes();
  for (const auto& words : commands_) bytes += heap_bytes(words);
  return bytes;
}

void Conversation::mark_sent(size_t bytes) {
  Stats& stats = server_.report().stats;
  stats.bytes_out += bytes;
  ++stats.writes;
  sent_ += bytes;
  if (sent_ < output_.size()) return;
  output_.clear();
  if (output_.capacity() > kOutputKept) output_.shrink_to_fit();
  sent_ = 0;
  if (stage_ == Stage::kAnswering) finish();
}

void Conversation::finish() {
  if (is_refused_) return enter(Stage::kDraining);
  if (is_last_) return session_.close_after_reply();
  enter(Stage::kSilent);
  is_unexamined_ = !input_.empty();
}

}  // namespace weir::server::http
