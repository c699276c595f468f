// CLIENT, between several clients of one server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class ClientCommands : public testing::Test {
 protected:
  FakeServer server_;
  std::unique_ptr<FakeClient> me_ = server_.connect();
  std::unique_ptr<FakeClient> other_ = server_.connect();
};

TEST_F(ClientCommands, NamesAreWords) {
  constexpr const char* kError =
      "-ERR Client names cannot contain spaces, newlines or special characters.\r\n";
  EXPECT_EQ(me_->call({"CLIENT", "GETNAME"}), "$-1\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "SETNAME", "worker-1"}), kOk);
  for (const char* name : {"a b", "a\n", "\xc3\xa4", "\x7f", "\t"}) {
    EXPECT_EQ(me_->call({"CLIENT", "SETNAME", name}), kError) << name;
  }
  EXPECT_EQ(me_->call({"CLIENT", "GETNAME"}), bulk("worker-1"));
  const std::string longest(Client::kNameBytesMax, 'x');
  EXPECT_EQ(me_->call({"CLIENT", "SETNAME", longest}), kOk);
  EXPECT_EQ(me_->call({"CLIENT", "SETNAME", longest + "x"}),
            "-ERR Client names may have at most 1024 bytes, got one of 1025\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "SETINFO", "LIB-VER", longest + "x"}),
            "-ERR LIB-VER may have at most 1024 bytes, got one of 1025\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "GETNAME"}), bulk(longest));
  EXPECT_EQ(me_->call({"CLIENT", "SETNAME", ""}), kOk);
  EXPECT_EQ(me_->call({"CLIENT", "GETNAME"}), "$-1\r\n");
}

TEST_F(ClientCommands, LibrariesIntroduceThemselves) {
  EXPECT_EQ(me_->call({"CLIENT", "SETINFO", "lib-name", "redis-py"}), kOk);
  EXPECT_EQ(me_->call({"client", "setinfo", "LIB-VER", "8.1.0"}), kOk);
  EXPECT_EQ(me_->call({"CLIENT", "SETINFO", "LIB-NAME", "hello world"}),
            "-ERR LIB-NAME cannot contain spaces, newlines or special characters.\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "SETINFO", "lib-mood", "x"}),
            "-ERR Unrecognized option 'lib-mood'\r\n");
  EXPECT_THAT(me_->call({"CLIENT", "INFO"}), HasSubstr(" lib-name=redis-py lib-ver=8.1.0\n"));
}

TEST_F(ClientCommands, InfoDescribesTheConnection) {
  me_->call({"SELECT", "3"});
  server_.clock.advance(7 * kSecond);
  EXPECT_THAT(
      me_->call({"CLIENT", "INFO"}),
      MatchesRegex(
          "\\$[0-9]+\r\nid=1 addr=127.0.0.1:50001 laddr=127.0.0.1:1 fd=-1 name= age=7 idle=0 "
          "flags=N db=3 sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=[0-9]+ argv-mem=0 "
          "multi-mem=0 rbs=[0-9]+ rbp=0 obl=0 oll=0 omem=0 tot-mem=[0-9]+ events=r "
          "cmd=client\\|info user=default redir=-1 resp=2 lib-name= lib-ver=\n\r\n"));
}

TEST_F(ClientCommands, ListChooses) {
  const std::string all = me_->call({"CLIENT", "LIST"});
  EXPECT_THAT(all, HasSubstr("\r\nid=1 "));
  EXPECT_THAT(all, HasSubstr("\nid=2 "));
  EXPECT_THAT(all, HasSubstr(" cmd=NULL "));
  EXPECT_THAT(me_->call({"CLIENT", "LIST", "ID", "2", "7"}), StartsWith("$"));
  EXPECT_THAT(me_->call({"CLIENT", "LIST", "ID", "2", "7"}), HasSubstr("\r\nid=2 "));
  EXPECT_EQ(me_->call({"CLIENT", "LIST", "ID", "-1"}), bulk(""));
  EXPECT_EQ(me_->call({"CLIENT", "LIST", "ID", "x"}), "-ERR Invalid client ID\r\n");
  EXPECT_THAT(me_->call({"CLIENT", "LIST", "TYPE", "normal"}), HasSubstr("\nid=2 "));
  EXPECT_EQ(me_->call({"CLIENT", "LIST", "TYPE", "pubsub"}), bulk(""));
  EXPECT_EQ(me_->call({"CLIENT", "LIST", "TYPE", "x"}), "-ERR Unknown client type 'x'\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "LIST", "x"}), "-ERR syntax error\r\n");
}

TEST_F(ClientCommands, KillEndsOthers) {
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "ID", "2"}), ":1\r\n");
  EXPECT_TRUE(other_->closed());
  EXPECT_FALSE(me_->closed());
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "ID", "2"}), ":0\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "LIST", "ID", "2"}), bulk(""));
}

TEST_F(ClientCommands, KillSparesTheKillerUnlessTold) {
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "TYPE", "normal"}), ":1\r\n");
  EXPECT_FALSE(me_->closed());
  EXPECT_EQ(me_->send(request({"CLIENT", "KILL", "SKIPME", "no"}) + request({"PING"})), ":1\r\n");
  EXPECT_TRUE(me_->closed());
}

TEST_F(ClientCommands, KillByAddress) {
  Peer peer = FakeServer::local_peer();
  peer.address = "[::1]:7";
  auto third = server_.connect(peer);
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "[::1]:8"}), "-ERR No such client\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "[::1]:7"}), kOk);
  EXPECT_TRUE(third->closed());
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "LADDR", "127.0.0.1:1", "USER", "default"}), ":1\r\n");
  EXPECT_TRUE(other_->closed());
}

TEST_F(ClientCommands, KillRefusesWhatItDoesNotKnow) {
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "ID", "0"}),
            "-ERR client-id should be greater than 0\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "TYPE", "x"}), "-ERR Unknown client type 'x'\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "USER", "x"}), "-ERR No such user 'x'\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "SKIPME", "x"}), "-ERR syntax error\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "ID", "2", "SKIPME"}), "-ERR syntax error\r\n");
  EXPECT_FALSE(other_->closed());
}

TEST_F(ClientCommands, KillEndsThoseWhoWouldNotGo) {
  other_->reads = false;
  other_->send(request({"PING"}) + request({"QUIT"}));
  EXPECT_FALSE(other_->closed());
  EXPECT_EQ(
      me_->send(request({"CLIENT", "KILL", "ID", "2"}) + request({"CLIENT", "KILL", "ID", "2"})),
      ":1\r\n:0\r\n");
  EXPECT_TRUE(other_->closed());
}

// Each has replies in the turn in which the other kills it.
TEST_F(ClientCommands, KillWithinATurn) {
  other_->push(request({"SET", "a", "1"}));
  me_->push(request({"CLIENT", "KILL", "ID", "2"}));
  other_->push(request({"SET", "a", "2"}));
  server_.run_turns();
  EXPECT_EQ(me_->take(), ":1\r\n");
  EXPECT_EQ(other_->take(), "");
  EXPECT_TRUE(other_->closed());
  EXPECT_EQ(me_->call({"GET", "a"}), bulk("1"));
}

TEST_F(ClientCommands, PauseHoldsEverythingBackButClient) {
  EXPECT_EQ(me_->call({"CLIENT", "PAUSE", "1000"}), kOk);
  EXPECT_EQ(other_->send(request({"CLIENT", "ID"}) + request({"PING"}) + request({"GET", "a"})),
            ":2\r\n");
  EXPECT_EQ(other_->call({"ECHO", "x"}), "");
  server_.advance(900 * kMs);
  EXPECT_EQ(other_->take(), "");
  server_.advance(200 * kMs);
  EXPECT_EQ(other_->take(), "+PONG\r\n$-1\r\n" + bulk("x"));
}

TEST_F(ClientCommands, PauseWriteLetsReadsThrough) {
  EXPECT_EQ(me_->call({"CLIENT", "PAUSE", "1000", "WRITE"}), kOk);
  EXPECT_EQ(
      other_->send(request({"GET", "a"}) + request({"SET", "a", "1"}) + request({"GET", "a"})),
      "$-1\r\n");
  EXPECT_EQ(me_->call({"GET", "a"}), "$-1\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "UNPAUSE"}), kOk);
  server_.run_turns();
  EXPECT_EQ(other_->take(), kOk + bulk("1"));
}

TEST_F(ClientCommands, APauseIsNeitherShortenedNorWeakenedByAnother) {
  me_->call({"CLIENT", "PAUSE", "1000", "ALL"});
  me_->call({"CLIENT", "PAUSE", "10", "WRITE"});
  server_.advance(500 * kMs);
  EXPECT_EQ(other_->call({"PING"}), "");
  server_.advance(600 * kMs);
  EXPECT_EQ(other_->take(), "+PONG\r\n");
  me_->call({"CLIENT", "PAUSE", "10", "WRITE"});
  EXPECT_EQ(other_->call({"PING"}), "+PONG\r\n");
}

TEST_F(ClientCommands, PauseOutlivedByItsClients) {
  me_->call({"CLIENT", "PAUSE", "1000"});
  other_->call({"PING"});
  EXPECT_EQ(me_->call({"CLIENT", "KILL", "ID", "2"}), ":1\r\n");
  EXPECT_TRUE(other_->closed());
  server_.advance(2 * kSecond);
  EXPECT_EQ(me_->call({"PING"}), "+PONG\r\n");
}

TEST_F(ClientCommands, PauseRefusals) {
  EXPECT_EQ(me_->call({"CLIENT", "PAUSE", "x"}),
            "-ERR timeout is not an integer or out of range\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "PAUSE", "-1"}), "-ERR timeout is negative\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "PAUSE", "1", "x"}),
            "-ERR CLIENT PAUSE mode must be WRITE or ALL\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "PAUSE", "9223372036854775807"}), kOk);
  EXPECT_EQ(other_->call({"PING"}), "");
  EXPECT_EQ(me_->call({"CLIENT", "UNPAUSE"}), kOk);
}

TEST_F(ClientCommands, WhatIsAcceptedWithoutAnEffect) {
  EXPECT_EQ(me_->call({"CLIENT", "NO-EVICT", "on"}), kOk);
  EXPECT_EQ(me_->call({"CLIENT", "NO-TOUCH", "ON"}), kOk);
  EXPECT_THAT(me_->call({"CLIENT", "INFO"}), HasSubstr(" flags=eT "));
  EXPECT_EQ(me_->call({"CLIENT", "NO-EVICT", "x"}), "-ERR syntax error\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "CAPA", "redirect"}), kOk);
  EXPECT_EQ(me_->call({"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"}), kOk);
  EXPECT_EQ(me_->call({"CLIENT", "TRACKING", "OFF"}), kOk);
  EXPECT_EQ(me_->call({"CLIENT", "TRACKING", "maybe"}), "-ERR syntax error\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "TRACKING", "ON", "REDIRECT", "99"}),
            "-ERR The client ID you want redirect to does not exist\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "UNBLOCK", "2"}), ":0\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "UNBLOCK", "x"}),
            "-ERR value is not an integer or out of range\r\n");
}

TEST_F(ClientCommands, UnknownSubcommands) {
  EXPECT_EQ(me_->call({"CLIENT", "MAINT_NOTIFICATIONS", "ON"}),
            "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.\r\n");
  EXPECT_EQ(me_->call({"CLIENT"}), "-ERR wrong number of arguments for 'client' command\r\n");
  EXPECT_EQ(me_->call({"CLIENT", "ID", "x"}),
            "-ERR wrong number of arguments for 'client|id' command\r\n");
  const std::string help = me_->call({"CLIENT", "HELP"});
  EXPECT_THAT(help, HasSubstr("+CLIENT <subcommand> [<argument> ...]. Subcommands are:\r\n"));
  EXPECT_THAT(help, HasSubstr("+PAUSE timeout [WRITE|ALL]\r\n+    Holds back commands"));
}

}  // namespace
}  // namespace weir::server
