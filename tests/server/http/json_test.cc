// JSON: what is read, what is refused, and what is written.
#include "server/http/format/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::server::http {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string again(std::string_view text) {
  const auto parsed = parse_json(text);
  return parsed ? text_of(*parsed) : parsed.error().line();
}

TEST(Json, IsWrittenAsItWasRead) {
  for (const std::string text :
       {R"({"a":[1,-2,true,false,null,"x"],"b":{},"c":[]})", R"("\"\\\b\f\n\r\t\u0001")", "[[],{}]",
        "9223372036854775807", "-9223372036854775808", "0.5", "\"gr\xc3\xbc\xc3\x9f\""}) {
    EXPECT_EQ(again(text), text);
  }
  EXPECT_EQ(again(" { \"a\" : \"\\u00e4\\/\" } \r\n"), "{\"a\":\"\xc3\xa4/\"}");
}

TEST(Json, ANumberKnowsWhetherItIsWhole) {
  EXPECT_EQ(parse_json("3")->kind, Json::Kind::kInteger);
  for (const char* real : {"3.0", "3e0", "9223372036854775808", "1e300", "-0.0"})
    EXPECT_EQ(parse_json(real)->kind, Json::Kind::kReal) << real;
}

TEST(Json, ANameThatStandsTwiceIsRefusedWhereverItStands) {
  EXPECT_EQ(again(R"({"key": "a", "limits": "10/1s", "key": "b"})"), "ERR key is given twice");
  EXPECT_EQ(again(R"({"key": 1, "\u006bey": 2})"), "ERR key is given twice");
  EXPECT_EQ(again(R"({"requests": [{}, {"take": {"cost": 1, "cost": 1}}]})"),
            "ERR requests[1].take.cost is given twice");
  EXPECT_EQ(again(R"([[{"a": {"b": 1}}, {"a": {"b": 1, "b": 1}}]])"),
            "ERR [0][1].a.b is given twice");
  EXPECT_EQ(again(R"({"a": {"c": 1}, "b": {"c": 1}})"), R"({"a":{"c":1},"b":{"c":1}})");
  EXPECT_EQ(again(R"({"key": "a\":{b:", "b": 1})"), R"({"key":"a\":{b:","b":1})");
}

TEST(Json, WhatIsNoneIsRefused) {
  for (const std::string text :
       {"", " ", "{", "[1,]", "{\"a\":}", "{a:1}", "01", "1 2", "nul", "'a'", "\"\xff\"",
        "\"\xed\xa0\x80\"", "\"\\ud800\"", "[1]]", "\"\n\"", "/**/1", "NaN"}) {
    EXPECT_THAT(again(text), StartsWith("ERR the body is no JSON: ")) << text;
  }
}

TEST(Json, HasBounds) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(again(nested(JsonBounds().depth_max)), nested(JsonBounds().depth_max));
  EXPECT_THAT(again(nested(JsonBounds().depth_max + 1)), HasSubstr("is no JSON"));
  EXPECT_THAT(again(std::string(60'000, '[')), HasSubstr("is no JSON"));
  std::string many = "{\"a\": {";
  for (size_t i = 0; i <= JsonBounds().members_max; ++i)
    many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  EXPECT_EQ(again(many + "}}"), "ERR a has more than 64 names");
}

TEST(Json, BytesThatAreNoTextAreToldByTheirDigits) {
  EXPECT_EQ(text_of(Json::bytes("k\xff")), R"({"hex":"6bff"})");
  EXPECT_EQ(text_of(Json::bytes("k\xc3\xa4")), "\"k\xc3\xa4\"");
  EXPECT_EQ(bytes_of_json(*parse_json(R"({"hex":"6bFF"})")), "k\xff");
  for (const char* wrong : {R"({"hex":"6"})", R"({"hex":"zz"})", R"({"hex":1})", "{}",
                            R"({"hex":"","a":1})", R"("6b")"})
    EXPECT_FALSE(bytes_of_json(*parse_json(wrong))) << wrong;
  resp::Value map;
  size_t consumed = 0;
  resp::decode("%1\r\n$1\r\n\xff\r\n$1\r\n\xfe\r\n", &map, &consumed);
  EXPECT_EQ(text_of(json_of(map)), R"({"ff":{"hex":"fe"}})");
}

}  // namespace
}  // namespace weir::server::http
