// A request and an answer of HTTP, as those see them who answer: without sockets, and without the
// library that parses.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::server::http {

struct Field {
  std::string_view name;
  std::string_view value;
};
using Fields = std::span<const Field>;

struct Request {
  std::string_view method = {};  // as it was sent
  std::string_view target = {};  // the path and, after '?', the query
  std::vector<Field> fields = {};
  std::string_view body = {};
  bool keep_alive = false;

  std::string_view path() const { return target.substr(0, target.find('?')); }
  // What stands after the first '?'.
  std::string_view query() const {
    const size_t at = target.find('?');
    return at == target.npos ? std::string_view() : target.substr(at + 1);
  }
};

// Answers the values of all fields of that name, with ", " between (RFC 9110, 5.3); nothing if
// there is none.
std::optional<std::string> combined(Fields fields, std::string_view name);

struct Answer {
  unsigned status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> fields = {};  // others
  std::string body = {};
};

// Appends an answer of HTTP/1.1; `head_only` leaves out the body, whose length is told all the
// same.
void write(const Answer& answer, bool keep_alive, bool head_only, std::string* out);

// "Bad Request".
std::string_view status_name(unsigned status);
// Which status an error of a command is, such as "NOPERM this user ...".
unsigned status_of_error(std::string_view error);
// An error as a line of text.
Answer error_answer(std::string_view error);

}  // namespace weir::server::http
