// HTTP/2 to a whole server: what a client may do, and what ends its connection.
#include "server/http/grpc/http2.h"

#include "tests/server/http/grpc/grpc_fixture.h"

namespace weir::server::grpc {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Http2Test = GrpcTest;

// A frame's head and its payload.
std::string frame(size_t size, uint8_t type, uint8_t flags, uint32_t stream,
                  std::string_view payload) {
  std::string bytes;
  for (const int shift : {16, 8, 0}) bytes.push_back(static_cast<char>(size >> shift));
  bytes += {static_cast<char>(type), static_cast<char>(flags)};
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(stream >> shift));
  return bytes.append(payload);
}

std::string preface() {
  return std::string(NGHTTP2_CLIENT_MAGIC) + frame(0, NGHTTP2_SETTINGS, 0, 0, "");
}

TEST_F(Http2Test, TheServerTellsItsBounds) {
  go();
  EXPECT_EQ(client_.server_setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS), kStreamsMax);
  EXPECT_EQ(client_.server_setting(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE), kHeaderBytesMax);
}

TEST_F(Http2Test, BytesMayArriveOneByOne) {
  const int32_t stream = client_.call(kHealthCheckPath, "");
  for (const char byte : client_.bytes()) {
    EXPECT_FALSE(client_.of(stream).is_over);
    one_.receives(std::string(1, byte));
    grpc_.read();
  }
  EXPECT_EQ(client_.of(stream).status(), "0");
  EXPECT_TRUE(client_.of(stream).is_over);
}

TEST_F(Http2Test, ManyCallsOfAConnectionAreAnswered) {
  std::vector<int32_t> streams;
  for (int i = 0; i < 300; ++i) streams.push_back(client_.call(kHealthCheckPath, ""));
  go();  // the client waits by itself where it has as many open as it may
  for (const int32_t stream : streams) EXPECT_EQ(client_.of(stream).status(), "0") << stream;
  EXPECT_EQ(one_.server->report().stats.grpc_requests, 300u);
}

TEST_F(Http2Test, WhoSpeaksAnotherProtocolIsToldSo) {
  one_.receives("GET / HTTP/1.1\r\nHost: weir\r\n\r\n");
  EXPECT_THAT(one_.stream.sent, StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  const size_t end = one_.stream.sent.find("\r\n\r\n");
  EXPECT_THAT(one_.stream.sent,
              HasSubstr("\r\nContent-Length: " + std::to_string(one_.stream.sent.size() - end - 4) +
                        "\r\n"));
  EXPECT_TRUE(one_.closed);
}

TEST_F(Http2Test, AHeaderThatIsTooLargeIsRefused) {
  const auto& answer = call(kHealthCheckPath, "", {{"x", std::string(kHeaderBytesMax, 'x')}});
  EXPECT_EQ(answer.status(), "8");
  EXPECT_THAT(answer.text(), HasSubstr("8192 bytes of header"));
  EXPECT_EQ(call(kHealthCheckPath, "").status(), "0");  // others go on
}

// Each byte stands for a field of 4,000 bytes, which is looked at in so many streams as may be.
TEST_F(Http2Test, AHeaderThatGrowsWhenItIsDecompressedIsResetSoon) {
  const std::string field = std::string("\x40\x01x\x7f\xa1\x1e", 6) + std::string(4000, 'a');
  const auto headers = [&](uint32_t stream, const std::string& block) {
    return frame(block.size(), NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, stream, block);
  };
  go();
  const uint64_t before = one_.server->work().units();
  one_.receives(headers(1, field + std::string(12'000, '\xbe')));
  EXPECT_LT(one_.server->work().units() - before, 500u);
  EXPECT_GT(one_.server->work().units() - before, 2 * kHeaderBytesMax / 256);
  EXPECT_FALSE(one_.closed);
  EXPECT_THAT(one_.stream.sent, HasSubstr(frame(4, NGHTTP2_RST_STREAM, 0, 1, "").substr(3)));
}

TEST_F(Http2Test, WhoSendsTooMuchAndGoesOnIsToldSoToo) {
  const int32_t stream =
      client_.call(kHealthCheckPath, std::string(kMessageBytesMax + 100, 'x'), {}, false);
  go();
  EXPECT_EQ(client_.of(stream).status(), "8");
  EXPECT_TRUE(client_.of(stream).is_over);
}

TEST_F(Http2Test, ABodyThatIsTooLargeIsRefused) {
  EXPECT_EQ(call(kHealthCheckPath, std::string(kMessageBytesMax + 1, 'x')).status(), "8");
  EXPECT_NE(call(kHealthCheckPath, std::string(kMessageBytesMax, 'x')).status(), "8");
}

TEST_F(Http2Test, AClientThatLeavesEndsItsConnection) {
  EXPECT_EQ(call(kHealthCheckPath, "").status(), "0");
  nghttp2_submit_goaway(client_.session(), NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, nullptr, 0);
  go();
  EXPECT_TRUE(one_.closed);
}

TEST_F(Http2Test, FramesThatAreWrongEndTheConnection) {
  one_.receives(preface() + frame(4, NGHTTP2_WINDOW_UPDATE, 0, 0, std::string(4, '\0')));
  const std::string goaway = frame(0, NGHTTP2_GOAWAY, 0, 0, "").substr(3);
  EXPECT_THAT(one_.stream.sent, HasSubstr(goaway));
  EXPECT_TRUE(one_.closed);
}

// Each makes room for another before its work is paid. The library counts by its own clock.
TEST_F(Http2Test, WhoResetsStreamsFastIsSentAway) {
  uint64_t resets = 0;
  for (; resets < 100 * kResetsAtOnce && !one_.closed; ++resets) {
    const int32_t stream = client_.call(kHealthCheckPath, "", {}, false);
    go();
    client_.reset(stream);
    go();
  }
  EXPECT_TRUE(one_.closed);
  EXPECT_TRUE(client_.is_sent_away);
  EXPECT_GE(resets, kResetsAtOnce);
}

TEST_F(Http2Test, AFloodOfSettingsEndsTheConnection) {
  std::string bytes = preface();
  for (int i = 0; i < 1'700; ++i) bytes += frame(0, NGHTTP2_SETTINGS, 0, 0, "");
  one_.receives(bytes);
  EXPECT_TRUE(one_.closed);
}

TEST_F(Http2Test, PingsAreAnsweredAsFastAsTheirAnswersAreTaken) {
  std::string bytes = preface();
  for (int i = 0; i < 10; ++i) bytes += frame(8, NGHTTP2_PING, 0, 0, "12345678");
  one_.stream.send_says(Transfer::Result::kWantsWrite);
  one_.receives(bytes);
  EXPECT_EQ(one_.stream.sent, "");
  EXPECT_FALSE(one_.watcher.interest.read);  // nothing more is read meanwhile
  one_.ready(kWrite);
  EXPECT_THAT(one_.stream.sent, HasSubstr("12345678"));
  EXPECT_TRUE(one_.watcher.interest.read);
}

TEST_F(Http2Test, AnAnswerWaitsForTheClientsWindow) {
  const nghttp2_settings_entry nothing = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
  nghttp2_submit_settings(client_.session(), NGHTTP2_FLAG_NONE, &nothing, 1);
  const int32_t stream = client_.call(kHealthCheckPath, "");
  go();
  EXPECT_EQ(client_.of(stream).body, "");
  EXPECT_FALSE(client_.of(stream).is_over);
  nghttp2_submit_window_update(client_.session(), NGHTTP2_FLAG_NONE, stream, 1000);
  go();
  EXPECT_EQ(client_.of(stream).status(), "0");
}

TEST_F(Http2Test, WhoDoesNotSendTheRestIsEnded) {
  client_.call(kHealthCheckPath, "", {}, false);
  go();
  one_.server.clock.advance(kRequestNs);
  grpc_.chores();
  EXPECT_FALSE(one_.closed);
  one_.server.clock.advance(1);
  grpc_.chores();
  EXPECT_TRUE(one_.closed);
}

TEST_F(Http2Test, WhoSaysNothingIsEndedAndWhoHasSaidWhatHeIsStays) {
  one_.server.clock.advance(kRequestNs + 1);
  grpc_.chores();
  EXPECT_TRUE(one_.closed);
  one_.open_grpc();
  one_.receives(preface());
  one_.server.clock.advance(1000 * kRequestNs);
  grpc_.chores();
  EXPECT_FALSE(one_.closed);
}

TEST_F(Http2Test, WhoDoesNotTakeItsAnswersIsEnded) {
  const nghttp2_settings_entry nothing = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
  nghttp2_submit_settings(client_.session(), NGHTTP2_FLAG_NONE, &nothing, 1);
  client_.call(kHealthCheckPath, "");
  go();
  one_.server.clock.advance(kAnswerNs + 1);
  grpc_.chores();
  EXPECT_TRUE(one_.closed);
}

TEST_F(Http2Test, WhoAsksAfterALongSilenceHasTimeToTakeTheAnswer) {
  const nghttp2_settings_entry nothing = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
  nghttp2_submit_settings(client_.session(), NGHTTP2_FLAG_NONE, &nothing, 1);
  go();
  one_.server.clock.advance(10 * kAnswerNs);
  client_.call(kHealthCheckPath, "");
  go();
  grpc_.chores();
  EXPECT_FALSE(one_.closed);
  one_.server.clock.advance(kAnswerNs + 1);
  grpc_.chores();
  EXPECT_TRUE(one_.closed);
}

TEST_F(Http2Test, WhoTakesButWhatHttp2SaysOfItselfIsEndedToo) {
  const nghttp2_settings_entry nothing = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
  nghttp2_submit_settings(client_.session(), NGHTTP2_FLAG_NONE, &nothing, 1);
  client_.call(kHealthCheckPath, "");
  go();
  for (int i = 0; i < 4 && !one_.closed; ++i) {
    one_.server.clock.advance(kAnswerNs / 3);
    nghttp2_submit_ping(client_.session(), NGHTTP2_FLAG_NONE, nullptr);
    go();
    grpc_.chores();
  }
  EXPECT_TRUE(one_.closed);
}

// Whatever a client has the server keep counts as his.
TEST_F(Http2Test, WhatIsKeptIsCounted) {
  go();
  const auto kept = [&] { return one_.session->memory_bytes(); };
  const size_t before = kept();
  EXPECT_GT(before, 4'000u);  // nghttp2's own
  for (uint32_t i = 0; i < 8; ++i)
    client_.call(kHealthCheckPath, std::string(8'000, 'x'), {}, false);
  go();
  EXPECT_GT(kept(), before + 8 * 8'000);
  EXPECT_GE(one_.server->sessions().bounds().bytes(), kept());
  for (int32_t stream = 1; stream < 16; stream += 2) client_.reset(stream);
  go();
  EXPECT_LT(kept(), before + 8'000);
}

class SmallMemoryTest : public GrpcTest {
 protected:
  static Config small() {
    Config config;
    config.maxmemory_clients = 256 << 10;
    return config;
  }
  SmallMemoryTest() : GrpcTest(small()) {}
};

TEST_F(SmallMemoryTest, WhatIsKeptFallsUnderMaxmemoryClients) {
  go();
  EXPECT_FALSE(one_.closed);
  for (uint32_t i = 0; i < 40 && !one_.closed; ++i) {
    client_.call(kHealthCheckPath, std::string(8'000, 'x'), {}, false);
    go();
  }
  EXPECT_TRUE(one_.closed);
}

}  // namespace
}  // namespace weir::server::grpc
