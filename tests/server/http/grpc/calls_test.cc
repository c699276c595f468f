// Calls of gRPC: their frames, their statuses, and whether the server is well.
#include "base/protobuf.h"
#include "tests/server/http/grpc/grpc_fixture.h"

namespace weir::server::grpc {
namespace {

using testing::HasSubstr;

using CallsTest = GrpcTest;

std::string asked_for(std::string_view service) {
  ProtobufWriter request;
  request.text(1, service);
  return request.message();
}

TEST_F(CallsTest, HealthIsServing) {
  const auto& answer = call(kHealthCheckPath, "");
  EXPECT_EQ(answer.fields.at(":status"), "200");
  EXPECT_EQ(answer.fields.at("content-type"), "application/grpc");
  EXPECT_EQ(answer.status(), "0");
  EXPECT_EQ(answer.message(), "\x08\x01");
  EXPECT_EQ(call(kHealthCheckPath, asked_for(kRateLimitService)).message(), "\x08\x01");
  EXPECT_EQ(call(kHealthCheckPath, asked_for("another")).status(), "5");
  EXPECT_EQ(call(kHealthCheckPath, "\xff").status(), "3");
}

TEST_F(CallsTest, HealthIsNotServingWhereTheDiskTakesNothing) {
  one_.server.disk().faults.append_lost = 1;
  const auto client = one_.server.connect();
  client->call({"SET", "k", "v"});
  client->leave();
  EXPECT_EQ(call(kHealthCheckPath, "").message(), "\x08\x02");
}

TEST_F(CallsTest, WhatIsNotThereIsUnimplemented) {
  const auto& answer = call("/grpc.health.v1.Health/Watch", "");
  EXPECT_EQ(answer.status(), "12");
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(answer.fields.at(":status"), "200");
  EXPECT_EQ(one_.server->report().stats.grpc_failed, 1u);
}

TEST_F(CallsTest, OtherContentIsNoCall) {
  TestFields fields = GrpcClient::fields_of(kHealthCheckPath);
  fields[4].second = "application/json";
  const int32_t stream = client_.ask(fields, "{}");
  fields[4].second = "application/grpc+proto";
  const int32_t call = client_.ask(fields, framed(""));
  go();
  EXPECT_EQ(client_.of(stream).fields.at(":status"), "415");
  EXPECT_EQ(client_.of(call).status(), "0");
}

TEST_F(CallsTest, FramesOfMessages) {
  const auto status = [&](std::string body) {
    const int32_t stream = client_.ask(GrpcClient::fields_of(kHealthCheckPath), std::move(body));
    go();
    return client_.of(stream).status();
  };
  EXPECT_EQ(status(framed("")), "0");
  EXPECT_EQ(status(""), "3");
  EXPECT_EQ(status(std::string(4, '\0')), "3");
  EXPECT_EQ(status(framed(asked_for("x")).substr(0, 6)), "3");
  EXPECT_EQ(status(framed("") + framed("")), "3");
  EXPECT_EQ(status(framed("") + "\x10\x01"), "3");
  EXPECT_EQ(status("\x01" + framed("").substr(1)), "12");  // compressed
}

TEST(GrpcStatus, OfErrors) {
  const auto code = [](std::string_view error) {
    return static_cast<int>(status_of_error(error).code);
  };
  EXPECT_EQ(code("ERR no policy is named 'x'"), 9);
  EXPECT_EQ(code("ERR internal error: see the log"), 13);
  EXPECT_EQ(code("NOPERM this user may not"), 7);
  EXPECT_EQ(code("NOAUTH Authentication required."), 16);
  EXPECT_EQ(code("WRONGPASS invalid"), 16);
  EXPECT_EQ(code("MISCONF the disk is full"), 14);
  EXPECT_EQ(code("READONLY a standby"), 14);
  EXPECT_EQ(code("OOM command not allowed"), 14);
}

TEST(GrpcStatus, TextIsPercentEncoded) {
  EXPECT_EQ(percent_encoded("a b%\n\xc3\xa9"), "a b%25%0A%C3%A9");
}

}  // namespace
}  // namespace weir::server::grpc
