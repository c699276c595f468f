#include "server/http/v1/openapi.h"

#include "base/ascii.h"
#include "server/http/format/message.h"
#include "server/http/v1/calls.h"
#include "server/http/v1/endpoints.h"
#include "server/http/v1/problem.h"
#include "server/http/v1/schemas.h"

namespace weir::server::http {
namespace {

constexpr std::string_view kAboutWeir =
    "Limits that are asked for by POST with JSON. The commands are those of the Redis protocol: "
    "their words, rights and figures are described with them. Members may be written in any case; "
    "each stands once, and an unknown one is refused.";

constexpr struct {
  unsigned status;
  std::string_view about;
} kProblems[] = {{400, "What was asked is wrong; field names the member that is to blame."},
                 {401, "Who asks has to log in, or the password is wrong."},
                 {403, "The user may not do this, or weir keeps others out."},
                 {409, "The key is no limiter."},
                 {413, "The body is too long."},
                 {421, "Another server of the cluster has the key."},
                 {431, "The header is too long."},
                 {500, "An error of weir itself."},
                 {503,
                  "Not now: the disk fails, memory is full, a script runs, another member of "
                  "the shard serves, or too many wait."}};

Json content_of(std::string_view type, Json schema) {
  return made_object({{type, made_object({{"schema", std::move(schema)}})}});
}

// "policies/stats/all" as "PoliciesStatsAll"
std::string camel_case(std::string_view path) {
  std::string name;
  bool begins = true;
  for (const char c : path) {
    if (c != '/') name.push_back(begins ? to_upper(c) : c);
    begins = c == '/';
  }
  return name;
}

std::string body_name(const Endpoint& endpoint) { return camel_case(endpoint.path) + "Request"; }

std::string operation_id(std::string_view path) {
  std::string name = camel_case(path);
  name[0] = to_lower(name[0]);
  return name;
}

Json answers_of(Json schema) {
  Json answers = made_object(
      {{"200", made_object({{"description", Json::words("The answer.")},
                            {"content", content_of("application/json", std::move(schema))}})}});
  for (const auto& problem : kProblems) {
    const std::string status = std::to_string(problem.status);
    answers.add(status, reference("responses", "Problem" + status));
  }
  return answers;
}

Json operation_of(std::string_view id, std::string_view tag, std::string_view summary, Json body,
                  Json answer) {
  Json asked = made_object({{"required", Json::boolean(true)},
                            {"content", content_of("application/json", std::move(body))}});
  return made_object({{"operationId", Json::words(id)},
                      {"tags", Json::array({Json::words(tag)})},
                      {"summary", Json::words(summary)},
                      {"requestBody", std::move(asked)},
                      {"responses", answers_of(std::move(answer))}});
}

// "RL.TOP RESET" is a word of RL.TOP, and no command of its own.
std::string_view summary_of(const Endpoint& endpoint, const CommandTable& commands) {
  const std::string name = row_name(endpoint);
  const Command* row = commands.find_by_full_name(name);
  if (row == nullptr) row = commands.find_by_full_name(name.substr(0, name.find('|')));
  return row == nullptr ? std::string_view() : row->summary;
}

Json operation_of(const Endpoint& endpoint, const CommandTable& commands) {
  const std::string summary = std::string(summary_of(endpoint, commands)) + " " +
                              std::string(endpoint.command) + " over HTTP.";
  Json answer = reference("schemas", endpoint.shape->name);
  if (endpoint.may_be_null) {
    Json null = made_object({{"type", Json::words("null")}});
    answer = made_object({{"anyOf", Json::array({std::move(answer), std::move(null)})}});
  }
  const bool is_of_policies = endpoint.path.starts_with("policies/");
  return operation_of(operation_id(endpoint.path), is_of_policies ? "policies" : "keys",
                      trimmed(summary), reference("schemas", body_name(endpoint)),
                      std::move(answer));
}

Json batch_body() {
  Json questions = Json::object();
  for (const Endpoint* endpoint : all_endpoints()) {
    if (endpoint->in_batch)
      questions.add(endpoint->path, reference("schemas", body_name(*endpoint)));
  }
  Json question = made_object({{"type", Json::words("object")},
                               {"properties", std::move(questions)},
                               {"minProperties", Json::number(1)},
                               {"maxProperties", Json::number(1)},
                               {"additionalProperties", Json::boolean(false)}});
  Json requests = made_object({{"type", Json::words("array")},
                               {"items", std::move(question)},
                               {"minItems", Json::number(1)},
                               {"maxItems", Json::number(kBatchMax)}});
  return made_object({{"type", Json::words("object")},
                      {"properties", made_object({{"requests", std::move(requests)}})},
                      {"required", Json::array({Json::words("requests")})},
                      {"additionalProperties", Json::boolean(false)}});
}

Json batch_answer() {
  Json answer = made_object(
      {{"type", Json::words("object")},
       {"properties",
        made_object(
            {{"status", made_object({{"type", Json::words("integer")}})},
             {"body", made_object({{"description",
                                    Json::words("As the endpoint would answer alone.")}})}})},
       {"required", Json::array({Json::words("status"), Json::words("body")})}});
  Json answers = made_object({{"type", Json::words("array")}, {"items", std::move(answer)}});
  return made_object({{"type", Json::words("object")},
                      {"properties", made_object({{"answers", std::move(answers)}})},
                      {"required", Json::array({Json::words("answers")})}});
}

Json problem_schema() {
  Json properties = Json::object();
  Json required = Json::array();
  for (const std::string_view name : {"type", "title", "status", "detail", "error", "field"}) {
    const std::string_view type = name == "status" ? "integer" : "string";
    properties.add(name, made_object({{"type", Json::words(type)}}));
    if (name != "field") required.elements.push_back(Json::words(name));
  }
  return made_object({{"type", Json::words("object")},
                      {"properties", std::move(properties)},
                      {"required", std::move(required)}});
}

Json components() {
  Json schemas = made_object({{"Bytes", bytes_schema()},
                              {"Problem", problem_schema()},
                              {"BatchRequest", batch_body()},
                              {"BatchAnswers", batch_answer()}});
  std::map<std::string_view, const Shape*> shapes;
  for (const Endpoint* endpoint : all_endpoints()) {
    schemas.add(body_name(*endpoint), body_schema(*endpoint));
    collect_shapes(*endpoint->shape, &shapes);
  }
  for (const auto& [name, shape] : shapes) schemas.add(name, shape_schema(*shape));
  Json problems = Json::object();
  for (const auto& problem : kProblems) {
    problems.add(
        "Problem" + std::to_string(problem.status),
        made_object({{"description", Json::words(problem.about)},
                     {"content", content_of(kProblemType, reference("schemas", "Problem"))}}));
  }
  const auto scheme = [](std::string_view name, std::string_view about) {
    return made_object({{"type", Json::words("http")},
                        {"scheme", Json::words(name)},
                        {"description", Json::words(about)}});
  };
  return made_object({{"schemas", std::move(schemas)},
                      {"responses", std::move(problems)},
                      {"securitySchemes",
                       made_object({{"basic", scheme("basic", "A user of weir, and its password.")},
                                    {"bearer", scheme("bearer", "user:password in base64.")}})}});
}

Json all_paths(const CommandTable& commands) {
  Json all = Json::object();
  for (const Endpoint* endpoint : all_endpoints()) {
    all.add(std::string(kV1) + std::string(endpoint->path),
            made_object({{"post", operation_of(*endpoint, commands)}}));
  }
  all.add(kBatchPath,
          made_object({{"post", operation_of("batch", "keys",
                                             "Asks up to " + std::to_string(kBatchMax) +
                                                 " questions, each with its own verdict.",
                                             reference("schemas", "BatchRequest"),
                                             reference("schemas", "BatchAnswers"))}}));
  Json document = made_object(
      {{"200",
        made_object({{"description", Json::words("This document.")},
                     {"content", content_of("application/json",
                                            made_object({{"type", Json::words("object")}}))}})}});
  all.add(kOpenApiPath,
          made_object({{"get", made_object({{"operationId", Json::words("openapi")},
                                            {"summary", Json::words("Answers this document.")},
                                            {"security", Json::array()},
                                            {"responses", std::move(document)}})}}));
  return all;
}

// Without credentials a request is the user `default`, which may have no password.
Json security() {
  return Json::array({Json::object(), made_object({{"basic", Json::array()}}),
                      made_object({{"bearer", Json::array()}})});
}

Json document_of(const CommandTable& commands) {
  Json info = made_object({{"title", Json::words("weir")},
                           {"version", Json::words(WEIR_VERSION)},
                           {"description", Json::words(kAboutWeir)},
                           {"license", made_object({{"name", Json::words("Apache-2.0")},
                                                    {"identifier", Json::words("Apache-2.0")}})}});
  return made_object({{"openapi", Json::words("3.1.0")},
                      {"info", std::move(info)},
                      {"servers", Json::array({made_object({{"url", Json::words("/")}})})},
                      {"security", security()},
                      {"paths", all_paths(commands)},
                      {"components", components()}});
}

}  // namespace

const std::string& openapi_text(const CommandTable& commands) {
  static const std::string text = text_of(document_of(commands)) + "\n";
  return text;
}

}  // namespace weir::server::http
