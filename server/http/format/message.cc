#include "server/http/format/message.h"

#include <algorithm>

#include "base/ascii.h"

namespace weir::server::http {
namespace {

struct StatusName {
  unsigned status;
  std::string_view name;
};
constexpr StatusName kNames[] = {
    {200, "OK"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {421, "Misdirected Request"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
};

// By the first word of an error. What is not here means that the server cannot do now what it could
// at another time.
constexpr struct {
  std::string_view word;
  unsigned status;
} kErrors[] = {{"ERR", 400},       {"NOAUTH", 401}, {"WRONGPASS", 401}, {"NOPERM", 403},
               {"DENIED", 403},    {"MOVED", 421},  {"ASK", 421},       {"CROSSSLOT", 400},
               {"WRONGTYPE", 409}, {"ACL", 403}};

constexpr std::string_view kBug = "ERR internal error";
constexpr std::string_view kFull = "ERR max number of clients";

void append_field(std::string_view name, std::string_view value, std::string* out) {
  out->append(name).append(": ");
  for (const char c : value) out->push_back(is_control(c) ? '?' : c);
  out->append("\r\n");
}

}  // namespace

std::optional<std::string> combined(Fields fields, std::string_view name) {
  std::optional<std::string> values;
  for (const Field& field : fields) {
    if (!equals_ignoring_case(field.name, name)) continue;
    if (!values) {
      values.emplace(field.value);
    } else {
      values->append(", ").append(field.value);
    }
  }
  return values;
}

void write(const Answer& answer, bool keep_alive, bool head_only, std::string* out) {
  out->append("HTTP/1.1 ").append(std::to_string(answer.status)).append(" ");
  out->append(status_name(answer.status)).append("\r\n");
  for (const auto& [name, value] : answer.fields) append_field(name, value, out);
  append_field("Cache-Control", "no-store", out);
  if (!answer.body.empty()) {
    append_field("Content-Type", answer.content_type, out);
    append_field("X-Content-Type-Options", "nosniff", out);
  }
  append_field("Content-Length", std::to_string(answer.body.size()), out);
  append_field("Connection", keep_alive ? "keep-alive" : "close", out);
  out->append("\r\n");
  if (!head_only) out->append(answer.body);
}

std::string_view status_name(unsigned status) {
  const auto* const row =
      std::find_if(std::begin(kNames), std::end(kNames),
                   [status](const StatusName& each) { return each.status == status; });
  return row == std::end(kNames) ? "Answer" : row->name;
}

unsigned status_of_error(std::string_view error) {
  if (error.starts_with(kBug)) return 500;
  if (error.starts_with(kFull)) return 503;
  const std::string_view word = error.substr(0, error.find(' '));
  for (const auto& row : kErrors) {
    if (row.word == word) return row.status;
  }
  return 503;
}

Answer error_answer(std::string_view error) {
  Answer answer = {.status = status_of_error(error), .body = std::string(error) + "\n"};
  if (answer.status == 401) answer.fields.emplace_back("WWW-Authenticate", "Basic realm=\"weir\"");
  return answer;
}

}  // namespace weir::server::http
