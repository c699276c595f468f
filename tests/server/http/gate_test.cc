// What a request to the gate asks for, and how the verdict is told; without a server.
#include "server/http/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http/credentials.h"

namespace weir::server::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words(std::string_view target, std::vector<Field> fields = {}) {
  GateTerms ignored;
  const auto taken =
      parse_gate({.method = "GET", .target = target, .fields = std::move(fields)}, &ignored);
  return taken ? *taken : std::vector<std::string>{taken.error()};
}

TEST(Gate, QueryBecomesTheWordsOfTake) {
  EXPECT_THAT(words("/v1/gate?policy=api&key=user:42"),
              ElementsAre("RL.TAKE", "user:42", "POLICY", "api", "HEADERS"));
  EXPECT_THAT(words("/v1/gate?cost=3&key=k&limits=GCRA+10/1s%20BURST+5&shadow&New=x"),
              ElementsAre("RL.TAKE", "k", "GCRA", "10/1s", "BURST", "5", "COST", "3", "SHADOW",
                          "NEW", "x", "HEADERS"));
}

TEST(Gate, AnEscapeThatIsNoneStaysAsItIs) {
  EXPECT_THAT(words("/v1/gate?policy=a%26b&key=%zz%4"),
              ElementsAre("RL.TAKE", "%zz%4", "POLICY", "a&b", "HEADERS"));
}

TEST(Gate, FieldsBecomeTheWordsOfTake) {
  const std::vector<Field> fields = {
      {"Host", "x"}, {"X-Weir-Policy", "api"}, {"x-weir-key", "a b&c=%41"}, {"X-WEIR-COST", "2"}};
  const auto expected =
      ElementsAre("RL.TAKE", "a b&c=%41", "POLICY", "api", "COST", "2", "HEADERS");
  EXPECT_THAT(words("/v1/gate", fields), expected);
  EXPECT_THAT(words("/v1/gate/", fields), expected);
  EXPECT_THAT(words("/v1/gate/any/path?cost=0&key=other", fields), expected);
}

TEST(Gate, FieldsChangeNothingInAQuery) {
  const std::vector<Field> fields = {{"X-Weir-Cost", "0"}, {"X-Weir-Key", "other"}};
  EXPECT_THAT(words("/v1/gate?policy=api&key=k", fields),
              ElementsAre("RL.TAKE", "k", "POLICY", "api", "HEADERS"));
}

TEST(Gate, AFieldThatIsNamedGivesItsValue) {
  const std::vector<Field> fields = {
      {"X-Forwarded-For", "192.0.2.1"}, {"X-Two", "a"}, {"x-two", "b"}};
  EXPECT_THAT(words("/v1/gate?policy=api&key-header=x-forwarded-for", fields),
              ElementsAre("RL.TAKE", "192.0.2.1", "POLICY", "api", "HEADERS"));
  EXPECT_THAT(words("/v1/gate?policy=api&key=ip:&key-header=X-Forwarded-For", fields),
              ElementsAre("RL.TAKE", "ip:192.0.2.1", "POLICY", "api", "HEADERS"));
  EXPECT_THAT(words("/v1/gate?policy=api&key-header=X-Two&cost-header=X-None", fields),
              ElementsAre("RL.TAKE", "a, b", "POLICY", "api", "HEADERS"));
  EXPECT_THAT(words("/v1/gate?policy=api&key-header=X-None", fields),
              ElementsAre("RL.TAKE", "", "POLICY", "api", "HEADERS"));
  EXPECT_THAT(words("/v1/gate?policy=api&key=anybody:&key-header=X-None", fields),
              ElementsAre("RL.TAKE", "anybody:", "POLICY", "api", "HEADERS"));
}

TEST(Gate, AnAddressInTheKeysFieldIsCut) {
  const std::vector<Field> fields = {{"X-Forwarded-For", "198.51.100.7, [2001:db8:1:2::3]:443"},
                                     {"X-Real-Ip", "::ffff:192.0.2.130"}};
  const auto key = [&](const std::string& query) {
    const auto all = words("/v1/gate?policy=api&" + query, fields);
    return all.size() < 2 ? all[0] : all[1];
  };
  EXPECT_EQ(key("key=ip:&key-header=X-Forwarded-For&key-ipv6=64"), "ip:2001:db8:1:2::/64");
  EXPECT_EQ(key("KEY-IPv6=128&key-header=x-forwarded-for"), "2001:db8:1:2::3");
  EXPECT_EQ(key("key-header=X-Real-Ip&key-ipv6=64"), "192.0.2.130");
  EXPECT_EQ(key("key-header=X-Real-Ip&key-ipv4=24"), "192.0.2.0/24");
  EXPECT_EQ(key("key-header=X-Real-Ip&key-ipv4=24&key-ipv6=48"), "192.0.2.0/24");
  EXPECT_EQ(key("key=anybody:&key-header=X-None&key-ipv6=64"), "anybody:");
  EXPECT_EQ(key("key=ip:&key-header=X-Real-Ip"), "ip:::ffff:192.0.2.130") << "it was not asked for";
  const std::vector<Field> named = {{"X-Weir-Policy", "api"},
                                    {"X-Weir-Key", "ip:"},
                                    {"X-Weir-Key-Header", "X-Client"},
                                    {"X-Weir-Key-IPv6", "56"},
                                    {"X-Client", "2001:db8:1:2ff::3"}};
  EXPECT_THAT(words("/v1/gate", named),
              ElementsAre("RL.TAKE", "ip:2001:db8:1:200::/56", "POLICY", "api", "HEADERS"));
}

TEST(Gate, SaysWhatIsWrongWithAnAddress) {
  for (const char* bits : {"0", "129", "-1", "x", "", "64.5"}) {
    EXPECT_THAT(words(std::string("/v1/gate?policy=p&key-header=x&key-ipv6=") + bits),
                ElementsAre("ERR key-ipv6 must be how many bits of an address are kept, 1 to 128, "
                            "got '" +
                            std::string(bits) + "'"));
  }
  EXPECT_THAT(words("/v1/gate?policy=p&key-header.2=x&key-ipv4.2=33"),
              ElementsAre(HasSubstr("ERR key-ipv4.2 must be how many bits of an address are kept, "
                                    "1 to 32, got '33'")));
  EXPECT_THAT(
      words("/v1/gate?policy=p&key=ip:192.0.2.1&key-ipv6=64"),
      ElementsAre("ERR key-ipv6 is about the address in a field: key-header must be given"));
}

TEST(Gate, SeveralKeysAreAskedTogether) {
  const std::vector<Field> fields = {{"X-Ip", "2001:db8:1:2::3"}, {"X-Tenant", "acme"}};
  EXPECT_THAT(words("/v1/gate?policy=ip&key=ip:&key-header=X-Ip&key-ipv6=64&cost=2"
                    "&policy.2=net&key.2=net:&key-header.2=X-Ip&key-ipv6.2=48"
                    "&limits.10=9/1s+FIXED+5/1h&Key.10=t:&KEY-header.10=X-Tenant&shadow",
                    fields),
              ElementsAre("RL.MTAKE", "3", "ip:2001:db8:1:2::/64", "net:2001:db8:1::/48", "t:acme",
                          "EACH", "POLICY", "ip", "EACH", "POLICY", "net", "EACH", "9/1s", "FIXED",
                          "5/1h", "COST", "2", "SHADOW", "HEADERS"));
  EXPECT_THAT(words("/v1/gate", {{"X-Weir-Policy", "a"},
                                 {"X-Weir-Key", "a:1"},
                                 {"X-Weir-Policy.2", "b"},
                                 {"X-Weir-Key.2", "b:1"},
                                 {"X-Weir-Id", "x"}}),
              ElementsAre("RL.MTAKE", "2", "a:1", "b:1", "EACH", "POLICY", "a", "EACH", "POLICY",
                          "b", "ID", "x", "HEADERS"));
}

TEST(Gate, SaysWhatIsWrongWithSeveralKeys) {
  const auto error = [](const std::string& query) {
    return words("/v1/gate?policy=a&key=a:&" + query)[0];
  };
  EXPECT_EQ(error("policy.2=b"), "ERR key.2 must be given");
  EXPECT_EQ(error("key.2=b"), "ERR policy.2 or limits.2 must be given");
  EXPECT_EQ(error("limits.2=&key.2=b"), "ERR policy.2 or limits.2 must be given");
  EXPECT_EQ(words("/v1/gate?policy.2=a&key.2=b&policy=c")[0], "ERR key must be given");
  EXPECT_EQ(error("policy.2=b&key.2=b&cost.2=3"),
            "ERR only key, policy, limits and what tells of a key have a number, got 'cost.2'");
  EXPECT_EQ(error("errors.2=open"),
            "ERR only key, policy, limits and what tells of a key have a number, got 'errors.2'");
  for (const char* number : {"0", "1", "02", "17", "99999999999999999999"}) {
    EXPECT_THAT(error(std::string("policy.") + number + "=b"),
                HasSubstr("ERR a name ends with the number of its key, .2 to .16, got 'policy."));
  }
  const std::string alike =
      " begin alike: each key needs a beginning of its own, such as ip: and net:";
  EXPECT_EQ(error("policy.3=b&key.3=a:&key-header.3=x"), "ERR key and key.3" + alike);
  EXPECT_EQ(words("/v1/gate?policy=a&key-header=x&policy.2=b&key-header.2=y")[0],
            "ERR key and key.2" + alike);
  // A value after the shorter one can make the longer of it.
  EXPECT_EQ(error("key-header=x&policy.2=b&key.2=a:b"), "ERR key and key.2" + alike);
  EXPECT_EQ(error("policy.2=b&key.2=b&policy.3=c&key-header.3=x"), "ERR key and key.3" + alike);
  EXPECT_EQ(error("key-header=x&policy.2=b&key.2=a:b:&key-header.2=y"),
            "ERR key and key.2" + alike);
  EXPECT_EQ(error("policy.2=b&key.2=a:b:&key-header.2=y"), "RL.MTAKE")
      << "it is longer in any case";
  EXPECT_EQ(error("policy.2=b&key.2=a:b"), "RL.MTAKE") << "neither has a field";
  EXPECT_EQ(
      words("/v1/gate?policy=a&key=a&cost=1&cost-header=x&policy.2=b&key.2=b", {{"x", "2"}})[0],
      "ERR cost is given twice");
}

TEST(Gate, WhatAnErrorIsAnsweredIsKnownWhateverIsWrongWithKeys) {
  GateTerms terms;
  EXPECT_FALSE(
      parse_gate({.method = "GET", .target = "/v1/gate?key.1=a&errors=closed&deny=403"}, &terms));
  EXPECT_EQ(terms.on_error, OnGateError::kCloses);
  EXPECT_EQ(terms.deny, 403u);
}

TEST(Gate, WordsWithoutAValueMayBeYesOrNo) {
  EXPECT_THAT(
      words("/v1/gate?policy=a&key=k&legacy=yes&problem&shadow=NO&partition=&upto=no"),
      ElementsAre("RL.TAKE", "k", "POLICY", "a", "LEGACY", "PROBLEM", "PARTITION", "HEADERS"));
  EXPECT_THAT(words("/v1/gate", {{"X-Weir-Key", "k"},
                                 {"X-Weir-Policy", "a"},
                                 {"X-Weir-Shadow", "yes"},
                                 {"X-Weir-Problem", "no"}}),
              ElementsAre("RL.TAKE", "k", "POLICY", "a", "SHADOW", "HEADERS"));
  EXPECT_THAT(words("/v1/gate?policy=a&key=k&legacy=1"),
              ElementsAre("ERR legacy must be yes or no, got '1'"));
}

TEST(Gate, AProblemIsTheBodyOfADenialWithItsStatus) {
  resp::Value reply;
  size_t consumed = 0;
  const std::string bytes =
      "%3\r\n$7\r\nallowed\r\n:0\r\n$7\r\nheaders\r\n%1\r\n$1\r\nA\r\n$1\r\nb\r\n"
      "$7\r\nproblem\r\n%2\r\n$6\r\nstatus\r\n:503\r\n$17\r\nviolated-policies\r\n*1\r\n$"
      "3\r\na\"b\r\n";
  ASSERT_EQ(resp::decode(bytes, &reply, &consumed), resp::DecodeStatus::kValue);
  const Answer denied = gate_answer(reply, {.deny = 403});
  EXPECT_EQ(denied.status, 403u);
  EXPECT_EQ(denied.content_type, "application/problem+json");
  EXPECT_EQ(denied.body, "{\"status\":403,\"violated-policies\":[\"a\\\"b\"]}\n");
  EXPECT_THAT(denied.fields, ElementsAre(testing::Pair("A", "b")));
}

TEST(Gate, ATraceIsAWordOfTheQuestion) {
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const std::string other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  const std::string query = "/v1/gate?policy=a&key=k";
  EXPECT_THAT(words(query, {{"Traceparent", trace}}),
              ElementsAre("RL.TAKE", "k", "POLICY", "a", "HEADERS", "TRACEPARENT", trace));
  EXPECT_THAT(words(query + "&policy.2=b&key.2=l", {{"traceparent", trace}}),
              ElementsAre("RL.MTAKE", "2", "k", "l", "EACH", "POLICY", "a", "EACH", "POLICY", "b",
                          "HEADERS", "TRACEPARENT", trace));
  EXPECT_THAT(words(query + "&traceparent=" + trace, {{"traceparent", other}}),
              ElementsAre("RL.TAKE", "k", "POLICY", "a", "TRACEPARENT", trace, "HEADERS"));
  EXPECT_THAT(
      words("/v1/gate?policy=a&key=TRACEPARENT", {{"traceparent", trace}}),
      ElementsAre("RL.TAKE", "TRACEPARENT", "POLICY", "a", "HEADERS", "TRACEPARENT", trace));
  const auto none = ElementsAre("RL.TAKE", "k", "POLICY", "a", "HEADERS");
  EXPECT_THAT(words(query, {{"traceparent", "x"}}), none) << "a caller may send what he likes";
  EXPECT_THAT(words(query, {{"traceparent", trace}, {"traceparent", other}}), none);
}

TEST(Gate, SaysWhatIsMissingOrTwice) {
  EXPECT_THAT(words("/v1/gate?key=k"), ElementsAre("ERR policy or limits must be given"));
  EXPECT_THAT(words("/v1/gate?policy=api"), ElementsAre("ERR key must be given"));
  EXPECT_THAT(words("/v1/gate"), ElementsAre(HasSubstr("X-Weir-Key must be given")));
  EXPECT_THAT(words("/v1/gate?policy=api&key=a&KEY=b"), ElementsAre("ERR KEY is given twice"));
  EXPECT_THAT(words("/v1/gate", {{"X-Weir-Key", "a"}, {"X-Weir-Key", "b"}}),
              ElementsAre("ERR key is given twice"));
  EXPECT_THAT(words("/v1/gate?policy=api&key=a&deny=200"),
              ElementsAre("ERR deny must be a status between 401 and 599, got '200'"));
  std::string many = "/v1/gate?key=k";
  for (int i = 0; i < 5000; ++i) many += "&a" + std::to_string(i);
  EXPECT_THAT(words(many), ElementsAre("ERR more than 64 names are given"));
}

TEST(Gate, NoOtherPathIsTheGate) {
  EXPECT_TRUE(is_gate({.target = "/v1/gate?x"}));
  EXPECT_TRUE(is_gate({.target = "/v1/gate/x"}));
  EXPECT_FALSE(is_gate({.target = "/v1/gateway"}));
  EXPECT_FALSE(is_gate({.target = "/v1"}));
}

TEST(Gate, AnErrorIsNoDenial) {
  EXPECT_EQ(gate_error("NOPERM no", {.deny = 429}).status, 403u);
  EXPECT_EQ(gate_error("NOPERM no", {.deny = 403}).status, 500u);
  EXPECT_EQ(gate_error("MISCONF the disk", {.deny = 429}).status, 503u);
  EXPECT_EQ(gate_error("MISCONF the disk", {.deny = 503}).status, 500u);
  EXPECT_EQ(gate_error("ERR no", {.deny = 429, .on_error = OnGateError::kCloses}).status, 500u);
  EXPECT_EQ(gate_error("ERR no", {.deny = 500, .on_error = OnGateError::kCloses}).status, 503u);
}

TEST(Gate, NobodyIsLetThroughByAnErrorThatHisValueHasMade) {
  const GateTerms open = {.on_error = OnGateError::kOpens};
  for (const char* error :
       {"MISCONF the disk", "OOM no", "READONLY no", "MASTERDOWN no", "NOAUTH no", "WRONGPASS no",
        "ERR no policy is named 'api'; RL.POLICY SET makes one"}) {
    EXPECT_EQ(gate_error(error, open).status, 200u) << error;
  }
  for (const char* error : {"WRONGTYPE no", "NOPERM no", "MOVED 1 there", "ERR cost must be",
                            "ERR a key may have at most 1024 bytes"}) {
    EXPECT_EQ(gate_error(error, open).status, 500u) << error;
    EXPECT_EQ(gate_error(error, open).body, "the limiter cannot decide\n") << error;
  }
}

TEST(Gate, WhatAnErrorIsAnsweredIsKnownWhateverElseIsWrong) {
  const auto on_error = [](const std::string& query) {
    GateTerms terms;
    EXPECT_FALSE(parse_gate({.method = "GET", .target = "/v1/gate?" + query}, &terms)) << query;
    return terms.on_error;
  };
  EXPECT_EQ(on_error("errors=open"), OnGateError::kOpens);
  EXPECT_EQ(on_error("Errors=CLOSED&key=k"), OnGateError::kCloses);
  EXPECT_EQ(on_error("key=k&errors=open&deny=200"), OnGateError::kOpens);
  EXPECT_EQ(on_error("key=a&key=b&errors=closed"), OnGateError::kCloses);
  EXPECT_EQ(on_error("policy=p&key=a&errors=perhaps"), OnGateError::kTells);
  EXPECT_THAT(words("/v1/gate?policy=p&key=a&errors=perhaps"),
              ElementsAre("ERR errors must be open or closed, got 'perhaps'"));
  EXPECT_THAT(words("/v1/gate?policy=p&key=a&errors=open"),
              ElementsAre("RL.TAKE", "a", "POLICY", "p", "HEADERS"));
}

TEST(HttpCredentials, AreAPairInBase64) {
  const auto shop = parse_credentials("Basic c2hvcDpwOndvcmQ=");
  ASSERT_TRUE(shop);
  EXPECT_EQ(shop->user, "shop");
  EXPECT_EQ(shop->password, "p:word");
  EXPECT_EQ(parse_credentials("bearer c2hvcDpwOndvcmQ")->password, "p:word");
  EXPECT_EQ(parse_credentials("Basic OnNlY3JldA==")->user, "default");
  for (const char* other : {"", "Basic", "Basic ", "Digest c2hvcDpw", "Basic c2hvcA==", "Basic c",
                            "Basic c2hv!DpwOndvcmQ="})
    EXPECT_FALSE(parse_credentials(other)) << other;
}

TEST(HttpMessage, WhoIsNotLetInIsToldByStatus) {
  EXPECT_EQ(status_of_error("DENIED weir runs in protected mode"), 403u);
  EXPECT_EQ(status_of_error("ERR max number of clients reached"), 503u);
  EXPECT_EQ(status_of_error("ERR internal error: here"), 500u);
  EXPECT_EQ(status_of_error("MOVED 1 127.0.0.1:7000"), 421u);
}

TEST(HttpMessage, AFieldHoldsNoLineEnd) {
  std::string text;
  write({.fields = {{"X", "a\r\nSet-Cookie: b"}}}, true, false, &text);
  EXPECT_THAT(text, HasSubstr("\r\nX: a??Set-Cookie: b\r\n"));
}

}  // namespace
}  // namespace weir::server::http
