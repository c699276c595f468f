// What the ports of HTTP answer to those who only look, path by path. It knows no sockets.
//
//     GET /          the page for people, and its parts (page.h); on metrics-port alone
//     GET /metrics   the metrics, in the format that Accept asks for (docs/metrics.md); likewise
//     GET /history   what was counted minute by minute (history.h); likewise
//     GET /healthz   200 as long as the process answers at all
//     GET /readyz    200 if commands that write are served, or if this is a standby of a shard that
//                    follows; else 503 and why not
//     GET /serves    200 if requests for data are served: at the one member of a shard that does,
//                    and at a server of no shard; else 503
//     GET /v1/openapi.json
//                    what /v1/ may be asked (v1/openapi.h); on http-port alone
//
// HEAD is as GET, without the body. An answer that is an error is one line of text that says what
// was wrong and what there is; under /v1/ of http-port it is a problem (v1/problem.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "server/http/format/message.h"

namespace weir::server {

class Server;

namespace http {

enum class ListenerKind : uint8_t { kMetrics, kRequests };

struct Question {
  std::string_view method;       // as it was sent
  std::string_view target;       // the path and, after '?', a query, which /history alone reads
  std::string_view accept = {};  // empty: nothing in particular
  std::string_view authorization = {};  // empty: nobody
  std::string host = {};                // as the field Host says it
};

// Answers in proportion to the number of metrics; it changes nothing and waits for nothing.
Answer answer(Server& server, const Question& question,
              ListenerKind listener = ListenerKind::kMetrics);

}  // namespace http
}  // namespace weir::server
