#include "server/http/v1/calls.h"

#include "resp/value.h"
#include "server/http/v1/body_words.h"
#include "server/http/v1/endpoints.h"
#include "server/http/v1/problem.h"
#include "server/http/v1/reply_json.h"

namespace weir::server::http {
namespace {

constexpr std::string_view kNoAnswer = "ERR internal error: the reply is none";
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
  resp::Value reply;
  size_t consumed = 0;
  if (resp::decode(bytes, &reply, &consumed) != resp::DecodeStatus::kValue)
    return problem_answer(kNoAnswer);
  if (reply.is_error()) return problem_answer(reply.text, member_to_blame(row, reply.text));
  return {.content_type = "application/json", .body = text_of(answer_of(row, reply)) + "\n"};
}

}  // namespace

bool Calls::has(std::string_view path) { return endpoint_at(path) != nullptr; }

Result<Calls::Words, Fault> Calls::read(std::string_view path, std::string_view body) {
  row_ = endpoint_at(path);
  const auto parsed = parse_json(body);
  if (!parsed) return parsed.error();
  return words_of(*row_, *parsed);
}

Answer Calls::answer_to(std::string_view reply) const { return http::answer_to(*row_, reply); }

}  // namespace weir::server::http
