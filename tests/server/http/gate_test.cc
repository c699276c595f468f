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
