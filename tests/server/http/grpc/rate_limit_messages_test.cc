// The messages of Envoy's rate limit service.
#include "server/http/grpc/rate_limit_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/protobuf.h"
#include "server/http/grpc/wire.h"
#include "tests/server/http/grpc/rate_limit_client.h"

namespace weir::server::grpc {
namespace {

using testing::HasSubstr;
using namespace std::string_view_literals;

// In the text form of protoc:
//     domain: "d" hits_addend: 2
//     descriptors { entries { key: "a" value: "1" } entries { key: "b" value: "" }
//                   limit { requests_per_unit: 300 unit: HOUR } hits_addend { value: 0 } }
//     descriptors { entries { key: "c" value: "3" } hits_addend { value: 7 }
//                   is_negative_hits: true }
constexpr std::string_view kEncoded =
    "\x0a\x01"
    "d"
    "\x12\x16"
    "\x0a\x06\x0a\x01"
    "a"
    "\x12\x01"
    "1"
    "\x0a\x03\x0a\x01"
    "b"
    "\x12\x05\x08\xac\x02\x10\x03"
    "\x1a\x00"
    "\x12\x0e"
    "\x0a\x06\x0a\x01"
    "c"
    "\x12\x01"
    "3"
    "\x1a\x02\x08\x07"
    "\x20\x01"
    "\x18\x02"sv;

TEST(RateLimitMessages, ARequestIsRead) {
  const auto request = read_rate_limit_request(kEncoded);
  ASSERT_TRUE(request) << request.error();
  EXPECT_EQ(request->domain, "d");
  EXPECT_EQ(request->hits, 2u);
  ASSERT_EQ(request->descriptors.size(), 2u);
  const Descriptor& first = request->descriptors[0];
  ASSERT_EQ(first.entries.size(), 2u);
  EXPECT_EQ(first.entries[0].name, "a");
  EXPECT_EQ(first.entries[0].value, "1");
  EXPECT_EQ(first.entries[1].name, "b");
  EXPECT_EQ(first.entries[1].value, "");
  EXPECT_EQ(first.limit->requests, 300u);
  EXPECT_EQ(first.limit->unit, 3u);
  EXPECT_EQ(first.hits, 0u);
  EXPECT_FALSE(first.gives_back);
  const Descriptor& second = request->descriptors[1];
  EXPECT_FALSE(second.limit.has_value());
  EXPECT_EQ(second.hits, 7u);
  EXPECT_TRUE(second.gives_back);
}

TEST(RateLimitMessages, HitsThatAreLeftOutAreOne) {
  const auto request = read_rate_limit_request("");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->hits, 1u);
  EXPECT_EQ(read_rate_limit_request("\x18\x00"sv)->hits, 1u);
}

TEST(RateLimitMessages, BytesThatAreNoRequest) {
  EXPECT_EQ(read_rate_limit_request("\xff").error(), "this is no RateLimitRequest");
  for (const std::string_view inside :
       {"\xff"sv, "\x0a\x01\xff"sv, "\x12\x01\xff"sv, "\x1a\x01\xff"sv}) {
    ProtobufWriter writer;
    writer.bytes(2, "");
    writer.bytes(2, inside);
    EXPECT_EQ(read_rate_limit_request(writer.message()).error(), "descriptor 1 is no message");
  }
}

TEST(RateLimitMessages, HaveBounds) {
  AskedDescriptor descriptor;
  for (size_t i = 0; i < kDescriptorEntriesMax; ++i) descriptor.entries.push_back({"n", "v"});
  std::vector<AskedDescriptor> many(kDescriptorsMax, descriptor);
  EXPECT_TRUE(read_rate_limit_request(request_bytes("d", many)));
  many.emplace_back();
  EXPECT_EQ(read_rate_limit_request(request_bytes("d", many)).error(),
            "a request has at most 64 descriptors");
  descriptor.entries.push_back({"n", "v"});
  EXPECT_EQ(read_rate_limit_request(request_bytes("d", {descriptor})).error(),
            "a descriptor has at most 32 entries");
}

// In the text form of protoc:
//     overall_code: OVER_LIMIT
//     statuses { code: OK }
//     statuses { code: OVER_LIMIT current_limit { requests_per_unit: 10 unit: MINUTE name: "p" }
//                limit_remaining: 3 duration_until_reset { seconds: 1 nanos: 500000000 } }
//     response_headers_to_add { key: "n" value: "v" }
TEST(RateLimitMessages, AResponseIsWritten) {
  const RateLimitResponse response = {
      .verdict = Verdict::kOverLimit,
      .statuses = {{},
                   {.verdict = Verdict::kOverLimit,
                    .limit = CurrentLimit{.name = "p", .requests = 10, .unit = Unit::kMinute},
                    .remaining = 3,
                    .reset_ms = 1500}},
      .headers = {{"n", "v"}}};
  EXPECT_EQ(written(response),
            "\x08\x02"
            "\x12\x02\x08\x01"
            "\x12\x17\x08\x02"
            "\x12\x07\x08\x0a\x10\x02\x1a\x01"
            "p"
            "\x18\x03"
            "\x22\x08\x08\x01\x10\x80\xca\xb5\xee\x01"
            "\x1a\x06\x0a\x01"
            "n"
            "\x12\x01"
            "v"sv);
}

}  // namespace
}  // namespace weir::server::grpc
