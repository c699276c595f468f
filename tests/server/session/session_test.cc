// The conversation: cutting, order, bounds, authentication, and how it ends.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

std::string a_conversation() {
  return "PING\r\n\r\nping hello\r\nSET a \"1 \\x41\"\r\n" + request({"GET", "a"}) +
         request({"SET", "b", std::string_view("\0\r\n$1", 5)}) + "*0\r\n*-1\r\n" +
         request({"GET", "b"}) + request({"NOSUCH", "x"}) + request({"CONFIG", "nosuch"}) +
         request({"GET"}) + request({"CLIENT", "REPLY", "SKIP"}) + kPing + request({"HELLO", "3"}) +
         request({"GET", "nosuch"}) + request({"CLIENT", "GETNAME"}) + request({"RESET"}) +
         request({"GET", "nosuch"}) + request({"QUIT"}) + kPing;
}

std::string answer_to(const std::vector<std::string>& pieces) {
  FakeServer server;
  auto client = server.connect();
  std::string answer;
  for (const std::string& piece : pieces) answer += client->send(piece);
  EXPECT_TRUE(client->closed());
  return answer;
}

TEST(Session, AnswersTheSameHoweverTheBytesAreCut) {
  const std::string bytes = a_conversation();
  const std::string whole = answer_to({bytes});
  EXPECT_TRUE(whole.starts_with("+PONG\r\n$5\r\nhello\r\n+OK\r\n$3\r\n1 A\r\n+OK\r\n$5\r\n"))
      << whole;
  EXPECT_TRUE(whole.ends_with("_\r\n_\r\n+RESET\r\n$-1\r\n+OK\r\n")) << whole;
  for (size_t i = 1; i < bytes.size(); ++i) {
    ASSERT_EQ(answer_to({bytes.substr(0, i), bytes.substr(i)}), whole) << "cut at " << i;
  }
  std::vector<std::string> single;
  for (const char c : bytes) single.emplace_back(1, c);
  EXPECT_EQ(answer_to(single), whole);
}

TEST(Session, AnswersAPipelineInOrderOverManyTurns) {
  FakeServer server;
  server.commands_max = 7;
  auto client = server.connect();
  std::string pipeline;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    pipeline += request({"ECHO", std::to_string(i)});
    expected += bulk(std::to_string(i));
  }
  EXPECT_EQ(client->send(pipeline), expected);
}

TEST(Session, OneTurnRunsNoMoreThanItsBudgetAndStarvesNobody) {
  FakeServer server;
  server.commands_max = 10;
  auto hungry = server.connect();
  auto modest = server.connect();
  std::string pipeline;
  for (int i = 0; i < 25; ++i) pipeline += kPing;
  hungry->push(pipeline);
  modest->push(kPing);
  server.end_turn();
  EXPECT_EQ(modest->take(), "+PONG\r\n");
  EXPECT_EQ(hungry->take().size(), 10 * 7u);
  server.run_turns();
  EXPECT_EQ(hungry->take().size(), 15 * 7u);
}

TEST(Session, NothingIsAnsweredBeforeTheTurnEnds) {
  FakeServer server;
  auto client = server.connect();
  client->push(kPing);
  EXPECT_EQ(client->session().output(), "");
  server.end_turn();
  EXPECT_EQ(client->take(), "+PONG\r\n");
}

TEST(Session, AProtocolErrorIsAnsweredAndEndsTheConversation) {
  FakeServer server;
  auto client = server.connect();
  EXPECT_EQ(client->send("PING\r\n*1\r\n$x\r\nPING\r\n"),
            "+PONG\r\n-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_TRUE(client->closed());
}

TEST(Session, QuitAnswersWhatCameBeforeAndNothingAfter) {
  FakeServer server;
  auto client = server.connect();
  EXPECT_EQ(client->send("PING\r\nQUIT\r\nSET a 1\r\n"), "+PONG\r\n+OK\r\n");
  EXPECT_TRUE(client->closed());
  EXPECT_EQ(server.connect()->call({"EXISTS", "a"}), ":0\r\n");
}

TEST(Session, AnswersWhatAHalfClosedPeerAskedFor) {
  FakeServer server;
  auto client = server.connect();
  client->push(kPing);
  client->session().close_after_reply();
  server.end_turn();
  EXPECT_EQ(client->take(), "+PONG\r\n");
  EXPECT_TRUE(client->closed());
}

TEST(Session, RepliesCanBeSwitchedOff) {
  FakeServer server;
  auto client = server.connect();
  EXPECT_EQ(client->call({"CLIENT", "REPLY", "OFF"}), "");
  EXPECT_EQ(client->send(kPing + request({"NOSUCH"})), "");
  EXPECT_EQ(client->call({"CLIENT", "REPLY", "SKIP"}), "");
  EXPECT_EQ(client->send(kPing), "");
  EXPECT_EQ(client->call({"CLIENT", "REPLY", "ON"}), "+OK\r\n");
  EXPECT_EQ(client->send(request({"CLIENT", "REPLY", "SKIP"}) + kPing + request({"ECHO", "x"})),
            bulk("x"));
  EXPECT_EQ(client->call({"CLIENT", "REPLY", "OFF"}), "");
  EXPECT_EQ(client->call({"RESET"}), "+RESET\r\n");
}

TEST(Session, AProtocolErrorIsNotAnsweredWhereNoReplyIsWanted) {
  FakeServer server;
  auto client = server.connect();
  EXPECT_EQ(client->send(request({"CLIENT", "REPLY", "OFF"}) + "*1\r\n$x\r\n"), "");
  EXPECT_TRUE(client->closed());
}

TEST(Session, TalksToNoWebPage) {
  for (const char* bytes :
       {"POST / HTTP/1.1\r\nPING\r\n", "hOsT: localhost\r\n", "*1\r\n$4\r\nPoSt\r\n"}) {
    FakeServer server;
    auto client = server.connect();
    EXPECT_EQ(client->send(bytes), "") << bytes;
    EXPECT_TRUE(client->closed()) << bytes;
  }
}

TEST(SessionBounds, ARequestLargerThanTheQueryBufferEndsTheConversation) {
  Config config;
  config.client_query_buffer_limit = 1000;
  FakeServer server(config);
  auto client = server.connect();
  auto other = server.connect();
  EXPECT_EQ(client->send("*2\r\n$4\r\nECHO\r\n$5000\r\n" + std::string(900, 'x')), "");
  EXPECT_FALSE(client->closed());
  EXPECT_EQ(client->send(std::string(100, 'x')), "");
  EXPECT_TRUE(client->closed());
  EXPECT_EQ(other->send(kPing), "+PONG\r\n");
}

TEST(SessionBounds, WholeRequestsMayTogetherBeLargerThanTheQueryBuffer) {
  Config config;
  config.client_query_buffer_limit = 1000;
  FakeServer server(config);
  auto client = server.connect();
  std::string pipeline;
  for (int i = 0; i < 500; ++i) pipeline += kPing;
  EXPECT_EQ(client->send(pipeline).size(), 500 * 7u);
}

TEST(SessionBounds, ALengthAnnouncedTakesNoMemory) {
  FakeServer server;
  auto client = server.connect();
  EXPECT_EQ(client->send("*1000000\r\n$536870912\r\nx"), "");
  EXPECT_FALSE(client->closed());
  EXPECT_LT(client->session().input().capacity(), 1000u);
  EXPECT_EQ(client->send(""), "");
}

TEST(SessionBounds, BulkAndCountAreBounded) {
  Config config;
  config.proto_max_bulk_len = 10;
  config.multibulk_count_max = 3;
  config.proto_inline_max_bytes = 64;
  const std::pair<std::string, std::string> cases[] = {
      {"*1\r\n$11\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
      {"*4\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
      {std::string(65, 'x') + "\r\n", "-ERR Protocol error: too big inline request\r\n"},
  };
  for (const auto& [bytes, error] : cases) {
    FakeServer server(config);
    auto client = server.connect();
    EXPECT_EQ(client->send(bytes), error);
    EXPECT_TRUE(client->closed());
  }
}

TEST(SessionBounds, AReaderThatDoesNotReadIsCutOff) {
  Config config;
  config.client_output_buffer_limit.normal = {.hard_bytes = 1000};
  FakeServer server(config);
  auto client = server.connect();
  client->reads = false;
  EXPECT_EQ(client->call({"ECHO", std::string(900, 'x')}), "");
  EXPECT_FALSE(client->closed());
  EXPECT_EQ(client->call({"ECHO", std::string(100, 'x')}), "");
  EXPECT_TRUE(client->closed());
}

TEST(SessionBounds, AReaderThatIsSlowForTooLongIsCutOff) {
  Config config;
  config.client_output_buffer_limit.normal = {
      .hard_bytes = 0, .soft_bytes = 100, .soft_seconds = 5};
  FakeServer server(config);
  auto client = server.connect();
  client->reads = false;
  client->call({"ECHO", std::string(200, 'x')});
  server.advance(4 * kSecond);
  EXPECT_FALSE(client->closed());
  server.advance(2 * kSecond);
  EXPECT_TRUE(client->closed());
}

TEST(SessionBounds, AReaderThatCatchesUpStays) {
  Config config;
  config.client_output_buffer_limit.normal = {
      .hard_bytes = 0, .soft_bytes = 100, .soft_seconds = 5};
  FakeServer server(config);
  auto client = server.connect();
  client->reads = false;
  client->call({"ECHO", std::string(200, 'x')});
  server.advance(4 * kSecond);
  client->reads = true;
  EXPECT_GT(client->send(kPing).size(), 200u);
  server.advance(10 * kSecond);
  EXPECT_FALSE(client->closed());
}

TEST(SessionBounds, ClientsAreCounted) {
  Config config;
  config.maxclients = 2;
  FakeServer server(config);
  auto first = server.connect();
  auto second = server.connect();
  std::string refusal;
  EXPECT_EQ(server.connect(FakeServer::local_peer(), &refusal), nullptr);
  EXPECT_EQ(refusal, "-ERR max number of clients reached\r\n");
  first->send("QUIT\r\n");
  EXPECT_NE(server.connect(), nullptr);
  EXPECT_EQ(server->report().stats.connections_rejected, 1u);
}

TEST(SessionBounds, IdleClientsAreClosedAfterTheTimeout) {
  Config config;
  config.timeout = 10;
  FakeServer server(config);
  auto idle = server.connect();
  auto busy = server.connect();
  for (int i = 0; i < 3; ++i) {
    server.advance(4 * kSecond);
    EXPECT_EQ(busy->send(kPing), "+PONG\r\n");
  }
  EXPECT_TRUE(idle->closed());
  EXPECT_FALSE(busy->closed());
}

TEST(SessionAuthentication, ProtectedModeServesThisMachineOnly) {
  FakeServer server;
  std::string refusal;
  EXPECT_EQ(server.connect(FakeServer::foreign_peer(), &refusal), nullptr);
  EXPECT_TRUE(refusal.starts_with("-DENIED ") && refusal.ends_with("\r\n")) << refusal;
  EXPECT_NE(server.connect(), nullptr);
  server->config().requirepass = "secret";
  server->apply_config({"requirepass"});
  EXPECT_NE(server.connect(FakeServer::foreign_peer()), nullptr);
  server->config().requirepass = "";
  server->apply_config({"requirepass"});
  server->config().protected_mode = false;
  EXPECT_NE(server.connect(FakeServer::foreign_peer()), nullptr);
}

class WithPassword : public testing::Test {
 protected:
  static Config config() {
    Config config;
    config.requirepass = "secret";
    return config;
  }

  FakeServer server_{config()};
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

constexpr const char* kNoAuth = "-NOAUTH Authentication required.\r\n";
constexpr const char* kWrongPass =
    "-WRONGPASS invalid username-password pair or user is disabled.\r\n";

TEST_F(WithPassword, ThePasswordIsAskedForFirst) {
  EXPECT_EQ(client_->send("PING\r\nGET a\r\nSET a 1\r\n"),
            std::string(kNoAuth) + kNoAuth + kNoAuth);
  EXPECT_EQ(client_->send("NOSUCH\r\n"),
            "-ERR unknown command 'NOSUCH', with args beginning with: \r\n");
  EXPECT_EQ(client_->send("GET\r\n"), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_EQ(client_->send("AUTH wrong\r\n"), kWrongPass);
  EXPECT_EQ(client_->send("AUTH nobody secret\r\n"), kWrongPass);
  EXPECT_EQ(client_->send("AUTH default secret extra\r\n"), "-ERR syntax error\r\n");
  EXPECT_EQ(client_->send("AUTH secret\r\nPING\r\n"), "+OK\r\n+PONG\r\n");
  EXPECT_EQ(client_->send("AUTH wrong\r\nPING\r\n"), std::string(kWrongPass) + "+PONG\r\n");
  EXPECT_EQ(client_->send("RESET\r\nPING\r\n"), std::string("+RESET\r\n") + kNoAuth);
}

TEST_F(WithPassword, HelloAuthenticatesAndItsOptionsTakeEffectOneByOne) {
  const std::string refused = client_->send("HELLO 3\r\n");
  EXPECT_TRUE(
      refused.starts_with("-NOAUTH HELLO must be called with the client already "
                          "authenticated, otherwise the HELLO AUTH <user> <pass> option"));
  EXPECT_EQ(client_->send("HELLO 4\r\n"), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(client_->send("HELLO x\r\n"),
            "-ERR Protocol version is not an integer or out of range\r\n");
  EXPECT_EQ(client_->send("HELLO 3 AUTH default wrong BAD\r\n"), kWrongPass);
  EXPECT_EQ(client_->send("PING\r\n"), kNoAuth);
  EXPECT_EQ(client_->send("HELLO 3 AUTH default secret BAD\r\n"),
            "-ERR Syntax error in HELLO option 'BAD'\r\n");
  EXPECT_EQ(client_->send("PING\r\n"), "+PONG\r\n");
  const std::string hello = client_->send("HELLO 3 SETNAME me\r\n");
  EXPECT_TRUE(hello.starts_with("%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n")) << hello;
  EXPECT_TRUE(hello.ends_with("$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n")) << hello;
  EXPECT_EQ(client_->send("CLIENT GETNAME\r\n"), bulk("me"));
  EXPECT_TRUE(client_->send("HELLO 2\r\n").starts_with("*14\r\n"));
  EXPECT_EQ(client_->send("HELLO 2 SETNAME \"a b\"\r\n"),
            "-ERR Client names cannot contain spaces, newlines or special characters.\r\n");
}

TEST_F(WithPassword, WhatUnauthenticatedClientsMaySendIsBounded) {
  const std::pair<std::string, std::string> cases[] = {
      {"*11\r\n", "-ERR Protocol error: unauthenticated multibulk length\r\n"},
      {"*1\r\n$16385\r\n", "-ERR Protocol error: unauthenticated bulk length\r\n"},
  };
  for (const auto& [bytes, error] : cases) {
    auto client = server_.connect();
    EXPECT_EQ(client->send(bytes), error);
    EXPECT_TRUE(client->closed());
  }
  // In one piece: the bounds fall with the AUTH before.
  EXPECT_EQ(
      client_
          ->send("AUTH secret\r\n*2\r\n$4\r\nECHO\r\n$16385\r\n" + std::string(16385, 'x') + "\r\n")
          .size(),
      5 + 8 + 16385 + 2u);
}

TEST_F(WithPassword, TakingThePasswordAwayLetsEverybodyIn) {
  auto other = server_.connect();
  EXPECT_EQ(other->send("AUTH secret\r\nCONFIG SET requirepass \"\"\r\n"), "+OK\r\n+OK\r\n");
  EXPECT_EQ(client_->send("PING\r\n"), "+PONG\r\n");
}

TEST(SessionReset, ForgetsEverythingTheClientSaid) {
  FakeServer server;
  auto client = server.connect();
  client->send(
      "HELLO 3 SETNAME me\r\nSELECT 5\r\nCLIENT NO-EVICT ON\r\nCLIENT NO-TOUCH ON\r\n"
      "CLIENT SETINFO LIB-NAME lib\r\n");
  EXPECT_EQ(client->session().client().database(), 5);
  EXPECT_EQ(client->call({"RESET"}), "+RESET\r\n");
  const std::string line = client->call({"CLIENT", "INFO"});
  EXPECT_NE(line.find(" name= "), line.npos) << line;
  EXPECT_NE(line.find(" db=0 "), line.npos) << line;
  EXPECT_NE(line.find(" flags=N "), line.npos) << line;
  EXPECT_NE(line.find(" resp=2 "), line.npos) << line;
  // The library behind the connection is still the same.
  EXPECT_NE(line.find(" lib-name=lib "), line.npos) << line;
}

}  // namespace
}  // namespace weir::server
