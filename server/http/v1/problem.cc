#include "server/http/v1/problem.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"

namespace weir::server::http {
namespace {

// The line without the word that programs read: "ERR", "NOPERM".
std::string_view detail_of(std::string_view error) {
  const size_t blank = error.find(' ');
  const std::string_view word = error.substr(0, blank);
  const bool is_code = blank != error.npos && std::all_of(word.begin(), word.end(), [](char c) {
                         return is_letter(c) && to_upper(c) == c;
                       });
  return is_code ? error.substr(blank + 1) : error;
}

// An error may tell bytes that somebody has sent.
std::string as_text(std::string_view bytes) {
  std::string text(bytes);
  if (is_utf8(text)) return text;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return text;
}

}  // namespace

Json problem_of(unsigned status, std::string_view error, std::string_view field) {
  const std::string line = as_text(error);
  Json problem = Json::object();
  problem.add("type", Json::words("about:blank"));
  problem.add("title", Json::words(status_name(status)));
  problem.add("status", Json::number(status));
  problem.add("detail", Json::words(detail_of(line)));
  if (!field.empty()) problem.add("field", Json::words(field));
  problem.add("error", Json::words(line));
  return problem;
}

Answer problem_answer(std::string_view error, std::string_view field) {
  Answer answer = error_answer(error);
  answer.content_type = kProblemType;
  answer.body = text_of(problem_of(answer.status, error, field)) + "\n";
  return answer;
}

Answer problem_answer(unsigned status, std::string_view what) {
  return {.status = status,
          .content_type = kProblemType,
          .body = text_of(problem_of(status, "ERR " + std::string(what))) + "\n"};
}

}  // namespace weir::server::http
