#include "server/http/answers.h"

#include <optional>

#include "server/acl/acl.h"
#include "server/core/metrics/metrics.h"
#include "server/core/run/server.h"
#include "server/http/credentials.h"
#include "server/http/history.h"
#include "server/http/page.h"
#include "server/http/v1/endpoints.h"
#include "server/http/v1/openapi.h"
#include "server/http/v1/problem.h"

namespace weir::server::http {
namespace {

// Tells whether the question's credentials are those of a user who may run INFO, which says the
// same.
bool may_see_metrics(Server& server, const Question& question) {
  const auto credentials = parse_credentials(question.authorization);
  if (!credentials) return false;
  const auto user = server.acl().find(credentials->user, credentials->password);
  const Command* info = server.executor().table().find("info");
  const std::string_view words[] = {"INFO"};
  return user != nullptr && user->check(*info, words).allowed();
}

Answer metrics(Server& server, const Question& question) {
  if (server.config().metrics_auth && !may_see_metrics(server, question))
    return error_answer("NOAUTH /metrics asks for a user who may run INFO (metrics-auth)");
  const bool open = question.accept.find("application/openmetrics-text") != std::string_view::npos;
  const MetricsFormat format = open ? MetricsFormat::kOpenMetrics : MetricsFormat::kPrometheus;
  return {.content_type = content_type(format), .body = metrics_text(server, format)};
}

Answer history(Server& server, const Question& question) {
  if (server.config().metrics_auth && !may_see_metrics(server, question))
    return error_answer("NOAUTH /history asks for a user who may run INFO (metrics-auth)");
  return {.content_type = "application/json",
          .body = history_json(server.report().minutes, after_of(question.target))};
}

Answer health(Server&, const Question&) { return {.body = "alive\n"}; }

Answer probed(std::string_view well, const std::string& reason) {
  if (reason.empty()) return {.body = std::string(well) + "\n"};
  return {.status = 503, .body = reason + "\n"};
}

Answer readiness(Server& server, const Question&) {
  return probed("ready", unready_reason(server));
}

Answer service(Server& server, const Question&) {
  return probed("serves", unserving_reason(server));
}

Answer description(Server& server, const Question&) {
  return {.content_type = "application/json", .body = openapi_text(server.executor().table())};
}

struct Page {
  std::string_view path;
  Answer (*answer)(Server& server, const Question& question);
  std::optional<ListenerKind> only = {};  // of that port
};

constexpr Page kPages[] = {{"/metrics", metrics, ListenerKind::kMetrics},
                           {kHistoryPath, history, ListenerKind::kMetrics},
                           {kOpenApiPath, description, ListenerKind::kRequests},
                           {"/healthz", health},
                           {"/readyz", readiness},
                           {"/serves", service}};

bool only_reads(const Question& question) {
  return question.method == "GET" || question.method == "HEAD";
}

// Whether errors there are problems.
bool is_of_v1(std::string_view path, ListenerKind listener) {
  return listener == ListenerKind::kRequests && path.starts_with(kV1);
}

Answer told(unsigned status, const std::string& what, bool as_problem) {
  if (as_problem) return problem_answer(status, what);
  return {.status = status, .body = what + "\n"};
}

Answer wrong_method(bool as_problem) {
  Answer answer = told(405, "the methods here are GET and HEAD", as_problem);
  answer.fields.emplace_back("Allow", "GET, HEAD");
  return answer;
}

}  // namespace

Answer answer(Server& server, const Question& question, ListenerKind listener) {
  const std::string_view path = question.target.substr(0, question.target.find('?'));
  const bool watches = listener == ListenerKind::kMetrics;
  const bool as_problem = is_of_v1(path, listener);
  if (const PagePart* part = watches ? find_page_part(path) : nullptr; part != nullptr) {
    if (!only_reads(question)) return wrong_method(false);
    return page_answer(*part, question.host, server.config().metrics_hosts);
  }
  std::string paths = watches ? " / /v1/page" : " /v1/gate";
  for (const Page& page : kPages) {
    if (page.only.value_or(listener) != listener) continue;
    paths.append(" ").append(page.path);
    if (page.path != path) continue;
    return only_reads(question) ? page.answer(server, question) : wrong_method(as_problem);
  }
  return told(404, "there is no such page; there are" + paths, as_problem);
}

}  // namespace weir::server::http
