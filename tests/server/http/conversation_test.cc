// A client that speaks HTTP to a whole server, over a stream that moves what the test lets it.
#include "server/http/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/connection_fixture.h"

namespace weir::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kTwo = "?limits=FIXED+2/1h&key=k";

class HttpTest : public testing::Test {
 protected:
  explicit HttpTest(Config config = {}) : one_(std::move(config)) { one_.open_http(); }

  static std::string get(std::string_view target, std::string_view fields = "",
                         std::string_view method = "GET") {
    return std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: weir\r\n" +
           std::string(fields) + "\r\n";
  }
  static std::string post(std::string_view body, std::string_view fields = "") {
    return get("/v1/take",
               std::string(fields) + "Content-Length: " + std::to_string(body.size()) + "\r\n",
               "POST") +
           std::string(body);
  }
  // Bytes arrive, and turns go on until nothing more is sent.
  std::string send(std::string bytes) {
    one_.receives(std::move(bytes));
    while (one_.watcher.interest.at_once || !one_.stream.recv_answers.empty()) one_.ready(kRead);
    return take();
  }
  std::string gate(std::string_view query = kTwo, std::string_view fields = "") {
    return send(get("/v1/gate" + std::string(query), fields));
  }
  std::string take() { return std::exchange(one_.stream.sent, {}); }
  static size_t count(std::string_view text, std::string_view part) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++found;
    return found;
  }
  // As a client of the Redis protocol.
  void call(std::initializer_list<std::string_view> words) {
    const auto client = one_.server.connect();
    EXPECT_THAT(client->call(words), Not(StartsWith("-")));
    client->leave();
  }

  OneConnection one_;
  http::Clients& clients_ = one_.clients;
};

TEST_F(HttpTest, TheGateLetsThroughAndDenies) {
  const std::string first = gate();
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(first, HasSubstr("\r\nRateLimit: \"default\";r=1;t=3600\r\n"));
  EXPECT_THAT(first, HasSubstr("\r\nRateLimit-Policy: \"default\";q=2;w=3600\r\n"));
  EXPECT_THAT(first, EndsWith("Content-Length: 0\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_THAT(gate(), HasSubstr("r=0"));
  const std::string denied = gate();
  EXPECT_THAT(denied, StartsWith("HTTP/1.1 429 Too Many Requests\r\n"));
  EXPECT_THAT(denied, HasSubstr("\r\nRetry-After: 3600\r\n"));
  EXPECT_THAT(denied, EndsWith("\r\n\r\ntoo many requests\n"));
  EXPECT_THAT(gate(std::string(kTwo) + "&deny=403"), StartsWith("HTTP/1.1 403 Forbidden\r\n"));
}

TEST_F(HttpTest, TheGateAsksByFieldsAndByAnyMethod) {
  call({"RL.POLICY", "SET", "api", "FIXED", "1/1h", "AS", "api"});
  const std::string fields = "X-Weir-Policy: api\r\nX-Weir-Key: k\r\n";
  EXPECT_THAT(send(get("/v1/gate/path?cost=0", fields, "DELETE")), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(send(get("/v1/gate", fields, "PUT")), StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(send(get("/v1/gate", fields, "HEAD")), EndsWith("\r\n\r\n"));
}

TEST_F(HttpTest, TakeAnswersJson) {
  const std::string body = R"({"key": "k", "limits": "FIXED 1/1h AS hourly"})";
  const std::string allowed = send(post(body));
  EXPECT_THAT(allowed, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(allowed, HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(
      allowed,
      EndsWith(R"({"allowed":true,"retry_ms":0,"granted":1,"lease":null,"shadow":false,)"
               R"("banned":false,"policy":null,"limits":[{"name":"hourly","algorithm":"FIXED",)"
               R"("capacity":1,"remaining":0,"reset_ms":3600000,"window_ms":3600000}],)"
               R"("headers":{"RateLimit":"\"hourly\";r=0;t=3600",)"
               R"("RateLimit-Policy":"\"hourly\";q=1;w=3600"}})"
               "\n"));
  const std::string denied = send(post(body));
  EXPECT_THAT(denied, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(denied, HasSubstr(R"({"allowed":false,"retry_ms":3600000,)"));
}

TEST_F(HttpTest, ErrorsHaveTheirStatus) {
  call({"SET", "text", "1"});
  EXPECT_THAT(send(post("{")), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(send(post(R"({"key": "k", "limits": "1/1s", "wrong": 1})")),
              HasSubstr(R"("field":"wrong","error":"ERR wrong is unknown: there are key, )"));
  EXPECT_THAT(send(post(R"({"key": "text", "limits": "1/1s"})")), StartsWith("HTTP/1.1 409 "));
  EXPECT_THAT(gate("?policy=none&key=k"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(gate("?policy=none&key=k&errors=open"), Not(HasSubstr("none")));
  EXPECT_THAT(gate("?policy=none&key=k&errors=closed"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(send(get("/v1/take")), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(send(get("/metrics")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(send(get("/healthz")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpTest, APageInABrowserTakesNothing) {
  const std::string body = R"({"key": "k", "limits": "FIXED 1/1h"})";
  EXPECT_THAT(send(post(body, "Origin: http://example.com\r\n")), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(send(post(body)), HasSubstr(R"({"allowed":true,)"));
}

TEST_F(HttpTest, APageInABrowserDoesNotAskTheGate) {
  const std::string page = "Sec-Fetch-Site: cross-site\r\n";
  EXPECT_THAT(gate(kTwo, page), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(gate(kTwo, page + "X-Forwarded-For: 192.0.2.1\r\n"), HasSubstr("r=1;"));
  // What Chromium sends for an image at http://192.0.2.1: it trusts only TLS and its own machine.
  const std::string image = "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: image/*\r\n";
  EXPECT_THAT(gate(kTwo, image), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(gate(kTwo, image + "Via: 1.1 proxy\r\n"), HasSubstr("r=0;"));
}

TEST_F(HttpTest, RequestsOfOneConnectionAreAnsweredInOrderOneATurn) {
  std::string bytes;
  for (int i = 0; i < 5; ++i) bytes += get("/v1/gate" + std::string(kTwo)) + get("/no");
  one_.receives(bytes);
  EXPECT_EQ(count(one_.stream.sent, "HTTP/1.1 "), 1u);
  const std::string answers = send("");
  std::string statuses;
  for (size_t at = 0; (at = answers.find("HTTP/1.1 ", at)) != answers.npos; ++at)
    statuses += answers.substr(at + 9, 4);
  EXPECT_EQ(statuses, "200 404 200 404 429 404 429 404 429 404 ");
}

TEST_F(HttpTest, ARequestMayArriveByteByByte) {
  const std::string request = post(R"({"key": "k", "limits": "1/1s"})");
  for (const char byte : request) {
    EXPECT_EQ(one_.stream.sent, "");
    one_.receives(std::string(1, byte));
  }
  EXPECT_THAT(take(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpTest, ABodyMayComeInChunks) {
  const std::string chunks = "8\r\n{\"key\":1\r\n14\r\n, \"limits\": \"1/1s\" }\r\n0\r\n\r\n";
  EXPECT_THAT(send(get("/v1/take", "Transfer-Encoding: chunked\r\n", "POST") + chunks),
              StartsWith("HTTP/1.1 200 "));
}

// A proxy that writes all X-Weir- fields of a header may hand a body on as it is.
TEST_F(HttpTest, FieldsAfterABodyAreRefused) {
  const std::string fields = "X-Weir-Limits: 1/1s\r\nTransfer-Encoding: chunked\r\n";
  const std::string answer =
      send(get("/v1/gate", fields, "POST") + "0\r\nX-Weir-Key: k\r\nX-Weir-Cost: 0\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer, HasSubstr("it has fields after its body"));
}

TEST_F(HttpTest, ABodyOfWhichTheEndIsInDoubtIsRefused) {
  for (const std::string fields :
       {"Transfer-Encoding: gzip\r\n", "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n", "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip\r\nContent-Length: 0\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"}) {
    OneConnection other;
    other.open_http();
    other.receives(get("/v1/gate" + std::string(kTwo), fields) + get("/v1/gate?key=smuggled"));
    EXPECT_THAT(other.stream.sent, StartsWith("HTTP/1.1 400 ")) << fields;
    EXPECT_EQ(count(other.stream.sent, "HTTP/1.1 "), 1u) << fields;
  }
}

// Each field that is named makes a copy of the key.
TEST_F(HttpTest, NamesThatComeAgainCostNothing) {
  std::string fields =
      "X-Weir-Limits: 1/1s\r\nX-Weir-Key: k\r\na: " + std::string(3000, 'v') + "\r\n";
  for (int i = 0; i < 2; ++i) fields += "X-Weir-Key-Header: a\r\n";
  EXPECT_THAT(send(get("/v1/gate", fields)), HasSubstr("key-header is given twice"));
  EXPECT_THAT(gate(std::string(kTwo) + "&key-header=a&key-header=b"),
              HasSubstr("key-header is given twice"));
  fields.clear();
  for (int i = 0; i < 65; ++i) fields += "X-Weir-A" + std::to_string(i) + "-Header: a\r\n";
  EXPECT_THAT(send(get("/v1/gate", fields)), HasSubstr("more than 64 names"));
}

// The turn's bound in time goes by looks at the clock, which commands make.
TEST_F(HttpTest, ARequestWithoutACommandIsSeenByTheClock) {
  for (const std::string& request :
       {get("/v1/gate"), get("/nothing"), get("/healthz"), post("{"), std::string("x\r\n\r\n")}) {
    one_.server.clock.advance(kSecond);
    const int64_t before_ns = one_.server->timeline().looked_steady_ns();
    one_.receives(request);
    EXPECT_GE(one_.server->timeline().looked_steady_ns(), before_ns + kSecond) << request;
  }
}

TEST_F(HttpTest, AMessageForTheSessionIsNotKept) {
  one_.session->push_message(">1\r\n+invalidate\r\n");
  EXPECT_THAT(gate(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(gate(), HasSubstr("r=0"));
}

TEST_F(HttpTest, WhoAsksToGoOnIsToldTo) {
  const std::string body = R"({"key": "k", "limits": "1/1s"})";
  const std::string request = post(body, "Expect: 100-continue\r\n");
  const size_t header = request.size() - body.size();
  EXPECT_EQ(send(request.substr(0, header)), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(send(body.substr(0, 5)), "");
  EXPECT_THAT(send(body.substr(5)), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpTest, WhoDoesNotGoOnIsClosedAfterTheAnswer) {
  EXPECT_THAT(gate(kTwo, "Connection: close\r\n"), HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_TRUE(one_.closed);
}

TEST_F(HttpTest, WhatIsTooLongIsRefusedAndThrownAway) {
  EXPECT_THAT(gate(kTwo, "Long: " + std::string(33'000, 'x')), StartsWith("HTTP/1.1 431 "));
  EXPECT_FALSE(one_.closed);
  EXPECT_EQ(send(std::string(10000, 'x')), "");
  one_.stream.recv_says(Transfer::Result::kEnded);
  one_.ready(kRead);
  EXPECT_TRUE(one_.closed);
}

TEST_F(HttpTest, ABodyThatIsTooLongIsRefusedByItsHeader) {
  EXPECT_THAT(send(get("/v1/take", "Content-Length: 16385\r\n", "POST")),
              StartsWith("HTTP/1.1 413 "));
}

// A proxy may hand over the fields of its client and leave out what they announce.
TEST_F(HttpTest, TheGateDoesNotWaitForABody) {
  const std::string length = "Content-Length: 5\r\n";
  EXPECT_THAT(send(get("/v1/gate" + std::string(kTwo), length, "POST") + "hello"),
              HasSubstr("Connection: keep-alive\r\n"));
  const std::string answered = gate(kTwo, length + "Cookie: " + std::string(30'000, 'c') + "\r\n");
  EXPECT_THAT(answered, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answered, HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(send("hello" + get("/v1/gate" + std::string(kTwo))), "") << "it is thrown away";
}

TEST_F(HttpTest, AChunkWithoutAnEndIsRefused) {
  std::string answer = send(get("/v1/take", "Transfer-Encoding: chunked\r\n", "POST") + "1;");
  for (int i = 0; i < 20 && answer.empty(); ++i) answer = send(std::string(1000, 'x'));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
}

TEST_F(HttpTest, OtherProtocolsAreRefused) {
  EXPECT_THAT(send("*1\r\n$4\r\nPING\r\n\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}
TEST_F(HttpTest, WhoThrowsBytesAwayForLongIsClosed) {
  EXPECT_THAT(send("nothing\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  one_.server.clock.advance(3 * kSecond);
  clients_.end_overdue();
  EXPECT_TRUE(one_.session->dead());
}

TEST_F(HttpTest, ARequestThatDoesNotEndInTimeEnds) {
  send("GET / HT");
  one_.server.clock.advance(9 * kSecond);
  send("TP/1.1\r\n");
  clients_.end_overdue();
  EXPECT_FALSE(one_.session->dead());
  one_.server.clock.advance(2 * kSecond);
  clients_.end_overdue();
  EXPECT_TRUE(one_.session->dead());
}

TEST_F(HttpTest, SilenceEnds) {
  gate();
  one_.server.clock.advance(119 * kSecond);
  clients_.end_overdue();
  EXPECT_FALSE(one_.session->dead());
  gate();
  one_.server.clock.advance(121 * kSecond);
  clients_.end_overdue();
  EXPECT_TRUE(one_.session->dead());
}

TEST_F(HttpTest, APauseHoldsARequestBack) {
  call({"CLIENT", "PAUSE", "1000", "ALL"});
  EXPECT_EQ(gate(), "");
  EXPECT_TRUE(one_.watcher.interest.read) << "a client that leaves is seen";
  one_.server.clock.advance(2 * kSecond);
  one_.server->tick();
  for (Session* session : one_.server->sessions().holds().take_runnable()) session->resume(10);
  one_.end_turn();
  EXPECT_THAT(take(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpTest, ATurnThatIsNotCommittedIsNoVerdict) {
  one_.server.disk().faults.append_lost = 1;
  EXPECT_THAT(gate(), StartsWith("HTTP/1.1 503 "));
}

TEST_F(HttpTest, ItIsAClientLikeOthers) {
  const auto client = one_.server.connect();
  gate();
  EXPECT_THAT(client->call({"CLIENT", "LIST"}), HasSubstr("cmd=rl.take user=default"));
  EXPECT_THAT(client->call({"INFO", "weir"}), HasSubstr("http_requests:1\r\n"));
  EXPECT_THAT(client->call({"INFO", "limiter"}), HasSubstr("allowed:1\r\n"));
}

class DurableHttpTest : public HttpTest {
 protected:
  static Config config() {
    Config config;
    config.durability = DurabilityLevel::kAlways;
    return config;
  }
  DurableHttpTest() : HttpTest(config()) {}
};

TEST_F(DurableHttpTest, NoVerdictIsToldBeforeItIsSynced) {
  one_.server.disk().deferred = true;
  EXPECT_EQ(gate(), "");
  EXPECT_EQ(gate(), "");  // nor is another request taken meanwhile
  auto& store = static_cast<storage::MemoryStore&>(*one_.server->keys().store_in_use());
  while (store.step()) one_.end_turn();
  one_.end_turn();
  EXPECT_THAT(take(), StartsWith("HTTP/1.1 200 "));
}

class HttpUsersTest : public HttpTest {
 protected:
  static Config config() {
    Config config;
    config.requirepass = "secret";
    config.users = {
        {.place = "here",
         .words = {"shop", "on", ">p", "+rl.take", "~shop:*", "policy~free*", "noinline"}}};
    return config;
  }
  HttpUsersTest() : HttpTest(config()) {
    const auto client = one_.server.connect();
    EXPECT_EQ(client->call({"AUTH", "secret"}), "+OK\r\n");
    client->call({"RL.POLICY", "SET", "free", "FIXED", "9/1h"});
    client->call({"RL.POLICY", "SET", "paid", "FIXED", "9/1h"});
    client->leave();
  }

  // shop:p, default:secret, shop:wrong
  static constexpr const char* kShop = "Authorization: Basic c2hvcDpw\r\n";
  static constexpr const char* kDefault = "Authorization: Bearer ZGVmYXVsdDpzZWNyZXQ=\r\n";
  static constexpr const char* kWrong = "Authorization: Basic c2hvcDp3cm9uZw==\r\n";
};

TEST_F(HttpUsersTest, WhoDoesNotLogInIsToldTo) {
  const std::string answer = gate();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(answer, Not(HasSubstr("WWW-Authenticate")));
  EXPECT_THAT(send(post("{}")), HasSubstr("\r\nWWW-Authenticate: Basic realm=\"weir\"\r\n"));
  EXPECT_THAT(gate(kTwo, kWrong), HasSubstr("WRONGPASS"));
  EXPECT_THAT(gate(kTwo, "Authorization: Digest x\r\n"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(gate(kTwo, kDefault), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(send(post("no JSON")), StartsWith("HTTP/1.1 401 ")) << "it is not looked at";
}

TEST_F(HttpUsersTest, NothingIsLeftOfTheRequestBefore) {
  EXPECT_THAT(gate(kTwo, kDefault), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(gate(), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(gate(kTwo, kShop), StartsWith("HTTP/1.1 403 "));
}

TEST_F(HttpUsersTest, RightsAreThoseOfTake) {
  EXPECT_THAT(gate("?policy=free&key=shop:1", kShop), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(gate("?policy=free&key=other", kShop), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(gate("?policy=paid&key=shop:1", kShop), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(gate("?limits=1/1s&key=shop:1", kShop), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(gate("?policy=free&key=shop:1&force", kShop), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(gate("?policy=paid&key=shop:1&deny=403", kShop), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(send(post(R"({"key": "other", "policy": "free"})", kShop)),
              StartsWith("HTTP/1.1 403 "));
}

TEST_F(HttpUsersTest, TheGateAsksItsOwnFieldFirst) {
  const std::string own = "X-Weir-Authorization: Basic c2hvcDpw\r\n";
  EXPECT_THAT(gate("?policy=free&key=shop:1", own + kWrong), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(send(post(R"({"key": "shop:1", "policy": "free"})", own)),
              StartsWith("HTTP/1.1 401 "));
}

TEST_F(HttpUsersTest, WhereNobodyHasToLogInTheGateDoesNotLookAtWhatOthersShow) {
  one_.server->acl().set_default_password("");
  EXPECT_THAT(gate(kTwo, kWrong), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(gate(kTwo, "X-Weir-Authorization: Basic c2hvcDp3cm9uZw==\r\n"),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(send(post(R"({"key": "k", "limits": "1/1s"})", kWrong)), StartsWith("HTTP/1.1 401 "));
}

}  // namespace
}  // namespace weir::server
