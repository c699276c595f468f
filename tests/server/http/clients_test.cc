// Who makes room for one more client of a port that speaks HTTP.
#include "server/http/clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/connection_fixture.h"

namespace weir::server {
namespace {

using testing::StartsWith;

class HttpRoom : public testing::Test {
 protected:
  HttpRoom() {
    one_.server->config().http_maxclients = 1;
    one_.open_http();
  }

  OneConnection one_;
  http::Clients& clients_ = one_.clients;
};

TEST_F(HttpRoom, TheSilentMakesRoom) {
  EXPECT_TRUE(clients_.make_room());
  EXPECT_TRUE(one_.closed);
  EXPECT_EQ(clients_.count(), 0u);
}

TEST_F(HttpRoom, ABegunRequestMakesRoom) {
  one_.receives("GET");
  EXPECT_TRUE(clients_.make_room());
  EXPECT_TRUE(one_.closed);
}

TEST_F(HttpRoom, WhoTakesNoAnswerMakesRoomAndWhoWaitsForOneDoesNot) {
  const auto other = one_.server.connect();
  EXPECT_THAT(other->call({"CLIENT", "PAUSE", "1000", "ALL"}), StartsWith("+OK"));
  one_.receives("GET /v1/gate?limits=FIXED+2/1h&key=k HTTP/1.1\r\nHost: weir\r\n\r\n");
  EXPECT_EQ(one_.stream.sent, "");
  EXPECT_FALSE(clients_.make_room()) << "weir is who takes long";
  one_.stream.send_says(Transfer::Result::kWantsWrite);
  one_.server.clock.advance(2 * kNsPerS);
  one_.server->tick();
  for (Session* session : one_.server->sessions().holds().take_runnable()) session->resume(10);
  one_.end_turn();
  EXPECT_TRUE(clients_.make_room());
  EXPECT_TRUE(one_.closed);
  other->leave();
}

TEST_F(HttpRoom, WhoSendsOnAfterARefusalMakesRoom) {
  one_.receives("NONSENSE\r\n\r\n");
  EXPECT_THAT(one_.stream.sent, StartsWith("HTTP/1.1 400 "));
  EXPECT_FALSE(one_.closed);
  EXPECT_TRUE(clients_.make_room());
}

}  // namespace
}  // namespace weir::server
