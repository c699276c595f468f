// What the port of metrics-port answers, path by path. It knows no sockets.
//
//     GET /metrics   the metrics, in the format that Accept asks for (docs/metrics.md)
//     GET /healthz   200 as long as the process answers at all
//     GET /readyz    200 if commands that write are served, else 503 and why not
//
// HEAD is as GET, without the body. An answer that is an error is one line of text that says what
// was wrong and what there is.
#pragma once

#include <string>
#include <string_view>

namespace weir::server {

class Server;

namespace http {

struct Question {
  std::string_view method;  // as it was sent
  std::string_view target;  // the path and, after '?', a query, which is ignored
  std::string_view accept;  // empty: nothing in particular
};

struct Answer {
  unsigned status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::string_view allow = {};  // the methods that there are, with status 405
  std::string body;
};

// Answers in proportion to the number of metrics; it changes nothing and waits for nothing.
Answer answer(Server& server, const Question& question);

}  // namespace http
}  // namespace weir::server
