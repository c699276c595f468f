// Reflection: what a client that has no files of ours is told, and what one that does not read or
// asks for too much may not do. That the descriptors are right is seen by grpcurl
// (tests/clients/go/rls).
#include "server/http/grpc/reflection.h"

#include <algorithm>

#include "server/http/grpc/proto_file.h"
#include "server/http/grpc/proto_tables.h"
#include "tests/server/http/grpc/grpc_fixture.h"

namespace weir::server::grpc {
namespace {

constexpr uint32_t kAsksFile = 3, kAsksSymbol = 4, kAsksExtension = 5, kAsksNumbers = 6,
                   kAsksList = 7;

std::string question(uint32_t kind, std::string_view what) {
  ProtobufWriter writer;
  writer.bytes(kind, what);
  return writer.message();
}

// What is at the end of a way of fields, each time that it is there.
std::vector<std::string> all_at(std::string_view message, std::vector<uint32_t> way) {
  const uint32_t field = way.front();
  way.erase(way.begin());
  std::vector<std::string> found;
  WireReader reader(message);
  while (reader.next()) {
    if (reader.is_number(field) && way.empty()) found.push_back(std::to_string(reader.number()));
    if (!reader.is_bytes(field)) continue;
    if (way.empty()) {
      found.emplace_back(reader.bytes());
    } else {
      for (std::string& one : all_at(reader.bytes(), way)) found.push_back(std::move(one));
    }
  }
  EXPECT_TRUE(reader.ok());
  return found;
}

std::string name_of_file(const std::string& response) {
  const auto names = all_at(response, {4, 1, 1});
  return names.size() == 1 ? names[0] : "(none)";
}

std::string error_of(const std::string& response) {
  const auto codes = all_at(response, {7, 1});
  return codes.size() == 1 ? codes[0] : "(none)";
}

// A dialogue, which asks and is answered.
class ReflectionTest : public GrpcTest {
 protected:
  std::string ask(std::string_view message) {
    if (stream_ < 0) {
      stream_ = client_.call(kReflectionPath, message, {}, false);
    } else {
      client_.more(stream_, framed(message));
    }
    go();
    return next();
  }
  // The next message that has come and was not looked at.
  std::string next() {
    const std::string_view body = std::string_view(answered().body).substr(read_);
    const auto message = first_message(body, body.size());
    if (!message || !*message) return "(nothing)";
    read_ += kFrameHeadBytes + (*message)->size();
    return std::string(**message);
  }
  const Answered& answered() { return client_.of(stream_); }

  int32_t stream_ = -1;
  size_t read_ = 0;
};

TEST_F(ReflectionTest, QuestionsOfAStreamAreAnsweredOneByOne) {
  const auto services = all_at(ask(question(kAsksList, "")), {6, 1, 1});
  EXPECT_EQ(services, (std::vector<std::string>{"envoy.service.ratelimit.v3.RateLimitService",
                                                "kuadrant.service.ratelimit.v1.RateLimitService",
                                                "grpc.health.v1.Health",
                                                "grpc.reflection.v1.ServerReflection",
                                                "grpc.reflection.v1alpha.ServerReflection"}));
  EXPECT_FALSE(answered().is_over);
  constexpr std::string_view kRls = "envoy/service/ratelimit/v3/rls.proto";
  EXPECT_EQ(name_of_file(ask(question(kAsksFile, kRls))), kRls);
  for (const std::string_view symbol :
       {"envoy.service.ratelimit.v3.RateLimitService",
        "envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit",
        "envoy.service.ratelimit.v3.RateLimitRequest",
        "envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit"})
    EXPECT_EQ(name_of_file(ask(question(kAsksSymbol, symbol))), kRls) << symbol;
  client_.more(stream_, "", true);
  go();
  EXPECT_TRUE(answered().is_over);
  EXPECT_EQ(answered().status(), "0");
  EXPECT_EQ(one_.server->report().stats.grpc_requests, 6u);
}

TEST_F(ReflectionTest, TheOriginalQuestionAndTheHostAreRepeated) {
  ProtobufWriter writer;
  writer.text(1, "a.host");
  writer.text(kAsksSymbol, "grpc.health.v1.Health");
  const std::string response = ask(writer.message());
  EXPECT_EQ(all_at(response, {1}), std::vector<std::string>{"a.host"});
  EXPECT_EQ(all_at(response, {2}), std::vector<std::string>{writer.message()});
}

TEST_F(ReflectionTest, WhatIsNotThereIsNotFoundAndTheStreamGoesOn) {
  EXPECT_EQ(error_of(ask(question(kAsksFile, "no.proto"))), "5");
  EXPECT_EQ(error_of(ask(question(kAsksSymbol, "no.Symbol"))), "5");
  EXPECT_EQ(error_of(ask(question(kAsksExtension, question(1, "grpc.health.v1.Health")))), "5");
  EXPECT_EQ(error_of(ask(question(kAsksNumbers, "no.Type"))), "5");
  EXPECT_EQ(error_of(ask("")), "3");
  EXPECT_EQ(all_at(ask(question(kAsksNumbers, "grpc.health.v1.HealthCheckRequest")), {5, 1}),
            std::vector<std::string>{"grpc.health.v1.HealthCheckRequest"});
}

TEST_F(ReflectionTest, TheOlderNameIsTheSameService) {
  const int32_t stream = client_.call(kReflectionAlphaPath, question(kAsksList, ""));
  go();
  EXPECT_EQ(client_.of(stream).status(), "0");
  EXPECT_EQ(all_at(client_.of(stream).message(), {6, 1, 1}).size(), 5u);
}

TEST_F(ReflectionTest, AllQuestionsThatHaveComeAtOnceAreAnswered) {
  const std::string one = framed(question(kAsksSymbol, "grpc.health.v1.Health"));
  stream_ = client_.call(kReflectionPath, question(kAsksList, ""), {}, false);
  for (int i = 0; i < 20; ++i) client_.more(stream_, one, i == 19);
  go();
  EXPECT_NE(next(), "(nothing)");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(name_of_file(next()), "grpc/health/v1/health.proto") << i;
  EXPECT_EQ(answered().status(), "0");
}

TEST_F(ReflectionTest, AQuestionMayComeByteByByte) {
  stream_ = client_.ask(GrpcClient::fields_of(kReflectionPath), "", false);
  for (const char byte : framed(question(kAsksList, ""))) {
    EXPECT_EQ(next(), "(nothing)");
    client_.more(stream_, std::string(1, byte));
    go();
  }
  EXPECT_EQ(all_at(next(), {6, 1, 1}).size(), 5u);
}

TEST_F(ReflectionTest, AHugeNameEndsTheStream) {
  EXPECT_EQ(ask(question(kAsksSymbol, std::string(5000, 'x'))), "(nothing)");
  EXPECT_EQ(answered().status(), "8");
  EXPECT_TRUE(answered().is_over);
  EXPECT_EQ(call(kHealthCheckPath, "").message(), "\x08\x01");
}

TEST_F(ReflectionTest, OfAHugeNameTheRestIsNotWaitedFor) {
  stream_ = client_.ask(GrpcClient::fields_of(kReflectionPath),
                        framed(std::string(5000, 'x')).substr(0, 6), false);
  go();
  EXPECT_EQ(answered().status(), "8");
}

TEST_F(ReflectionTest, WhatIsNoMessageEndsTheStream) {
  EXPECT_EQ(ask("\xff"), "(nothing)");
  EXPECT_EQ(answered().status(), "3");
  stream_ = client_.ask(GrpcClient::fields_of(kReflectionPath), framed("x").substr(0, 5));
  go();
  EXPECT_EQ(answered().status(), "3");  // it is cut
  stream_ = client_.ask(GrpcClient::fields_of(kReflectionPath), "\x01");
  go();
  EXPECT_EQ(answered().status(), "12");  // compressed
}

TEST_F(ReflectionTest, WhoDoesNotReadIsAnsweredNoMore) {
  // Windows of nothing: an answer waits, and with it all questions after it.
  const nghttp2_settings_entry none = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
  nghttp2_submit_settings(client_.session(), NGHTTP2_FLAG_NONE, &none, 1);
  go();
  const size_t before = one_.connection->memory_bytes();
  for (int i = 0; i < 100; ++i) {
    const int32_t stream = client_.call(kReflectionPath, question(kAsksList, ""), {}, false);
    for (int k = 0; k < 100; ++k) client_.more(stream, framed(question(kAsksList, "")));
  }
  go();
  EXPECT_EQ(one_.server->report().stats.grpc_requests, 100u);
  EXPECT_LT(one_.connection->memory_bytes(), before + 100 * (2 * kDialogueBytesMax + 2048));
}

TEST_F(ReflectionTest, ASilentStreamIsNoPartOfARequest) {
  (void)ask(question(kAsksList, ""));
  one_.server.clock.advance(2 * kRequestNs);
  grpc_.chores();
  EXPECT_FALSE(one_.closed);
  EXPECT_EQ(name_of_file(ask(question(kAsksSymbol, "grpc.health.v1.Health"))),
            "grpc/health/v1/health.proto");
}

TEST_F(ReflectionTest, AStreamThatIsResetIsForgotten) {
  stream_ = client_.call(kReflectionPath, question(kAsksList, ""), {}, false);
  client_.reset(stream_);
  go();
  EXPECT_EQ(call(kHealthCheckPath, "").message(), "\x08\x01");
}

TEST(ProtoTables, EveryNameThatAFileUsesIsInItOrInWhatItImports) {
  std::vector<std::string> known;
  for (const ProtoFile& file : proto_files()) {
    for (const std::string& symbol : symbols_of(file)) known.push_back("." + symbol);
    const std::string bytes = written_file(file);
    EXPECT_EQ(all_at(bytes, {1}), std::vector<std::string>{file.name});
    std::vector<std::string> used = all_at(bytes, {4, 2, 6});
    for (const std::vector<uint32_t>& way :
         {std::vector<uint32_t>{4, 3, 2, 6}, {6, 2, 2}, {6, 2, 3}}) {
      for (std::string& name : all_at(bytes, way)) used.push_back(std::move(name));
    }
    for (const std::string& name : used)
      EXPECT_NE(std::ranges::find(known, name), known.end()) << file.name << " " << name;
  }
}

}  // namespace
}  // namespace weir::server::grpc
