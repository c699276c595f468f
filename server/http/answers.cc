#include "server/http/answers.h"

#include "server/core/metrics.h"
#include "server/core/server.h"

namespace weir::server::http {
namespace {

Answer metrics(Server& server, const Question& question) {
  const bool open = question.accept.find("application/openmetrics-text") != std::string_view::npos;
  const MetricsFormat format = open ? MetricsFormat::kOpenMetrics : MetricsFormat::kPrometheus;
  return {.content_type = content_type(format), .body = metrics_text(server, format)};
}

Answer health(Server&, const Question&) { return {.body = "alive\n"}; }

Answer readiness(Server& server, const Question&) {
  const std::string reason = unready_reason(server);
  if (reason.empty()) return {.body = "ready\n"};
  return {.status = 503, .body = reason + "\n"};
}

struct Page {
  std::string_view path;
  Answer (*answer)(Server& server, const Question& question);
};

constexpr Page kPages[] = {{"/metrics", metrics}, {"/healthz", health}, {"/readyz", readiness}};

}  // namespace

Answer answer(Server& server, const Question& question) {
  if (question.method != "GET" && question.method != "HEAD") {
    return {.status = 405, .allow = "GET, HEAD", .body = "the methods here are GET and HEAD\n"};
  }
  const std::string_view path = question.target.substr(0, question.target.find('?'));
  for (const Page& page : kPages) {
    if (page.path == path) return page.answer(server, question);
  }
  std::string paths;
  for (const Page& page : kPages) paths.append(" ").append(page.path);
  return {.status = 404, .body = "there is no such page; there are" + paths + "\n"};
}

}  // namespace weir::server::http
