#include "server/http/v1/calls.h"

#include <utility>

#include "algorithms/words.h"
#include "base/heap_bytes.h"
#include "server/http/format/reply.h"
#include "server/http/format/trace_field.h"
#include "server/http/v1/body_words.h"
#include "server/http/v1/endpoints.h"
#include "server/http/v1/problem.h"
#include "server/http/v1/reply_json.h"

namespace weir::server::http {
namespace {

constexpr std::string_view kRequests = "requests";
constexpr std::string_view kBatchTooLong =
    "ERR the answers to one batch would have more than 8 MB: this one is left out, though it has "
    "run";
constexpr std::string_view kAnswerTooLong =
    "ERR the answer would have more than 8 MB: ask for less at once, or by the Redis protocol";

const Endpoint* endpoint_at(std::string_view path) {
  if (!path.starts_with(kV1)) return nullptr;
  return find_endpoint(path.substr(kV1.size()));
}

// The member whose word an error of a command begins with: "ERR COST must be ...".
std::string_view member_to_blame(const Endpoint& row, std::string_view error) {
  constexpr std::string_view kCode = "ERR ";
  if (!error.starts_with(kCode)) return {};
  error.remove_prefix(kCode.size());
  const std::string_view word = error.substr(0, error.find(' '));
  for (const Member& member : row.members) {
    if (!word.empty() && member.word == word) return member.name;
  }
  return {};
}

Answer answer_to(const Endpoint& row, std::string_view bytes) {
  if (bytes.size() > kAnswerBytesMax) return problem_answer(kAnswerTooLong);
  const auto reply = read_reply(bytes);
  if (!reply) return problem_answer(reply.error());
  if (reply->is_error()) return problem_answer(reply->text, member_to_blame(row, reply->text));
  std::string text = text_of(answer_of(row, *reply)) + "\n";
  if (text.size() > kAnswerBytesMax) return problem_answer(kAnswerTooLong);
  return {.content_type = "application/json", .body = std::move(text)};
}

std::string names_in_batches() {
  std::vector<std::string_view> names;
  for (const Endpoint* row : all_endpoints()) {
    if (row->in_batch) names.push_back(row->path);
  }
  return algorithms::list_of(names);
}

}  // namespace

bool Calls::has(std::string_view path) {
  return path == kBatchPath || endpoint_at(path) != nullptr;
}

Result<void, Fault> Calls::read(std::string_view path, std::string_view body,
                                const std::optional<std::string>& trace) {
  *this = {};
  trace_ = trace;
  const auto parsed = parse_json(body);
  if (!parsed) return parsed.error();
  const Endpoint* row = endpoint_at(path);
  return row != nullptr ? add(*row, *parsed, {}) : read_batch(*parsed);
}

Result<void, Fault> Calls::read_batch(const Json& body) {
  is_batch_ = true;
  answer_ = {.content_type = "application/json", .body = "{\"answers\":["};
  if (!body.is(Json::Kind::kObject)) return Fault{.what = "must be an object"};
  for (const std::string& name : body.names) {
    if (name == kRequests) continue;
    return Fault{.at = algorithms::shown(name), .what = "is unknown: there are requests"};
  }
  const Json* requests = body.find(kRequests);
  if (requests == nullptr || !requests->is(Json::Kind::kArray) || requests->elements.empty() ||
      requests->elements.size() > kBatchMax) {
    return Fault{.at = std::string(kRequests),
                 .what = "must be an array of 1 to " + std::to_string(kBatchMax) + " objects"};
  }
  for (size_t i = 0; i < requests->elements.size(); ++i) {
    const Json& each = requests->elements[i];
    const std::string at = std::string(kRequests) + "[" + std::to_string(i) + "]";
    const Endpoint* row = each.names.size() == 1 ? find_endpoint(each.names[0]) : nullptr;
    if (row == nullptr || !row->in_batch)
      return Fault{.at = at, .what = "must be an object with one member: " + names_in_batches()};
    if (auto added = add(*row, each.elements[0], place_of(at, row->path)); !added) return added;
  }
  return {};
}

Result<void, Fault> Calls::add(const Endpoint& row, const Json& body, std::string_view at) {
  auto words = words_of(row, body, at);
  if (!words) return words.error();
  if (row.traced) add_trace(trace_, &*words);
  rows_.push_back(&row);
  commands_.push_back(std::move(*words));
  return {};
}

bool Calls::take_reply(std::string_view reply) {
  add_answer(answer_to(*rows_[answered_], reply));
  return ++answered_ == rows_.size();
}

void Calls::add_answer(Answer answer) {
  if (!is_batch_) {
    answer_ = std::move(answer);
    return;
  }
  std::string& text = answer_.body;
  if (text.size() + answer.body.size() > kAnswerBytesMax) answer = problem_answer(kBatchTooLong);
  answer.body.pop_back();  // the line's end
  if (answered_ > 0) text.push_back(',');
  text.append("{\"status\":").append(std::to_string(answer.status));
  text.append(",\"body\":").append(answer.body).append("}");
}

Answer Calls::take_answer() {
  Answer answer = std::exchange(answer_, {});
  if (is_batch_) answer.body += "]}\n";
  *this = {};
  return answer;
}

size_t Calls::memory_bytes() const {
  size_t bytes = heap_bytes(rows_) + heap_bytes(commands_) + heap_bytes(answer_.body);
  for (const Words& words : commands_) bytes += heap_bytes(words);
  return bytes;
}

}  // namespace weir::server::http
