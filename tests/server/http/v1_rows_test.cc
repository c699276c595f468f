// The rows of /v1/: every command of limiters has one, every word of its options a member, and
// every answer the fields that its row promises. The OpenAPI document is made of the same rows.
#include <algorithm>
#include <set>

#include "server/command/usage.h"
#include "server/http/v1/calls.h"
#include "server/http/v1/endpoints.h"
#include "server/http/v1/openapi.h"
#include "server/limiter/policy/request.h"
#include "tests/server/http/v1_fixture.h"

namespace weir::server {
namespace {

using http::AnswerField;
using http::Endpoint;
using http::FieldKind;
using http::Json;
using http::Shape;
using testing::HasSubstr;
using testing::StartsWith;

// Commands of limiters that HTTP has no path for, and why.
constexpr struct {
  std::string_view command, why;
} kWithoutPath[] = {
    {"rl.help", "the OpenAPI document is the help"},
    {"rl.policy|help", "likewise"},
    {"rl.throttle", "the words of redis-cell, whose callers have a Redis client"},
};

// Words of a usage that stand in no row: values of a member, and what is for proxies, to which the
// gate answers it.
constexpr std::string_view kOfNoRow[] = {"UNLIMITED", "BLOCKED", "LEGACY", "PROBLEM", "PARTITION"};

// The words of a usage that are written as they are: COST, UPTO.
std::set<std::string> words_of_usage(std::string_view usage) {
  std::set<std::string> words;
  std::string word;
  for (const char c : weir::server::usage_text(usage) + " ") {
    if (is_letter(c)) {
      word.push_back(c);
    } else {
      if (word.size() > 1 && to_upper(word) == word) words.insert(word);
      word.clear();
    }
  }
  return words;
}

std::set<std::string> words_of_rows(std::string_view row_name) {
  std::set<std::string> words(std::begin(kOfNoRow), std::end(kOfNoRow));
  for (const Endpoint* endpoint : http::all_endpoints()) {
    if (http::row_name(*endpoint).substr(0, row_name.size()) != row_name) continue;
    for (const std::string_view word : split_at_spaces(endpoint->command)) words.emplace(word);
    words.emplace(endpoint->last);
    if (endpoint->traced) words.emplace(kTraceWord);
    for (const http::Member& member : endpoint->members) {
      const bool is_always_so = member.kind == http::MemberKind::kFlag && member.word.empty();
      if (is_always_so) words.insert(to_upper(member.name));
      words.emplace(member.word);
      words.insert(member.choices.begin(), member.choices.end());
    }
  }
  return words;
}

TEST(V1Rows, EveryCommandOfLimitersHasOneAndEveryWordAMember) {
  FakeServer server;
  const CommandTable& table = server->executor().table();
  std::set<std::string> rows;
  for (const Endpoint* endpoint : http::all_endpoints()) {
    std::string name = http::row_name(*endpoint);
    if (table.find_by_full_name(name) == nullptr) name = name.substr(0, name.find('|'));
    EXPECT_NE(table.find_by_full_name(name), nullptr) << name;
    rows.insert(name);
  }
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& command = *table.row(i);
    if (!command.name.starts_with("rl.") || command.has(kContainer)) continue;
    const bool is_left_out =
        std::any_of(std::begin(kWithoutPath), std::end(kWithoutPath),
                    [&](const auto& row) { return row.command == command.name; });
    EXPECT_EQ(rows.contains(std::string(command.name)), !is_left_out) << command.name;
    if (is_left_out) continue;
    const std::set<std::string> known = words_of_rows(command.name);
    for (const std::string& word : words_of_usage(command.usage))
      EXPECT_TRUE(known.contains(word)) << command.name << " " << word;
  }
}

// What is wrong with an object of an answer; empty: nothing.
std::string fault_of(const Json& value, const Shape& shape);

std::string fault_of(const Json& value, const AnswerField& field) {
  using Kind = Json::Kind;
  const bool nullable = field.kind == FieldKind::kIntegerOrNull ||
                        field.kind == FieldKind::kTextOrNull ||
                        field.kind == FieldKind::kBytesOrNull;
  const std::string wrong = std::string(field.name) + " is " + text_of(value);
  if (value.is(Kind::kNull)) return nullable ? "" : wrong;
  switch (field.kind) {
    case FieldKind::kInteger:
    case FieldKind::kIntegerOrNull:
      return value.is(Kind::kInteger) ? "" : wrong;
    case FieldKind::kFlag:
      return value.is(Kind::kBoolean) ? "" : wrong;
    case FieldKind::kText:
    case FieldKind::kTextOrNull:
      return value.is(Kind::kText) ? "" : wrong;
    case FieldKind::kBytes:
    case FieldKind::kBytesOrNull:
      return value.is(Kind::kText) || http::bytes_of_json(value) ? "" : wrong;
    case FieldKind::kTexts:
      return value.is(Kind::kArray) ? "" : wrong;
    case FieldKind::kTextsByName:
      return value.is(Kind::kObject) ? "" : wrong;
    case FieldKind::kObject:
      return fault_of(value, *field.of);
    case FieldKind::kObjects:
    case FieldKind::kTuples:
    case FieldKind::kNamed:
      if (!value.is(Kind::kArray)) return wrong;
      for (const Json& each : value.elements) {
        if (const std::string fault = fault_of(each, *field.of); !fault.empty()) return fault;
      }
      return "";
  }
  return wrong;
}

std::string fault_of(const Json& value, const Shape& shape) {
  if (!value.is(Json::Kind::kObject)) return std::string(shape.name) + " is " + text_of(value);
  size_t found = 0;
  for (const AnswerField& field : shape.fields) {
    const Json* member = value.find(field.name);
    if (member == nullptr && !field.may_lack) return std::string(field.name) + " is not there";
    if (member == nullptr) continue;
    ++found;
    if (const std::string fault = fault_of(*member, field); !fault.empty()) return fault;
  }
  return found == value.names.size() ? "" : "there is more: " + text_of(value);
}

TEST_F(V1Test, EveryAnswerHasTheFieldsOfItsRow) {
  call({"RL.POLICY", "SET", "api", "100/1m", "ADAPTIVE", "10..500", "AS", "calls"});
  call({"RL.POLICY", "OVERRIDE", "api", "KEY", "k", "5/1s"});
  const std::pair<std::string_view, std::string_view> kAsked[] = {
      {"take", R"({"key": "a", "policy": "api", "cost": 2, "hold": "9s"})"},
      {"take", R"({"key": "pool", "limits": "CONCURRENCY 1 LEASE 9s"})"},
      {"take", R"({"key": "b", "limits": "1/1s", "cost": 5})"},
      {"take", R"({"key": "b", "limits": "1/1s", "cost": 5, "shadow": true, "upto": true})"},
      {"peek", R"({"key": "b"})"},
      {"mtake", R"({"keys": ["c", "d"], "each": [{"policy": "api"}, {"limits": "1/1s"}]})"},
      {"acquire", R"({"key": "e", "limits": "1/1s", "timeout": 1000})"},
      {"reserve", R"({"key": "f", "limits": "1/1s"})"},
      {"reserve", R"({"key": "f", "limits": "1/1s", "cost": 7})"},
      {"renew", R"({"key": "a", "id": 1})"},
      {"settle", R"({"key": "a", "id": 1, "cost": 1})"},
      {"cancel", R"({"key": "a", "id": 1})"},
      {"release", R"({"key": "pool", "id": 2})"},
      {"refund", R"({"key": "pool", "permits": 1})"},
      {"refund", R"({"key": "a", "permits": 1})"},
      {"report", R"({"key": "g", "result": "OK"})"},
      {"policies/report", R"({"policy": "api", "result": "FAIL", "latency": 3})"},
      {"take", R"({"key": "g", "limits": "9/1s ADAPTIVE 1..20"})"},
      {"report", R"({"key": "g", "result": "OK", "latency": "3ms"})"},
      {"info", R"({"key": "g"})"},
      {"info", R"({"key": "f"})"},
      {"top", R"({"by": "DENIED", "window": "MINUTE", "count": 5})"},
      {"top/reset", "{}"},
      {"reset", R"({"key": "g"})"},
      {"policies/list", "{}"},
      {"policies/get", R"({"policy": "api"})"},
      {"policies/set", R"({"policy": "b", "limits": "BLOCKED"})"},
      {"policies/override", R"({"policy": "b", "prefix": "x", "limits": "UNLIMITED"})"},
      {"policies/overrides", R"({"policy": "api"})"},
      {"policies/override/delete", R"({"policy": "b", "prefix": "x"})"},
      {"policies/stats", R"({"policy": "api"})"},
      {"policies/stats/all", "{}"},
      {"policies/delete", R"({"policy": "b"})"},
      {"policies/history", R"({"policy": "b"})"},
  };
  std::set<std::string_view> paths = {"policies/reload"};  // it needs a file
  for (const auto& [path, body] : kAsked) {
    const Endpoint* endpoint = http::find_endpoint(path);
    ASSERT_NE(endpoint, nullptr) << path;
    paths.insert(path);
    const std::string told = ask(path, body);
    ASSERT_THAT(told, StartsWith("200 ")) << path << " " << body;
    const Json answer = body_of(told);
    if (endpoint->may_be_null && answer.is(Json::Kind::kNull)) continue;
    EXPECT_EQ(fault_of(answer, *endpoint->shape), "") << path << " " << told;
  }
  for (const Endpoint* endpoint : http::all_endpoints())
    EXPECT_TRUE(paths.contains(endpoint->path)) << endpoint->path;
}

// Every {"$ref": "#/a/b"} of the document leads somewhere.
void follow_references(const Json& value, const Json& document) {
  if (const Json* reference = value.find("$ref")) {
    const Json* at = &document;
    std::string_view path = std::string_view(reference->text).substr(2);
    while (at != nullptr && !path.empty()) {
      const size_t slash = std::min(path.find('/'), path.size());
      at = at->find(path.substr(0, slash));
      path.remove_prefix(std::min(slash + 1, path.size()));
    }
    EXPECT_NE(at, nullptr) << reference->text;
  }
  for (const Json& element : value.elements) follow_references(element, document);
}

TEST_F(V1Test, TheDocumentHasEveryPathAndLeadsNowhereWrong) {
  const std::string answer = send("GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Type: application/json\r\n"));
  const std::string& text = http::openapi_text(one_.server->executor().table());
  EXPECT_TRUE(answer.ends_with(text));
  EXPECT_TRUE(text.starts_with(R"({"openapi":"3.1.0","info":{"title":"weir","version":)"));
  const auto document = http::parse_json(text, {.depth_max = 32, .members_max = 1000});
  ASSERT_TRUE(document);
  follow_references(*document, *document);
  for (const Endpoint* endpoint : http::all_endpoints())
    EXPECT_THAT(text, HasSubstr("\"/v1/" + std::string(endpoint->path) + "\":{\"post\":"));
  EXPECT_THAT(text, HasSubstr("\"summary\":\"Takes permits from all limits of a key, or from "
                              "none. RL.TAKE over HTTP.\""));
  const std::string refused = send(post("openapi.json", "{}"));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(refused, HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  EXPECT_THAT(refused, HasSubstr("\r\nContent-Type: application/problem+json\r\n"));
}

}  // namespace
}  // namespace weir::server
