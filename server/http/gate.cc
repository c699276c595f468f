#include "server/http/gate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/http/format/json.h"
#include "server/http/format/trace_field.h"
#include "server/http/v1/problem.h"
#include "server/limiter/policy/request.h"

namespace weir::server::http {
namespace {

using resp::Value;

constexpr std::string_view kPrefix = "x-weir-";
constexpr std::string_view kCredentials = "x-weir-authorization";
constexpr std::string_view kChallenge = "WWW-Authenticate";
constexpr unsigned kDenyMin = 401, kDenyMax = 599;

std::string url_decoded(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escapes = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                         hex_value(text[i + 2]) >= 0;
    if (escapes) {
      bytes.push_back(static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2])));
      i += 2;
    } else {
      bytes.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return bytes;
}

Parameters parameters_of_fields(Fields fields) {
  Parameters parameters;
  for (const Field& field : fields) {
    const std::string name = to_lower(field.name);
    if (!name.starts_with(kPrefix) || name == kCredentials) continue;
    Parameter parameter = {.name = name.substr(kPrefix.size()), .value = {}};
    if (!field.value.empty()) parameter.value = field.value;
    parameters.push_back(std::move(parameter));
    if (parameters.size() > kParametersMax) break;  // which fault_of_names() refuses
  }
  return parameters;
}

Parameter* find(Parameters* parameters, std::string_view name) {
  const auto found = std::find_if(
      parameters->begin(), parameters->end(),
      [name](const Parameter& parameter) { return equals_ignoring_case(parameter.name, name); });
  return found == parameters->end() ? nullptr : &*found;
}

// Answers the value of a parameter, which is taken out; nothing if there is none.
std::optional<std::string> take(Parameters* parameters, std::string_view name) {
  const Parameter* found = find(parameters, name);
  if (found == nullptr) return std::nullopt;
  std::string value = found->value.value_or("");
  parameters->erase(parameters->begin() + (found - parameters->data()));
  return value;
}

// Makes "yes" a word alone, and forgets what is "no".
Result<void, std::string> read_flags(Parameters* parameters) {
  constexpr std::string_view kFlags[] = {"legacy", "problem", "partition",
                                         "shadow", "upto",    "force"};
  for (const std::string_view name : kFlags) {
    Parameter* flag = find(parameters, name);
    if (flag == nullptr) continue;
    const std::string value = std::exchange(flag->value, std::nullopt).value_or("yes");
    if (value.empty() || equals_ignoring_case(value, "yes")) continue;
    if (!equals_ignoring_case(value, "no"))
      return "ERR " + std::string(name) + " must be yes or no, got '" + algorithms::shown(value) +
             "'";
    parameters->erase(parameters->begin() + (flag - parameters->data()));
  }
  return {};
}

Result<void, std::string> set_deny(std::string_view text, GateTerms* terms) {
  const auto status = resp::parse_int64(text);
  if (!status || *status < kDenyMin || *status > kDenyMax) {
    return "ERR deny must be a status between 401 and 599, got '" + algorithms::shown(text) + "'";
  }
  terms->deny = static_cast<unsigned>(*status);
  return {};
}

// What errors are answered comes first, so that it holds for those of the others.
Result<void, std::string> take_terms(Parameters* parameters, GateTerms* terms) {
  const auto errors = take(parameters, "errors");
  const auto deny = take(parameters, "deny");
  if (errors && equals_ignoring_case(*errors, "open")) {
    terms->on_error = OnGateError::kOpens;
  } else if (errors && equals_ignoring_case(*errors, "closed")) {
    terms->on_error = OnGateError::kCloses;
  } else if (errors) {
    return "ERR errors must be open or closed, got '" + algorithms::shown(*errors) + "'";
  }
  if (!deny) return {};
  return set_deny(*deny, terms);
}

const Value* member(const Value& map, std::string_view name) {
  for (size_t i = 0; i + 1 < map.elements.size(); i += 2) {
    if (map.elements[i].text == name) return &map.elements[i + 1];
  }
  return nullptr;
}

// The status of a problem has to be that of its answer (RFC 9457, 3.1.2).
std::string body_of(Value problem, unsigned status) {
  for (size_t i = 0; i + 1 < problem.elements.size(); i += 2) {
    if (problem.elements[i].text == "status") problem.elements[i + 1].integer = status;
  }
  return text_of(json_of(problem)) + "\n";
}

// Tells whether a value that the proxy hands on may have made the error: the key of something that
// is no limiter, a cost that is no number, a key that the gate's user may not touch, or of another
// owner. Nobody is to get rid of his limit by such a value. That a policy is missing is nobody's
// value, because the proxy names it.
bool may_be_of_a_value(std::string_view error) {
  constexpr std::string_view kNoPolicy = "ERR no policy is named";
  const unsigned status = status_of_error(error);
  return status >= 400 && status < 500 && status != 401 && !error.starts_with(kNoPolicy);
}

}  // namespace

bool is_gate(const Request& request) {
  const std::string_view path = request.path();
  if (!path.starts_with(kGatePath)) return false;
  return path.size() == kGatePath.size() || path[kGatePath.size()] == '/';
}

Parameters parameters_of_query(std::string_view query) {
  Parameters parameters;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    const size_t equal = pair.find('=');
    Parameter parameter = {.name = url_decoded(pair.substr(0, equal)), .value = {}};
    if (equal != pair.npos) parameter.value = url_decoded(pair.substr(equal + 1));
    parameters.push_back(std::move(parameter));
    if (parameters.size() > kParametersMax) break;  // likewise
  }
  return parameters;
}

Result<std::vector<std::string>, std::string> parse_gate(const Request& request, GateTerms* terms) {
  const bool by_query = request.path().size() == kGatePath.size() && !request.query().empty();
  const Parameters given =
      by_query ? parameters_of_query(request.query()) : parameters_of_fields(request.fields);
  const auto fault = fault_of_names(given);
  const auto resolved = fault ? Result<Parameters, std::string>(*fault)
                              : with_values_of_fields(given, request.fields);
  Parameters parameters = resolved ? *resolved : given;
  if (auto taken = take_terms(&parameters, terms); !taken) return taken.error();
  if (!resolved) return resolved.error();
  if (auto read = read_flags(&parameters); !read) return read.error();
  if (parameters.empty()) {
    return std::string(by_query ? "ERR policy or limits, and key must be given in the query"
                                : "ERR X-Weir-Policy or X-Weir-Limits, and X-Weir-Key must be "
                                  "given, or policy or limits, and key in a query");
  }
  const bool names_trace = find(&parameters, kTraceWord) != nullptr;
  auto words = words_of_keys(parameters);
  if (words && !names_trace) add_trace(trace_of(request.fields), &*words);
  return words;
}

Answer gate_answer(const Value& reply, const GateTerms& terms) {
  Answer answer;
  if (const Value* headers = member(reply, "headers")) {
    for (size_t i = 0; i + 1 < headers->elements.size(); i += 2)
      answer.fields.emplace_back(headers->elements[i].text, headers->elements[i + 1].text);
  }
  const Value* allowed = member(reply, "allowed");
  if (allowed == nullptr) return gate_error("ERR internal error: RL.TAKE has no verdict", terms);
  if (allowed->integer == 0) {
    answer.status = terms.deny;
    answer.body = "too many requests\n";
    if (const Value* problem = member(reply, "problem")) {
      answer.content_type = kProblemType;
      answer.body = body_of(*problem, terms.deny);
    }
  }
  return answer;
}

Answer gate_error(std::string_view error, const GateTerms& terms) {
  if (terms.on_error == OnGateError::kOpens && !may_be_of_a_value(error)) return {};
  Answer answer = error_answer(error);
  if (terms.on_error != OnGateError::kTells)
    answer = {.status = 500, .body = "the limiter cannot decide\n"};
  // A proxy may hand it to its caller, whose browser would ask for a password of weir.
  std::erase_if(answer.fields, [](const auto& field) { return field.first == kChallenge; });
  if (answer.status == terms.deny) answer.status = terms.deny == 500 ? 503 : 500;
  return answer;
}

}  // namespace weir::server::http
