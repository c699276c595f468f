// What a question to /v1/ may take: of memory, of a turn's work, of an answer; and how many may
// wait.
#include "server/http/format/reply.h"
#include "server/http/request_reader.h"
#include "server/http/v1/calls.h"
#include "server/http/v1/problem.h"
#include "tests/server/http/v1_fixture.h"

namespace weir::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr size_t kKept = 20 << 10;  // of buffers, which stay for the next request

// That many questions, each the same.
std::string batch_of(size_t count, const std::string& question) {
  std::string batch = R"({"requests": [)";
  for (size_t i = 0; i < count; ++i) batch += question + ",";
  batch.back() = ']';
  return batch + "}";
}

std::string repeated(size_t count, std::string_view word) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += word;
  return text;
}

TEST_F(V1Test, ARefusedQuestionKeepsNothing) {
  const std::string many = repeated(700, "FIXED 1/1h ");
  const size_t before = one_.session->memory_bytes();
  EXPECT_THAT(ask("batch", R"({"requests": [{"peek": {"key": "k", "limits": ")" + many +
                               R"("}}, {"peek": {"limits": "1/1s"}}]})"),
              StartsWith("400 "));
  EXPECT_LT(one_.session->memory_bytes(), before + kKept);
  one_.server->config().http_maxclients = 0;
  EXPECT_THAT(ask("acquire", R"({"key": "k", "timeout": 9, "limits": ")" + many + R"("})"),
              StartsWith("503 "));
  EXPECT_LT(one_.session->memory_bytes(), before + kKept);
}

TEST_F(V1Test, WhatABatchKeepsIsCountedAndBounded) {
  const auto kept = [this](const std::string& batch) {
    const size_t before = one_.session->memory_bytes();
    call({"CLIENT", "PAUSE", "1000", "ALL"});
    EXPECT_EQ(ask("batch", batch), "");
    const size_t bytes = one_.session->memory_bytes() - before;
    one_.server.clock.advance(2 * kSecond);
    one_.server->tick();
    while (one_.stream.sent.empty()) {
      for (Session* session : one_.server->sessions().holds().take_runnable()) session->resume(10);
      one_.end_turn();
    }
    EXPECT_THAT(send(""), StartsWith("HTTP/1.1 200 OK"));
    return bytes;
  };
  const std::string peek = R"({"peek": {"key": ")" + std::string(500, 'k') + R"("}})";
  EXPECT_GT(kept(batch_of(http::kBatchMax, peek)), 2 * 50'000u) << "the body, and its commands";
  // The shortest words that there are, as docs/http.md bounds them.
  const std::string words = R"({"peek": {"key": "k", "limits": ")" + repeated(6'000, "a ") + "\"}}";
  EXPECT_LT(kept(batch_of(5, words)), 2u << 20);
}

TEST_F(V1Test, TheWordsOfLimitsHaveTheBoundOfACommand) {
  EXPECT_THAT(
      ask("batch",
          batch_of(1, R"({"peek": {"key": "k", "limits": ")" + repeated(9'000, "a ") + "\"}}")),
      HasSubstr("\"error\":\"ERR requests[0].peek.limits must be fewer words: a command has "
                "at most 8192\""));
}

// Its questions share the slice of a session, as the requests of a pipeline do.
TEST_F(V1Test, ABatchThatIsLongGoesOnInLaterTurns) {
  constexpr size_t kCount = 10;
  const std::string question =
      R"({"peek": {"key": "k", "limits": ")" + repeated(3'000, "a ") + "\"}}";
  const std::string request = post("batch", batch_of(kCount, question));
  for (size_t at = 0; at < request.size(); at += kRead16)
    one_.receives(request.substr(at, kRead16));
  EXPECT_TRUE(one_.stream.sent.empty());
  EXPECT_TRUE(one_.session->runnable());
  EXPECT_TRUE(one_.session->activity().was_long());
  size_t turns = 0;
  while (one_.stream.sent.empty() && turns < 100) {
    const uint64_t begin = one_.server->work().units();
    for (Session* session : one_.server->sessions().holds().take_runnable()) session->resume(1024);
    EXPECT_LT(one_.server->work().units() - begin, WorkMeter::kSliceUnits * 3 / 2);
    one_.end_turn();
    ++turns;
  }
  EXPECT_GE(turns, 2u);
  const std::string answer = told(send(""));
  EXPECT_EQ(body_of(answer).elements.at(0).elements.size(), kCount);
}

// Reading its body is work, too, whatever comes of it.
TEST_F(V1Test, ALongBodyIsWork) {
  const auto units = [this](size_t bytes) {
    const uint64_t before = one_.server->work().units();
    EXPECT_THAT(ask("batch", "[" + std::string(bytes, ' ') + "]"), StartsWith("400 "));
    return one_.server->work().units() - before;
  };
  const uint64_t little = units(100);
  EXPECT_GT(units(60'000), little + 3'000);
}

TEST_F(V1Test, AShortQuestionIsNotLong) {
  EXPECT_THAT(ask("take", R"({"key": "k", "limits": "1/1s"})"), StartsWith("200 "));
  EXPECT_FALSE(one_.session->activity().was_long());
}

TEST(V1Calls, AnAnswerHasABound) {
  const auto answer_to_names = [](size_t count, size_t bytes) {
    http::Calls calls;
    EXPECT_TRUE(calls.read("/v1/policies/list", "{}"));
    const std::string name =
        "$" + std::to_string(bytes) + "\r\n" + std::string(bytes, '\xff') + "\r\n";
    EXPECT_TRUE(calls.take_reply("*" + std::to_string(count) + "\r\n" + repeated(count, name)));
    return calls.take_answer();
  };
  EXPECT_EQ(answer_to_names(100, 1'000).status, 200u);
  for (const size_t bytes : {90'000, 50'000}) {  // the reply, and its hexadecimal digits alone
    const http::Answer refused = answer_to_names(100, bytes);
    EXPECT_EQ(refused.status, 400u);
    EXPECT_EQ(refused.content_type, http::kProblemType);
    EXPECT_THAT(refused.body, HasSubstr("ERR the answer would have more than 8 MB"));
  }
}

TEST(V1Calls, ATraceIsAWordOfTheCommandsThatTakeIt) {
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  http::Calls calls;
  ASSERT_TRUE(calls.read("/v1/batch",
                         R"({"requests": [{"take": {"key": "k", "policy": "p"}},)"
                         R"( {"mtake": {"keys": ["TRACEPARENT"], "policy": "p"}},)"
                         R"( {"reserve": {"key": "k", "policy": "p"}}, {"peek": {"key": "k"}},)"
                         R"( {"release": {"key": "k", "id": 1}}]})",
                         trace));
  size_t traced = 0;
  for (const http::Calls::Words& words : calls.take_commands()) {
    const bool is_last =
        words.size() > 2 && words[words.size() - 2] == "TRACEPARENT" && words.back() == trace;
    EXPECT_EQ(is_last, words[0] != "RL.RELEASE") << words[0];
    traced += is_last ? 1 : 0;
  }
  EXPECT_EQ(traced, 4u);
}

TEST_F(V1Test, HalfOfTheClientsMayWait) {
  one_.server->config().http_maxclients = 2;
  const std::string body = R"({"key": "jobs", "limits": "FIXED 1/10s", "timeout": "30s"})";
  EXPECT_THAT(ask("acquire", body), StartsWith("200 "));
  EXPECT_EQ(ask("acquire", body), "");
  Peer peer = FakeServer::local_peer();
  peer.type = ConnectionType::kHttp;
  Session* second = one_.server->connect(peer).value();
  http::Conversation other(&*one_.server, second, &one_.clients);
  other.receive(post("acquire", body));
  one_.end_turn();
  EXPECT_THAT(other.output(), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(other.output(), HasSubstr("half of http-maxclients"));
  other.mark_sent(other.output().size());
  one_.stream.recv_says(Transfer::Result::kEnded);
  one_.ready(kRead);
  EXPECT_TRUE(one_.closed) << "who leaves makes room";
  other.receive(post("acquire", body));
  one_.end_turn();
  EXPECT_EQ(other.output(), "") << "it waits";
}

TEST_F(V1Test, WhoIsHeldUpIsAmongThoseWhoMayWait) {
  one_.server->config().http_maxclients = 2;
  call({"CLIENT", "PAUSE", "1000", "ALL"});
  const std::string body = R"({"key": "jobs", "limits": "FIXED 9/10s", "timeout": "30s"})";
  EXPECT_EQ(ask("acquire", body), "");
  Peer peer = FakeServer::local_peer();
  peer.type = ConnectionType::kHttp;
  Session* second = one_.server->connect(peer).value();
  http::Conversation other(&*one_.server, second, &one_.clients);
  other.receive(post("acquire", body));
  one_.end_turn();
  EXPECT_THAT(other.output(), StartsWith("HTTP/1.1 503 "));
}

}  // namespace
}  // namespace weir::server
