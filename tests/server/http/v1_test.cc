// /v1/ of a whole server: what each endpoint answers, problems, batches, those who wait.
#include "server/http/request_reader.h"
#include "server/http/v1/calls.h"
#include "server/http/v1/problem.h"
#include "tests/server/http/v1_fixture.h"

namespace weir::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(V1Test, PeeksAndTakesOfSeveralKeys) {
  EXPECT_EQ(ask("peek", R"({"key": "k"})"), "200 null");
  EXPECT_THAT(ask("peek", R"({"key": "k", "limits": "FIXED 2/1h"})"),
              HasSubstr(R"("remaining":1,)"));
  const std::string body = R"({"keys": ["user", "tenant"], "limits": "FIXED 10/1h FIXED 2/1h",)"
                           R"( "cost": 2})";
  EXPECT_THAT(
      ask("mtake", body),
      StartsWith(R"(200 {"allowed":true,"retry_ms":0,"index":-1,"keys":[{"allowed":true,)"));
  EXPECT_THAT(ask("mtake", body),
              StartsWith(R"(200 {"allowed":false,"retry_ms":3600000,"index":1,"keys":[)"));
  EXPECT_THAT(ask("peek", R"({"key": "tenant", "cost": 0})"), HasSubstr(R"("remaining":0,)"));
}

TEST_F(V1Test, HoldsAreSettledRenewedAndCancelled) {
  const std::string take = R"({"key": "llm", "limits": "FIXED 1000/1h", "cost": 500,)"
                           R"( "hold": "60s"})";
  EXPECT_THAT(ask("take", take), HasSubstr(R"("hold":1,)"));
  EXPECT_EQ(ask("renew", R"({"key": "llm", "id": 1})"), R"(200 {"permits":500})");
  EXPECT_EQ(ask("settle", R"({"key": "llm", "id": 1, "cost": 120})"),
            R"(200 {"allowed":true,"limit":1000,"remaining":880,"retry_after_ms":0,)"
            R"("reset_after_ms":3600000,"index":0})");
  EXPECT_EQ(ask("settle", R"({"key": "llm", "id": 77, "cost": 120})"), "200 null");
  EXPECT_THAT(ask("take", take), HasSubstr(R"("hold":2,)"));
  EXPECT_EQ(ask("cancel", R"({"key": "llm", "id": 2})"), R"(200 {"permits":500})");
  EXPECT_THAT(ask("refund", R"({"key": "llm", "permits": 20})"), HasSubstr(R"("remaining":900,)"));
  EXPECT_EQ(ask("reset", R"({"key": "llm"})"), R"(200 {"existed":true})");
  EXPECT_EQ(ask("reset", R"({"key": "llm"})"), R"(200 {"existed":false})");
}

TEST_F(V1Test, LeasesAndBookings) {
  EXPECT_THAT(ask("take", R"({"key": "pool", "limits": "CONCURRENCY 2 LEASE 30s", "cost": 2})"),
              HasSubstr(R"("lease":1,)"));
  EXPECT_EQ(ask("release", R"({"key": "pool", "id": 1})"), R"(200 {"permits":2})");
  EXPECT_EQ(ask("reserve", R"({"key": "mail", "limits": "GCRA 1/10s"})"),
            R"(200 {"granted":true,"wait_ms":0,"id":2})");
  EXPECT_EQ(ask("reserve", R"({"key": "mail", "limits": "GCRA 1/10s", "maxwait": 5})"),
            R"(200 {"granted":false,"wait_ms":10000,"id":null})");
}

TEST_F(V1Test, ReportsAndWhatIsHeld) {
  const std::string take = R"({"key": "api", "limits": "100/1m ADAPTIVE 10..500"})";
  EXPECT_EQ(ask("report", R"({"key": "api", "result": "FAIL"})"), "200 null");
  EXPECT_THAT(ask("take", take), StartsWith("200 "));
  EXPECT_EQ(ask("report", R"({"key": "api", "result": "FAIL"})"),
            R"(200 {"limits":[{"name":"gcra0","count":80,"min":10,"max":500}]})");
  EXPECT_THAT(
      ask("info", R"({"key": "api"})"),
      HasSubstr(R"("adaptive":{"count":80,"min":10,"max":500,"count_of":"key",)"
                R"("last_report":"FAIL","last_report_ms_ago":0,"last_latency_ms":null}}])"));
  EXPECT_EQ(ask("top", R"({"by": "TAKEN"})"),
            R"(200 {"keys":[{"key":"api","count":1,"error":0}]})");
  EXPECT_EQ(ask("top/reset", "{}"), R"(200 {"ok":true})");
  EXPECT_EQ(ask("top", "{}"), R"(200 {"keys":[]})");
}

TEST_F(V1Test, PoliciesAreReadAndWritten) {
  EXPECT_EQ(ask("policies/set", R"({"policy": "api", "limits": "100/1m", "percent": 50})"),
            R"(200 {"ok":true})");
  EXPECT_THAT(ask("policies/get", R"({"policy": "api"})"),
              StartsWith(R"(200 {"limits":"GCRA 100/1m BURST 99 PERCENT 50","onchange":"USED",)"));
  EXPECT_EQ(ask("policies/get", R"({"policy": "none"})"), "200 null");
  EXPECT_EQ(ask("policies/list", "{}"), R"(200 {"policies":["api"]})");
  EXPECT_EQ(
      ask("policies/override", R"({"policy": "api", "key": {"hex": "ff"}, "limits": "5/1s"})"),
      R"(200 {"ok":true})");
  EXPECT_EQ(ask("policies/overrides", R"({"policy": "api"})"),
            R"(200 {"cursor":"0","overrides":[{"scope":"KEY","name":{"hex":"ff"},)"
            R"("limits":"GCRA 5/1s BURST 4"}]})");
  EXPECT_EQ(ask("policies/override/delete", R"({"policy": "api", "key": {"hex": "ff"}})"),
            R"(200 {"existed":true})");
  EXPECT_THAT(ask("take", R"({"key": "k", "policy": "api"})"), HasSubstr(R"("policy":"api",)"));
  EXPECT_THAT(ask("policies/stats", R"({"policy": "api"})"), HasSubstr(R"("granted":)"));
  EXPECT_THAT(ask("policies/stats/all", "{}"),
              StartsWith(R"(200 {"policies":[{"policy":"api","granted":)"));
  EXPECT_EQ(ask("policies/delete", R"({"policy": "api"})"), R"(200 {"existed":true})");
  EXPECT_THAT(ask("policies/history", R"({"policy": "api"})"),
              HasSubstr(R"("user":"default","before":null}]})"));
  EXPECT_THAT(ask("policies/reload", R"({"diff": true})"), StartsWith("400 "));
}

TEST_F(V1Test, WhatGoesWrongIsAProblem) {
  call({"SET", "text", "1"});
  const std::string answer = send(post("take", R"({"key": "k", "limits": "1/1s", "cost": -1})"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Type: application/problem+json\r\n"));
  EXPECT_EQ(
      told(answer),
      R"(400 {"type":"about:blank","title":"Bad Request","status":400,"detail":)"
      R"("cost must be an integer between 0 and 1000000000000, or an array of them with one )"
      R"(for each limit, got -1","field":"cost","error":"ERR cost must be an integer between )"
      R"(0 and 1000000000000, or an array of them with one for each limit, got -1"})");
  EXPECT_THAT(ask("take", R"({"key": "text", "limits": "1/1s"})"),
              HasSubstr(R"("title":"Conflict","status":409,"detail":"Operation against a key )"
                        R"(holding the wrong kind of value","error":"WRONGTYPE )"));
  EXPECT_THAT(ask("take", R"({"key": "k", "limits": "1/1s", "hold": "2d"})"),
              HasSubstr(R"("field":"hold")"))
      << "what the command refuses is told by its word";
  EXPECT_THAT(ask("take", "{"), HasSubstr(R"("detail":"the body is no JSON: )"));
  EXPECT_THAT(ask("nothing", "{}"),
              StartsWith(R"(404 {"type":"about:blank","title":"Not Found",)"));
  EXPECT_THAT(ask("nothing", std::string(http::kBodyBytesMax + 1, ' ')),
              StartsWith(R"(413 {"type":"about:blank","title":"Content Too Large",)"));
  one_.connection->abandon();
  one_.open_http();
  EXPECT_THAT(told(send("GET /v1/mtake HTTP/1.1\r\nHost: a\r\n\r\n")),
              HasSubstr(R"("status":405,"detail":"the method of /v1/mtake is POST")"));
  EXPECT_THAT(ask("peek", "{}", "Origin: http://example.com\r\n"),
              StartsWith(R"(403 {"type":"about:blank","title":"Forbidden","status":403,"detail":)"
                         R"("/v1/peek is not for pages in a browser)"));
}

TEST_F(V1Test, AnErrorThatTellsOfBytesIsText) {
  const std::string told =
      ask("take", "{\"key\": \"k\", \"limits\": \"\xc3\xa4/1s\", \"onchange\": \"RESET\"}");
  EXPECT_THAT(told, StartsWith("400 "));
  EXPECT_TRUE(http::is_utf8(told));
  EXPECT_THAT(text_of(http::problem_of(400, "ERR \xff is \xc3\xa4")),
              EndsWith(R"("detail":"? is ??","error":"ERR ? is ??"})"));
}

TEST_F(V1Test, ABatchHasAVerdictForEachQuestion) {
  call({"SET", "text", "1"});
  EXPECT_EQ(
      ask("batch", R"({"requests": [{"reset": {"key": "k"}}, {"reset": {"key": "text"}},)"
                   R"( {"peek": {"key": "k"}}]})"),
      R"(200 {"answers":[{"status":200,"body":{"existed":false}},{"status":409,"body":)"
      R"({"type":"about:blank","title":"Conflict","status":409,"detail":"Operation against a )"
      R"(key holding the wrong kind of value","error":"WRONGTYPE Operation against a key )"
      R"(holding the wrong kind of value"}},{"status":200,"body":null}]})");
}

TEST_F(V1Test, ABatchRunsInOneTurn) {
  std::string batch = R"({"requests": [)";
  for (size_t i = 0; i < http::kBatchMax; ++i)
    batch += R"({"take": {"key": "k", "limits": "FIXED 99/1h"}},)";
  batch.back() = ']';
  const std::string request = post("batch", batch + "}");
  one_.stream.arrives(request);
  one_.call(kRead);
  EXPECT_EQ(one_.stream.sent, "") << "nothing is told before the turn's end";
  one_.end_turn();
  const std::string answer = told(std::exchange(one_.stream.sent, {}));
  const http::Json body = body_of(answer);
  ASSERT_EQ(body.elements.at(0).elements.size(), http::kBatchMax);
  size_t allowed = 0;
  for (const http::Json& each : body.elements[0].elements)
    allowed += each.find("body")->find("allowed")->is_true() ? 1 : 0;
  EXPECT_EQ(allowed, 99u);
  EXPECT_THAT(call({"INFO", "weir"}), HasSubstr("http_requests:1\r\n"));
}

TEST_F(V1Test, AWrongWordInABatchTakesNothing) {
  const auto fault = [this](const std::string& requests) {
    const http::Json problem = body_of(ask("batch", R"({"requests": )" + requests + "}"));
    const http::Json* error = problem.find("error");
    return error == nullptr ? "no error" : error->text;
  };
  const std::string good = R"({"take": {"key": "k", "limits": "FIXED 9/1h"}})";
  EXPECT_THAT(fault("[" + good + R"(, {"take": {"key": "k", "limits": "1/1s", "cost": "1"}}])"),
              StartsWith("ERR requests[1].take.cost must be an integer "));
  EXPECT_THAT(fault("[" + good + ", {}]"),
              StartsWith("ERR requests[1] must be an object with one member: take, peek, mtake, "));
  EXPECT_THAT(fault(R"([{"acquire": {"key": "k", "limits": "1/1s", "timeout": 5}}])"),
              StartsWith("ERR requests[0] must be an object with one member: "));
  EXPECT_THAT(fault(R"([{"policies/list": {}}])"), StartsWith("ERR requests[0] must be"));
  EXPECT_EQ(fault("[]"), "ERR requests must be an array of 1 to 100 objects");
  EXPECT_EQ(fault("{}"), "ERR requests must be an array of 1 to 100 objects");
  std::string many = "[";
  for (size_t i = 0; i <= http::kBatchMax; ++i) many += good + ",";
  many.back() = ']';
  EXPECT_EQ(fault(many), "ERR requests must be an array of 1 to 100 objects");
  EXPECT_THAT(ask("batch", R"({"requests": [], "a": 1})"), HasSubstr("ERR a is unknown"));
  EXPECT_THAT(ask("batch", "[]"), HasSubstr("ERR the body must be an object"));
  EXPECT_EQ(ask("peek", R"({"key": "k"})"), "200 null");
}

TEST_F(V1Test, ABatchMayBeLongerThanOtherBodies) {
  const auto padded = [](size_t bytes, std::string text) {
    return text + std::string(bytes - text.size(), ' ');
  };
  const std::string batch = R"({"requests": [{"peek": {"key": "k"}}]})";
  EXPECT_THAT(ask("batch", padded(http::kBatchBodyBytesMax, batch)), StartsWith("200 "));
  EXPECT_THAT(
      ask("take", padded(http::kBodyBytesMax + 1, "{}")),
      StartsWith(R"(413 {"type":"about:blank","title":"Content Too Large","status":413,)"
                 R"("detail":"the request was refused: its body has more than 16384 bytes")"));
  one_.connection->abandon();
  one_.open_http();
  EXPECT_THAT(ask("batch", padded(http::kBatchBodyBytesMax + 1, batch)),
              HasSubstr("its body has more than 65536 bytes"));
}

TEST_F(V1Test, AChunkedBodyHasTheSameBounds) {
  const auto chunked = [](std::string_view path, size_t bytes) {
    std::string request = "POST /v1/" + std::string(path) +
                          " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    std::string body = R"({"requests": [{"peek": {"key": "k"}}]})";
    body += std::string(bytes - body.size(), ' ');
    for (size_t at = 0; at < body.size(); at += 4096) {
      const std::string chunk = body.substr(at, 4096);
      char head[16];
      std::snprintf(head, sizeof(head), "%zx\r\n", chunk.size());
      request += head + chunk + "\r\n";
    }
    return request + "0\r\n\r\n";
  };
  EXPECT_THAT(told(send(chunked("batch", http::kBatchBodyBytesMax))), StartsWith("200 "));
  EXPECT_THAT(told(send(chunked("info", http::kBodyBytesMax + 4096))), StartsWith("413 "));
}

TEST_F(V1Test, WhoWaitsIsAnsweredInHisTurn) {
  const std::string body = R"({"key": "jobs", "limits": "GCRA 1/1s BURST 0", "timeout": "10s"})";
  EXPECT_THAT(ask("acquire", body), StartsWith(R"(200 {"allowed":true,)"));
  EXPECT_EQ(ask("acquire", body), "");
  EXPECT_TRUE(one_.watcher.interest.read) << "a client that leaves is seen";
  EXPECT_THAT(call({"RL.INFO", "jobs"}), HasSubstr("waiting\r\n:1\r\n"));
  one_.server.clock.advance(kSecond);
  one_.end_turn();
  EXPECT_THAT(told(std::exchange(one_.stream.sent, {})), StartsWith(R"(200 {"allowed":true,)"));
}

TEST_F(V1Test, WhoLeavesWhileHeWaitsTakesNothing) {
  const std::string body = R"({"key": "jobs", "limits": "FIXED 1/10s", "timeout": "30s"})";
  EXPECT_THAT(ask("acquire", body), StartsWith(R"(200 {"allowed":true,)"));
  EXPECT_EQ(ask("acquire", body), "");
  one_.stream.recv_says(Transfer::Result::kEnded);
  one_.ready(kRead);
  EXPECT_TRUE(one_.closed);
  EXPECT_THAT(call({"RL.INFO", "jobs"}), HasSubstr("waiting\r\n:0\r\n"));
}

// Whose request a proxy lets through hears of no lease, and could give none back.
TEST_F(V1Test, TheGateTakesNoLeases) {
  call({"RL.POLICY", "SET", "pool", "FIXED", "9/1h", "CONCURRENCY", "2", "LEASE", "30s"});
  call({"RL.POLICY", "SET", "api", "FIXED", "9/1h"});
  call({"RL.POLICY", "OVERRIDE", "api", "KEY", "k", "CONCURRENCY", "2", "LEASE", "30s"});
  const auto gate = [this](const std::string& query) {
    return send("GET /v1/gate" + query + " HTTP/1.1\r\nHost: a\r\n\r\n");
  };
  const std::string pool = gate("?policy=pool&key=k");
  EXPECT_THAT(pool, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(pool,
              HasSubstr("\r\n\r\nERR limit 1 (CONCURRENCY) makes leases, which nobody can give "
                        "back here\n"));
  EXPECT_THAT(gate("?policy=pool&key=k&errors=open"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(gate("?limits=CONCURRENCY+2+LEASE+30s&key=k"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(gate("?policy=api&key=k"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(gate("?policy=api&key=other"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("take", R"({"key": "k", "policy": "pool"})"), HasSubstr(R"("lease":1,)"));
}

class V1UsersTest : public V1Test {
 protected:
  static Config config() {
    Config config;
    config.requirepass = "secret";
    config.users = {{.place = "here",
                     .words = {"shop", "on", ">p", "+rl.take", "+rl.peek", "~shop:*",
                               "policy~free*", "noinline"}}};
    return config;
  }
  V1UsersTest() : V1Test(config()) {
    const auto client = one_.server.connect();
    EXPECT_EQ(client->call({"AUTH", "secret"}), "+OK\r\n");
    client->call({"RL.POLICY", "SET", "free", "FIXED", "9/1h"});
    client->leave();
  }
  static constexpr const char* kShop = "Authorization: Basic c2hvcDpw\r\n";  // shop:p
  static constexpr const char* kAdmin = "Authorization: Basic ZGVmYXVsdDpzZWNyZXQ=\r\n";
};

TEST_F(V1UsersTest, RightsAreThoseOfTheCommand) {
  EXPECT_THAT(ask("info", R"({"key": "shop:1"})"), StartsWith("401 "));
  EXPECT_THAT(send(post("info", "{}")),
              HasSubstr("\r\nWWW-Authenticate: Basic realm=\"weir\"\r\n"));
  EXPECT_THAT(ask("peek", R"({"key": "shop:1", "policy": "free"})", kShop), StartsWith("200 "));
  EXPECT_THAT(ask("info", R"({"key": "shop:1"})", kShop),
              HasSubstr(R"("status":403,"detail":"this user has no permissions to run the )"
                        R"('rl.info' command","error":"NOPERM this user has )"));
  EXPECT_THAT(ask("policies/set", R"({"policy": "free", "limits": "99/1s"})", kShop),
              StartsWith("403 "));
  EXPECT_THAT(ask("policies/set", R"({"policy": "free", "limits": "99/1s"})", kAdmin),
              StartsWith("200 "));
}

TEST_F(V1UsersTest, EachOfABatchHasTheRightsOfItsCommand) {
  const std::string told = ask(
      "batch",
      R"({"requests": [{"take": {"key": "shop:1", "policy": "free"}}, {"take": {"key": "other",)"
      R"( "policy": "free"}}, {"refund": {"key": "shop:1", "permits": 1}}]})",
      kShop);
  const http::Json answers = body_of(told).elements.at(0);
  std::string statuses;
  for (const http::Json& each : answers.elements) statuses += text_of(*each.find("status")) + " ";
  EXPECT_EQ(statuses, "200 403 403 ");
}

// A batch is one record, so what was told of it is there as a whole after a crash.
TEST_F(V1Test, ABatchIsOneRecordOfTheLog) {
  storage::MemoryDisk& disk = one_.server.disk();
  const std::string batch = R"({"requests": [{"take": {"key": "a", "limits": "9/1h"}},)"
                            R"( {"take": {"key": "b", "limits": "9/1h"}}]})";
  const auto newest_turn = [&disk] {
    return disk.log.empty() ? disk.written_back_turn : disk.log.back().turn;
  };
  const uint64_t before = newest_turn();
  EXPECT_THAT(ask("batch", batch), Not(HasSubstr(R"("status":503)")));
  EXPECT_EQ(newest_turn(), before + 1);
  disk.faults.append_lost = 1;
  const std::string told = ask("batch", batch);
  EXPECT_THAT(told, StartsWith(R"(200 {"answers":[{"status":503,)"));
  EXPECT_THAT(told, Not(HasSubstr(R"("status":200)")));
  EXPECT_THAT(told, EndsWith("}]}"));
}

}  // namespace
}  // namespace weir::server
