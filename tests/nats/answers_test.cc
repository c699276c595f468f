// What servers say is looked at as if anybody had said it.
#include "storage/shared_logs/nats/answers.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "storage/shared_logs/nats/address.h"
#include "storage/shared_logs/nats/names.h"
#include "storage/shared_logs/nats/outcome.h"
#include "storage/shared_logs/nats/session.h"

namespace weir::storage::nats {
namespace {

using Outcome = replication::Appended::Outcome;
using replication::Head;

AppendEnd end_by(const std::string& answer,
                 const std::optional<replication::Head>& expected = std::nullopt) {
  return end_of_append({.kind = Reply::Kind::kAnswer, .text = answer}, "weir_main", expected, 7);
}

TEST(NatsAnswers, AnAppendIsDoneOnlyIfTheStreamHasStoredItNow) {
  const AppendEnd end = end_by(R"({"stream":"weir_main","seq":12})");
  EXPECT_EQ(end.told.outcome, Outcome::kDone);
  EXPECT_EQ(end.told.head, (Head{12, 7}));
  EXPECT_EQ(end_by(R"({"stream":"weir_main","seq":18446744073709551615})").told.head.log_index,
            UINT64_MAX);
  EXPECT_EQ(end_by(R"({"stream":"weir_main","seq":12})", Head{11, 1}).told.outcome, Outcome::kDone);
  for (const uint64_t log_index : {uint64_t{0}, uint64_t{10}, uint64_t{12}, UINT64_MAX})
    EXPECT_EQ(end_by(R"({"stream":"weir_main","seq":12})", Head{log_index, 1}).told.outcome,
              Outcome::kUnknown)
        << "it was to follow another one";
  for (const char* const other :
       {R"({"stream":"weir_main","seq":12,"duplicate":true})", R"({"stream":"other","seq":12})",
        R"({"stream":"weir_main","seq":0})", R"({"stream":"weir_main","seq":-1})",
        R"({"stream":"weir_main","seq":"12"})", R"({"stream":"weir_main"})", "", "+OK", "[]", "12",
        R"({"stream":"weir_main","seq":12)", R"({"error":{},"stream":"weir_main","seq":12})",
        R"({"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}})"})
    EXPECT_EQ(end_by(other).told.outcome, Outcome::kUnknown) << other;
}

TEST(NatsAnswers, AnAppendIsRefusedOnlyByItsCondition) {
  for (const char* const code : {"10071", "10164"}) {
    const std::string answer = R"({"error":{"code":400,"err_code":)" + std::string(code) +
                               R"(,"description":"wrong last sequence: 3"},"stream":"weir_main"})";
    EXPECT_EQ(end_by(answer).told.outcome, Outcome::kRefused);
  }
  using Kind = Reply::Kind;
  for (const Kind kind : {Kind::kNobody, Kind::kExpired, Kind::kLost}) {
    const AppendEnd end = end_of_append({.kind = kind, .text = ""}, "weir_main", Head{}, 7);
    EXPECT_EQ(end.told.outcome, Outcome::kUnknown);
    EXPECT_FALSE(end.trouble.empty());
  }
}

TEST(NatsAnswers, AMessage) {
  const auto got = message(
      R"({"type":"io.nats.jetstream.api.v1.stream_msg_get_response","message":{"subject":"a.b",)"
      R"("seq":3,"hdrs":"TkFUUy8xLjANCldlaXItQ3JjOiAwYg0KDQo=","data":"aGk=",)"
      R"("time":"1970-01-01T00:01:00.5Z"}})");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->sequence, 3u);
  EXPECT_EQ(got->subject, "a.b");
  EXPECT_EQ(got->data, "hi");
  EXPECT_EQ(header(got->headers, "Weir-Crc"), "0b");
  EXPECT_EQ(header(got->headers, "Weir-Cr"), "");
  EXPECT_EQ(header(got->headers, "NATS/1.0"), "");
  EXPECT_EQ(got->time_ns, 60'500'000'000);
  for (const char* const other :
       {R"({"message":{"seq":3,"data":"aGk"}})", R"({"message":{"seq":3,"data":"a=Gk"}})",
        R"({"message":{"seq":3,"hdrs":"\u0000\u0000\u0000\u0000"}})", R"({"message":{}})",
        R"({"message":[3]})", R"({"message":null})"})
    EXPECT_EQ(message(other).error().code, 0) << other;
  EXPECT_EQ(message(R"({"error":{"err_code":10037}})").error().code, kNoMessage);
  EXPECT_EQ(message(R"({"message":{"seq":1,"time":"2026-13-99T99:99:99Zx"}})")->time_ns, 0);
  EXPECT_EQ(message(R"({"message":{"seq":1,"time":"2261-99-99T99:99:99Z"}})")->time_ns, 0);
}

TEST(NatsAnswers, DeepAndLongOnesAreNotUnderstood) {
  const std::string deep = R"({"error":)" + std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_FALSE(done(deep + "}"));
  EXPECT_FALSE(done("{\"a\":\"" + std::string(kAnswerBytesMax, 'a') + "\"}"));
  const auto odd =
      done(R"({"error":{"err_code":1,"description":")" + std::string(5000, 'x') + R"(\n"}})");
  EXPECT_LE(odd.error().text.size(), 503u);
}

TEST(NatsAnswers, Base64) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("AA=="), std::string(1, '\0'));
  EXPECT_EQ(decode_base64("/+8="), "\xff\xef");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
  for (const char* const other : {"A", "AA", "AAA", "A===", "====", "AA==AAAA", "A A=", "AA=A"})
    EXPECT_EQ(decode_base64(other), std::nullopt) << other;
}

StreamInfo info_of(const std::string& version, const std::string& setting = "") {
  std::string answer = R"({"config":{"name":"weir_main","subjects":["weir.main.log.*"],)";
  answer += R"("storage":"file","retention":"limits","discard":"new","num_replicas":3,)";
  answer += R"("max_msgs":-1,"max_msg_size":-1,)" + setting;
  answer += R"("metadata":{"_nats.ver":")" + version + R"("}},)";
  answer += R"("cluster":{"replicas":[{"active":5000},{"active":10000000000}]},)";
  const auto info = stream_info(answer + R"("state":{"last_seq":5}})");
  EXPECT_TRUE(info);
  return *info;
}

TEST(NatsAnswers, OldServersAndOtherSettingsAreWeak) {
  for (const char* const version : {"2.12.7", "2.12.15", "2.13.0-RC.1", "2.15.2", "3.0.0"})
    EXPECT_EQ(weakness_of(info_of(version)), "") << version;
  for (const char* const version : {"2.12.6", "2.11.99", "1.99.99", "", "two", "2.12"})
    EXPECT_NE(weakness_of(info_of(version)), "") << version;
  for (const char* const setting :
       {R"("max_age":5,)", R"("persist_mode":"async",)", R"("sealed":true,)", R"("mirror":{},)",
        R"("storage":"memory",)", R"("discard":"old",)", R"("max_msg_size":4096,)",
        R"("first_seq":1000,)", R"("subjects":["weir.other.log.*"],)", R"("subjects":[],)",
        R"("subjects":["weir.main.log.*","x"],)"})
    EXPECT_NE(weakness_of(info_of("2.15.2", setting)), "") << setting;
}

TEST(NatsAnswers, CopiesAreThoseThatAreHeardOf) {
  EXPECT_EQ(info_of("2.15.2").copies, 2u);
  EXPECT_EQ(info_of("2.15.2").replicas, 3u);
}

TEST(NatsNames, AreSafe) {
  const Names names("a.b *>");
  EXPECT_EQ(names.log_stream(), "weir_a=2eb=20=2a=3e");
  EXPECT_EQ(names.log_subject(0x123456789abcdef0), "weir.a=2eb=20=2a=3e.log.def0");
  for (const std::string name : {"", "node-1_A", "=", "a=2e", "\xff\n.", "a b"})
    EXPECT_EQ(name_of(token_of(name)), name);
  for (const char* const odd : {"=", "=2", "=zz", "a="}) EXPECT_EQ(name_of(odd), odd);
  uint64_t number = 0;
  EXPECT_TRUE(parse_hex(hex_of(0xfedcba9876543210), &number));
  EXPECT_EQ(number, 0xfedcba9876543210);
  for (const char* const odd :
       {"", "1", "00000000000000-1", "0x00000000000000", "000000000000000g"})
    EXPECT_FALSE(parse_hex(odd, &number)) << odd;
}

TEST(NatsAddress, HostsAndTheirPorts) {
  const auto address = parse_address("nats://weir@a,b.example:4333,[::1],10.0.0.1:1");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->user, "weir");
  EXPECT_EQ(address->hosts,
            (std::vector<std::string>{"a:4222", "b.example:4333", "[::1]:4222", "10.0.0.1:1"}));
  EXPECT_EQ(parse_address("nats://a")->user, "");
  EXPECT_EQ(parse_address("nats://a:1,nats://b,c")->hosts,
            (std::vector<std::string>{"a:1", "b:4222", "c:4222"}));
  for (const char* const other :
       {"nats://", "nats://a,", "nats://a:0", "nats://a:65536", "nats://a:x", "nats://a b",
        "nats://a/b", "nats://@a", "nats://[::1", "nats://[]:1", "http://a", "nats://a,tls://b",
        "nats://a,nats://nats://b"})
    EXPECT_FALSE(parse_address(other)) << other;
}

TEST(NatsAddress, Encrypted) {
  const auto address = parse_address("tls://weir@a,b?tlskey=/k&tlsca=/the ca=1&tlscert=/c");
  ASSERT_TRUE(address);
  EXPECT_TRUE(address->is_encrypted);
  EXPECT_EQ(address->hosts.size(), 2u);
  EXPECT_EQ(address->authority_file, "/the ca=1");
  EXPECT_EQ(address->certificate_file, "/c");
  EXPECT_EQ(address->key_file, "/k");
  EXPECT_TRUE(parse_address("tls://a")->authority_file.empty());
  EXPECT_FALSE(parse_address("nats://a")->is_encrypted);
  for (const char* const other :
       {"tls://", "tls://a?", "tls://a?tlsca=", "tls://a?tlsca=ca", "tls://a?tlsca=/a&",
        "tls://a?tlsca=/a&tlsca=/b", "tls://a?ca=/a", "nats://a?tlsca=/a", "tls://?tlsca=/a",
        "tls://a?tlscert=/a", "tls://a?tlskey=/a", "tls://a?tlsca=/a?tlscert=/b"})
    EXPECT_FALSE(parse_address(other)) << other;
}

TEST(NatsAddress, APasswordIsRefusedAndNotRepeated) {
  for (const char* const text :
       {"nats://weir:secret@a", "nats://weir:secret/@a b", "tls://weir:secret@a?tlsca=/a",
        "tls://weir:what?secret@a", "tls://a?tlsca=/a&secret"}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address);
    EXPECT_EQ(address.error().find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace weir::storage::nats
