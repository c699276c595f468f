// The page of metrics-port: who may ask what by it, and who is taken for a page of somebody else's.
#include "server/http/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http/format/reply.h"
#include "tests/server/connection_fixture.h"

namespace weir::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kOwn = "Host: 127.0.0.1:9121\r\n";
constexpr std::string_view kLogin = "Authorization: Bearer b3BzOnA=\r\n";  // ops:p

class HttpPage : public testing::Test {
 protected:
  HttpPage() { one_.open_http(http::ListenerKind::kMetrics); }

  std::string send(std::string bytes) {
    one_.receives(std::move(bytes));
    while (one_.watcher.interest.at_once) one_.ready(kRead);
    return std::exchange(one_.stream.sent, {});
  }
  std::string get(std::string_view path, std::string_view fields = kOwn) {
    return send("GET " + std::string(path) + " HTTP/1.1\r\n" + std::string(fields) + "\r\n");
  }
  std::string ask(std::string_view body, std::string_view fields = "",
                  std::string_view host = kOwn) {
    return send("POST /v1/page HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n" + std::string(host) + std::string(fields) +
                "\r\n" + std::string(body));
  }
  void call(std::initializer_list<std::string_view> words) {
    const auto client = one_.server.connect();
    EXPECT_THAT(client->call(words), Not(StartsWith("-")));
    client->leave();
  }

  OneConnection one_;
};

TEST_F(HttpPage, HasItsPartsUnderAStrictPolicy) {
  for (const http::PagePart& part : http::page_parts()) {
    const std::string answer = get(part.path);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\nContent-Security-Policy: default-src 'none'; script-src "
                                  "'self'; style-src 'self'; connect-src 'self'; "));
    EXPECT_THAT(answer, HasSubstr("frame-ancestors 'none'\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\nContent-Type: " + std::string(part.content_type)));
    EXPECT_THAT(answer, EndsWith("\r\n\r\n" + std::string(part.body)));
  }
  EXPECT_THAT(get("/"), HasSubstr("<!doctype html>"));
  EXPECT_THAT(get("/page/nothing.js"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(HttpPage, HasNoScriptAndNoStyleInItsMarkup) {
  const std::string page(http::find_page_part("/")->body);
  EXPECT_THAT(page, HasSubstr("<script type=\"module\" src=\"/page/main.js\"></script>"));
  EXPECT_THAT(page, Not(HasSubstr(" style=")));
  EXPECT_THAT(page, Not(HasSubstr(" onclick=")));
  for (const http::PagePart& part : http::page_parts()) {
    EXPECT_THAT(part.body, Not(HasSubstr("innerHTML"))) << part.path;
    EXPECT_THAT(part.body, Not(HasSubstr("://cdn"))) << part.path;
  }
}

TEST_F(HttpPage, AsksSeveralAtOnce) {
  call({"RL.TAKE", "k", "FIXED", "1/1h"});
  call({"RL.TAKE", "k", "FIXED", "1/1h"});
  EXPECT_THAT(ask(R"({"commands": [["RL.TOP", "DENIED"], ["rl.info", "none"], ["SELECT", 1],)"
                  R"( ["RL.TOP", "DENIED", "YEAR"]]})"),
              EndsWith(R"({"replies":[[["k",1,0]],null,"OK",{"error":"ERR RL.TOP takes DENIED, )"
                       R"(TAKEN or SHADOW, MINUTE, HOUR or DAY, and COUNT with an integer between )"
                       R"(1 and 1000000, or RESET alone, got 'YEAR'"}]})"
                       "\n"));
  EXPECT_THAT(ask(R"({"commands": [["RL.TOP", "DENIED"]]})"), HasSubstr("[[\"k\",1,0]]"))
      << "each request begins with database 0";
}

TEST_F(HttpPage, TheRepliesToOneRequestAreBounded) {
  std::vector<std::unique_ptr<FakeClient>> clients;
  for (int i = 0; i < 1000; ++i) clients.push_back(one_.server.connect());
  std::string many = R"({"commands": [["ACL", "WHOAMI"])";
  for (int i = 0; i < 60; ++i) many += R"(,["CLIENT", "LIST"])";
  std::string answer = ask(many + R"(,["ACL", "WHOAMI"]]})");
  while (one_.watcher.interest.write) one_.ready(kWrite);
  answer += one_.stream.sent;
  const auto has = [&answer](std::string_view text) { return answer.find(text) != answer.npos; };
  EXPECT_TRUE(has(R"({"replies":["default","id=)"));
  EXPECT_TRUE(has(R"(,{"error":"ERR the replies to one request of the page would have more than 8 )"
                  R"(MB: ask for less at once"})"));
  EXPECT_TRUE(answer.ends_with("\"},\"default\"]}\n")) << "what fits still is answered";
  EXPECT_LT(answer.size(), http::kAnswerBytesMax + (64 << 10));
  for (const auto& client : clients) client->leave();
}

TEST_F(HttpPage, WritesBytesThatAreNoText) {
  call({"RL.TAKE", "k\xff\xfe", "FIXED", "1/1h"});
  EXPECT_THAT(ask(R"({"commands": [["RL.TOP", "TAKEN"], ["RL.PEEK", {"hex": "6bfffe"}]]})"),
              EndsWith(R"({"replies":[[[{"hex":"6bfffe"},1,0]],[0,1,0,3600000,3600000,0]]})"
                       "\n"));
  call({"RL.TAKE", "gr\xc3\xbc\xc3\x9f", "FIXED", "9/1h", "COST", "9"});
  EXPECT_THAT(ask(R"({"commands": [["RL.TOP", "TAKEN", "COUNT", 1]]})"),
              HasSubstr("[[\"gr\xc3\xbc\xc3\x9f\",9,0]]"));
}

TEST_F(HttpPage, RunsWhatIsOnTheListAlone) {
  for (const std::string_view command :
       {R"("SET", "a", "1")", R"("RL.TOP", "RESET")", R"("RL.TOP")", R"("RL.POLICY", "RELOAD")",
        R"("CLIENT", "KILL", "ID", "1")", R"("SLOWLOG", "RESET")", R"("CONFIG", "GET", "*")", ""}) {
    const std::string answer = ask(R"({"commands": [[)" + std::string(command) + "]]}", kLogin);
    EXPECT_THAT(answer, Not(StartsWith("HTTP/1.1 200 "))) << command;
  }
  EXPECT_THAT(ask(R"({"commands": [["SET", "a", "1"]]})"),
              HasSubstr("{\"error\":\"ERR the page may run RL.TOP DENIED, RL.TOP TAKEN, "));
}

TEST_F(HttpPage, BodiesOfAnotherFormAreRefused) {
  std::string many = "{\"commands\": [[\"ACL\", \"WHOAMI\"]";
  for (int i = 0; i < 64; ++i) many += ",[\"ACL\", \"WHOAMI\"]";
  for (const std::string& body :
       {std::string("{"), std::string("[]"), std::string("{\"commands\": 1}"),
        std::string("{\"commands\": []}"), std::string("{\"commands\": [\"PING\"]}"),
        std::string("{\"commands\": [[null]]}"),
        std::string("{\"commands\": [[{\"hex\": \"0\"}]]}"),
        std::string("{\"commands\": [[{\"hex\": \"zz\"}]]}"), many + "]}"}) {
    EXPECT_THAT(ask(body), StartsWith("HTTP/1.1 400 ")) << body;
  }
  EXPECT_THAT(get("/v1/page"), StartsWith("HTTP/1.1 405 "));
}

TEST_F(HttpPage, PoliciesAreChangedByWhoHasLoggedInAlone) {
  call({"ACL", "SETUSER", "ops", "on", ">p", "+@all", "~*", "policy~*"});
  const std::string change = R"({"commands": [["RL.POLICY", "SET", "api", "5/1m"]]})";
  EXPECT_THAT(ask(change), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask(change, kLogin), HasSubstr(R"({"replies":["OK"]})"));
  EXPECT_THAT(ask(R"({"commands": [["RL.POLICY", "HISTORY", "api"]]})"),
              HasSubstr(R"("user":"ops","before":null)"));
  call({"ACL", "SETUSER", "ops", "-rl.policy"});
  EXPECT_THAT(ask(change, kLogin), HasSubstr("{\"error\":\"NOPERM "));
}

TEST_F(HttpPage, LimitingAloneIsConfiguredByWhoMay) {
  call({"ACL", "SETUSER", "ops", "on", ">p", "+@all", "~*"});
  const std::string change = R"({"commands": [["CONFIG", "SET", "limiting", "shadow"]]})";
  EXPECT_THAT(ask(change), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask(change, kLogin), HasSubstr(R"({"replies":["OK"]})"));
  EXPECT_EQ(one_.server->limiters().limiting, Limiting::kShadow);
  for (const std::string_view other :
       {R"("CONFIG", "SET", "maxmemory", "1gb")", R"("CONFIG", "SET", "limiting")",
        R"("CONFIG", "SET", "limiting", "on", "maxmemory", "1gb")",
        R"("CONFIG", "GET", "limiting")", R"("CONFIG", "SET")"}) {
    EXPECT_THAT(ask(R"({"commands": [[)" + std::string(other) + "]]}", kLogin),
                StartsWith("HTTP/1.1 400 "))
        << other;
  }
  call({"ACL", "SETUSER", "ops", "-config"});
  EXPECT_THAT(ask(R"({"commands": [["CONFIG", "SET", "limiting", "on"]]})", kLogin),
              HasSubstr("{\"error\":\"NOPERM "));
  EXPECT_EQ(one_.server->limiters().limiting, Limiting::kShadow);
}

TEST_F(HttpPage, SaysBeforehandWhatAUserMay) {
  call({"ACL", "SETUSER", "ops", "on", ">p", "+@all", "-config", "~*", "resetpolicies",
        "policy~app-*"});
  const std::string questions =
      R"({"commands": [["MAY", "RL.POLICY", "SET", "app-1", "5/1m"], ["MAY", "RL.POLICY", "DEL", "api"],)"
      R"( ["MAY", "CONFIG", "SET", "limiting", "on"], ["MAY", "RL.POLICY", "SET"], ["RL.POLICY", "LIST"]]})";
  EXPECT_THAT(ask(questions, kLogin), HasSubstr(R"({"replies":[1,0,0,0,[]]})"))
      << "and nothing ran";
  call({"ACL", "SETUSER", "ops", "+config|set"});
  EXPECT_THAT(ask(questions, kLogin), HasSubstr(R"({"replies":[1,0,1,0,[]]})"));
  EXPECT_THAT(ask(questions), HasSubstr(R"({"replies":[1,1,1,0,[]]})")) << "of the user default";
  for (const std::string_view other :
       {R"("MAY")", R"("MAY", "SET", "a", "1")", R"("MAY", "MAY")"}) {
    EXPECT_THAT(ask(R"({"commands": [[)" + std::string(other) + "]]}", kLogin),
                StartsWith("HTTP/1.1 400 "))
        << other;
  }
}

TEST_F(HttpPage, UnauthenticatedClientsSeeNoKeys) {
  call({"CONFIG", "SET", "requirepass", "secret"});
  const std::string look = R"({"commands": [["RL.TOP", "DENIED"]]})";
  EXPECT_THAT(ask(look), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask(look, "Authorization: Basic OnNlY3JldA==\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask(look, "Authorization: Basic Ondyb25n\r\n"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask(look), StartsWith("HTTP/1.1 401 ")) << "nothing is left of a login";
}

TEST_F(HttpPage, NamesThatMayLeadAnywhereAreRefused) {
  const std::string look = R"({"commands": [["ACL", "WHOAMI"]]})";
  const auto with_host = [&](const std::string& host) {
    return ask(look, "", "Host: " + host + "\r\n").substr(9, 3);
  };
  EXPECT_EQ(with_host("localhost:9121"), "200");
  EXPECT_EQ(with_host("LOCALHOST"), "200");
  EXPECT_EQ(with_host("192.0.2.7:9121"), "200");
  EXPECT_EQ(with_host("[::1]:9121"), "200");
  for (const std::string_view host :
       {"evil.example:9121", "127.0.0.1.evil.example", "localhost.evil.example", "[::1", ""})
    EXPECT_EQ(with_host(std::string(host)), "403") << host;
  EXPECT_THAT(get("/", "Host: evil.example\r\n"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(get("/metrics", "Host: weir.monitoring.svc\r\n"), StartsWith("HTTP/1.1 200 "));
  one_.server->config().metrics_hosts = {"weir.example.com"};
  EXPECT_EQ(with_host("weir.example.com:9121"), "200");
  EXPECT_EQ(with_host("evil.example"), "403");
}

TEST_F(HttpPage, PagesOfOthersAreRefused) {
  const std::string look = R"({"commands": [["ACL", "WHOAMI"]]})";
  const auto with = [&](const std::string& field) {
    return ask(look, field + "\r\n").substr(9, 3);
  };
  EXPECT_EQ(with("Origin: http://127.0.0.1:9121"), "200");
  EXPECT_EQ(with("Origin: https://127.0.0.1:9121"), "200") << "TLS may end at a proxy";
  EXPECT_EQ(with("Origin: http://127.0.0.1:8000"), "403");
  EXPECT_EQ(with("Origin: http://evil.example"), "403");
  EXPECT_EQ(with("Origin: null"), "403");
  EXPECT_EQ(with("Sec-Fetch-Site: same-origin"), "200");
  EXPECT_EQ(with("Sec-Fetch-Site: same-site"), "403");
  EXPECT_EQ(with("Sec-Fetch-Site: cross-site"), "403");
  const std::string form =
      "POST /v1/page HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"
      "Content-Length: " +
      std::to_string(look.size()) + "\r\n\r\n" + look;
  EXPECT_THAT(send(form), StartsWith("HTTP/1.1 400 ")) << "a form needs no leave of another origin";
}

TEST_F(HttpPage, TakesNothing) {
  EXPECT_THAT(get("/v1/gate?limits=1/1h&key=k"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(send("POST /v1/take HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"),
              StartsWith("HTTP/1.1 404 "));
}

TEST_F(HttpPage, WithoutAPasswordOtherMachinesSeeTheMetricsAlone) {
  OneConnection far;
  far.loopback = false;
  far.open_http(http::ListenerKind::kMetrics);
  ASSERT_FALSE(far.closed) << "protected mode lets in who watches";
  far.receives("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(far.stream.sent, StartsWith("HTTP/1.1 200 "));
  far.stream.sent.clear();
  far.receives(
      "POST /v1/page HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
      "Authorization: Basic ZGVmYXVsdDo=\r\nContent-Length: 35\r\n\r\n"
      "{\"commands\": [[\"RL.TOP\", \"DENIED\"]]}");
  EXPECT_THAT(far.stream.sent, StartsWith("HTTP/1.1 403 "));
}

TEST_F(HttpPage, WatchersAreLetInWhereClientsAreTooMany) {
  one_.server->config().maxclients = 1;
  Peer peer = FakeServer::local_peer();
  EXPECT_FALSE(one_.server->connect(peer));
  peer.type = ConnectionType::kMetrics;
  const auto session = one_.server->connect(peer);
  ASSERT_TRUE(session);
  one_.server->disconnect(*session);
}

}  // namespace
}  // namespace weir::server
