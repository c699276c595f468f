// A server as an owner of hash slots, beside others or alone.
#include "server/core/run/cluster.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/server/core/cluster_fixture.h"

namespace weir::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kCross = "(error CROSSSLOT Keys in request don't hash to the same slot)";

TEST_F(ClusterTest, AloneItHasAllSlots) {
  config_.cluster_announce_port = 7;
  start();
  const std::string id = (*server_)->executor().cluster().map().shards()[0].id;
  EXPECT_EQ(id.size(), 40u);
  EXPECT_EQ(node_file(), id + "\n");
  EXPECT_EQ(ask("CLUSTER MYID"), "\"" + id + "\"");
  EXPECT_EQ(ask("CLUSTER SLOTS"), "[[0, 16383, [\"h\", 7, \"" + id + "\", []]]]");
  EXPECT_EQ(ask("CLUSTER NODES"),
            "\"" + id + " h:7@10007 myself,master - 0 0 0 connected 0-16383\\x0a\"");
  EXPECT_THAT(ask("CLUSTER INFO"),
              HasSubstr("cluster_state:ok\\x0d\\x0acluster_slots_assigned:16384"));
  EXPECT_THAT(ask("HELLO"), HasSubstr("\"mode\", \"cluster\""));
  EXPECT_THAT(ask("INFO server"), HasSubstr("redis_mode:cluster"));
  EXPECT_EQ(ask("READONLY") + ask("READWRITE") + ask("ASKING"), "OKOKOK");
  EXPECT_EQ(ask("CLUSTER REPLICAS " + id), "[]");
  EXPECT_EQ(ask("CLUSTER REPLICAS x"), "(error ERR Unknown node x)");
  EXPECT_EQ(as_text(client_->call({"CLUSTER", "REPLICAS", {"x\0y", 3}})),
            "(error ERR Unknown node x)");
  EXPECT_THAT(ask("CLUSTER MEET 127.0.0.1 1"), HasSubstr("comes from the configuration"));
}

TEST_F(ClusterTest, TheAddressIsTheOneThatWasReachedUnlessAnnounced) {
  config_.cluster_announce_ip = "";
  config_.cluster_announce_hostname = "weir.example";
  start();
  EXPECT_THAT(ask("CLUSTER SLOTS"), HasSubstr("[\"127.0.0.1\", 1, "));
  EXPECT_THAT(ask("CLUSTER SLOTS"), EndsWith(", [\"hostname\", \"weir.example\"]]]]"));
  EXPECT_THAT(ask("CLUSTER NODES"), HasSubstr(" 127.0.0.1:1@10001,weir.example myself"));
}

TEST_F(ClusterTest, KeysOfSeveralSlotsAreRefused) {
  start();
  EXPECT_EQ(ask("MGET a b"), kCross);
  EXPECT_EQ(ask("MGET {a}1 {a}2"), "[(nil), (nil)]");
  EXPECT_EQ(ask("ZUNIONSTORE a 2 a b"), kCross);
  EXPECT_EQ(ask("ZUNIONSTORE a bad a b"), "(error ERR value is not an integer or out of range)");
  EXPECT_EQ(ask("SINTERCARD 2x a b"), kCross);  // as Redis reads the number there
  EXPECT_EQ(ask("SSUBSCRIBE a b"), kCross);
  EXPECT_EQ(ask("RL.MTAKE 2 a b 5/1s"),
            "(error CROSSSLOT Keys in request don't hash to the same slot. Keys that share a hash "
            "tag, as user:7:{acme} and tenant:{acme}, are in one slot)");
  EXPECT_EQ(ask("EVAL return 2 a b"), kCross);
  EXPECT_THAT(ask("INFO weir"), HasSubstr("cross_slot_refusals:6\\x0d\\x0awould_cross_slots:0"));
}

TEST_F(ClusterTest, TransactionsAreOfOneSlot) {
  start();
  EXPECT_EQ(ask("WATCH a") + ask("WATCH b"), "OKOK");
  ask("MULTI");
  EXPECT_EQ(ask("SET a 1") + ask("SET b 1"), "QUEUEDQUEUED");
  EXPECT_EQ(ask("EXEC"), kCross);
  EXPECT_EQ(ask("EXEC"), "(error ERR EXEC without MULTI)");
  EXPECT_EQ(ask("GET a"), "(nil)");
  ask("MULTI");
  EXPECT_EQ(ask("MGET a b"), kCross);
  EXPECT_THAT(ask("EXEC"), StartsWith("(error EXECABORT"));
  ask("MULTI");
  ask("SET {a}1 1");
  ask("SELECT 1");
  EXPECT_EQ(ask("EXEC"), "[OK, (error ERR SELECT is not allowed in cluster mode)]");
}

TEST_F(ClusterTest, OnlyOneDatabase) {
  start();
  EXPECT_EQ(ask("SELECT 0"), "OK");
  EXPECT_EQ(ask("SELECT 99"), "(error ERR SELECT is not allowed in cluster mode)");
  EXPECT_EQ(ask("SELECT x"), "(error ERR value is not an integer or out of range)");
  EXPECT_EQ(ask("SWAPDB x y"), "(error ERR SWAPDB is not allowed in cluster mode)");
  EXPECT_EQ(ask("MOVE a x"), "(error ERR MOVE is not allowed in cluster mode)");
  EXPECT_EQ(ask("COPY a {a}1 DB 1"),
            "(error ERR Copying to another database is not allowed in cluster mode)");
  EXPECT_EQ(ask("COPY a {a}1 DB 99"), "(error ERR DB index is out of range)");
  EXPECT_EQ(ask("SORT a BY w*"), "(error ERR BY option of SORT denied in Cluster mode.)");
  EXPECT_EQ(ask("SORT a BY w GET #"), "(error ERR GET option of SORT denied in Cluster mode.)");
}

std::string eval(FakeClient& client, std::string_view body) {
  return as_text(client.call({"EVAL", body, "1", "a"}));
}

TEST_F(ClusterTest, AScriptUsesOneSlotUnlessItSaysOtherwise) {
  start();
  EXPECT_THAT(eval(*client_, "return redis.call('mget','a','b')"),
              HasSubstr("attempted to access a non local key in a cluster node"));
  EXPECT_EQ(eval(*client_, "return redis.call('get','b')"), "(nil)");
  EXPECT_THAT(eval(*client_, "#!lua\nreturn redis.call('get','b')"),
              HasSubstr("attempted to access keys that do not hash to the same slot"));
  EXPECT_EQ(eval(*client_, "#!lua flags=allow-cross-slot-keys\nreturn redis.call('get','b')"),
            "(nil)");
  EXPECT_EQ(eval(*client_, "#!lua flags=no-cluster\nreturn 1"),
            "(error ERR Can not run script on cluster, 'no-cluster' flag is set.)");
}

TEST_F(ClusterTest, CountsTheKeysOfASlot) {
  start();
  ask("MSET {a}1 1 {a}2 2 a 3");
  ask("SET b 1");
  EXPECT_EQ(ask("CLUSTER KEYSLOT {a}x"), "15495");
  EXPECT_EQ(ask("CLUSTER COUNTKEYSINSLOT 15495"), "3");
  EXPECT_EQ(ask("CLUSTER GETKEYSINSLOT 3300 10"), "[\"b\"]");
  EXPECT_EQ(ask("CLUSTER GETKEYSINSLOT 15495 0"), "[]");
  EXPECT_EQ(ask("CLUSTER COUNTKEYSINSLOT 16384"), "(error ERR Invalid slot)");
  EXPECT_EQ(ask("CLUSTER GETKEYSINSLOT 1 -1"), "(error ERR Invalid slot or number of keys)");
}

TEST_F(ClusterTest, OtherDatabasesWithKeysAreNotHidden) {
  config_.cluster_enabled = false;
  start();
  ask("SELECT 3");
  ask("MSET a 1 b 2");
  ask("SELECT 5");
  ask("SET a 1");
  stop();
  config_.cluster_enabled = true;
  EXPECT_THAT(refusal(), HasSubstr("has keys: 2 in database 3, 1 in database 5; start with"));
}

TEST_F(ClusterTest, AnotherOwnersKeyIsMoved) {
  write_topology(kTwo);
  start();
  EXPECT_EQ(ask("GET a"), "(nil)");
  EXPECT_EQ(ask("GET b"), "(error MOVED 3300 g:2)");
  EXPECT_EQ(ask("MGET b a"), kCross);
  ask("MULTI");
  EXPECT_EQ(ask("SET b 1"), "(error MOVED 3300 g:2)");
  EXPECT_THAT(ask("EXEC"), StartsWith("(error EXECABORT"));
  EXPECT_EQ(ask("SPUBLISH b m"), "(error MOVED 3300 g:2)");
  EXPECT_THAT(ask("PUBLISH b m"), HasSubstr("one server of this cluster only: use SPUBLISH"));
  EXPECT_EQ(ask("CLUSTER SLOTS"), "[[0, 8191, [\"g\", 2, \"" + node_id_of("y") +
                                      "\", []]], [8192, 16383, [\"h\", 1, \"" + node_id_of("x") +
                                      "\", []]]]");
  EXPECT_THAT(node_file(), StartsWith(node_id_of("x") + "\nname x\ntopology 3 "));
}

TEST_F(ClusterTest, TellsHowManySlotsItHas) {
  write_topology(kTwo);
  start();
  EXPECT_THAT(ask("INFO cluster"), HasSubstr("slots_owned:8192\\x0d\\x0aslots_unowned:0\\x0d"));
  stop();
  config_.cluster_enabled = false;
  config_.cluster_topology = "";
  start();
  EXPECT_THAT(ask("INFO cluster"), EndsWith("cluster_enabled:0\\x0d\\x0a\""));
}

TEST_F(ClusterTest, SlotsWithKeysAreNotTakenAway) {
  write_topology("epoch 1\nx h:1 0-16383\n");
  start();
  ask("SET a 1");
  ask("SET b 1");
  ask("SET {b}1 1");
  write_topology(kTwo);
  EXPECT_THAT(reload(), HasSubstr("holds 2 keys of slots that the file gives to others, as slot "
                                  "3300 to 'y'"));
  EXPECT_EQ(ask("GET b"), "\"1\"");
  stop();
  EXPECT_THAT(refusal(), HasSubstr("holds 2 keys"));
  write_topology("epoch 1\nx h:1 0-16383\n");
  start();
  ask("UNLINK b {b}1");
  write_topology(kTwo);
  EXPECT_EQ(reload(), "");
  EXPECT_EQ(ask("GET b"), "(error MOVED 3300 g:2)");
}

// However many keys there are, a few slots are looked through, and in those not all keys.
TEST_F(ClusterTest, LooksForKeysOfSlotsThatItGivesUpAndForNoOthers) {
  write_topology("epoch 1\nx h:1 0-16383\n");
  start();
  constexpr int kKeys = 20'000;
  for (int number = 0; number < kKeys; ++number)
    client_->push(words_as_request("SET {b}" + std::to_string(number) + " 1"));
  server_->run_turns();
  client_->take();
  write_topology("epoch 2\nx h:1 0-3299\nx h:1 3301-16383\ny g:2 3300-3300\n");
  EXPECT_THAT(reload(), HasSubstr("holds at least 5"));
  EXPECT_EQ(ask("CLUSTER COUNTKEYSINSLOT 3300"), "20000");
  EXPECT_EQ(ask("CLUSTER COUNTKEYSINSLOT 3299"), "0");
  write_topology("epoch 2\nx h:1 3300-3300\ny g:2 0-3299\ny g:2 3301-16383\n");
  EXPECT_EQ(reload(), "");
}

TEST_F(ClusterTest, EveryOtherSlotMayBeGivenUp) {
  write_topology("epoch 1\nx h:1 0-16383\n");
  start();
  for (int number = 0; number < 5'000; ++number) {
    const std::string key = "k" + std::to_string(number);
    if (hash_slot(key) % 2 == 0) client_->push(words_as_request("SET " + key + " 1"));
  }
  server_->run_turns();
  std::string text = "epoch 2\n";
  for (int slot = 0; slot < kSlots; ++slot) {
    const std::string number = std::to_string(slot);
    text += (slot % 2 == 0 ? "x h:1 " : "y g:2 ") + number + "-" + number + "\n";
  }
  write_topology(text);
  EXPECT_EQ(reload(), "");
}

TEST_F(ClusterTest, ExpiredKeysThatHideTheAnswerAreWaitedFor) {
  write_topology("epoch 1\nx h:1 0-16383\n");
  start();
  for (int number = 0; number < 60'000; ++number)
    client_->push(words_as_request("SET {b}" + std::to_string(number) + " 1 PX 1"));
  server_->run_turns();
  server_->clock.advance(kNsPerS);
  client_->take();
  write_topology(kTwo);
  EXPECT_THAT(reload(), HasSubstr("too many expired keys are not removed yet"));
  EXPECT_EQ(ask("GET b"), "(nil)");
}

TEST_F(ClusterTest, WaitsForKeysThatHaveMovedEnd) {
  write_topology("epoch 1\nx h:1 0-16383\n");
  start();
  const auto moved = server_->connect();
  const auto mover = server_->connect();
  const auto stays = server_->connect();
  moved->push(words_as_request("BLPOP {b}1 {b}2 0"));
  mover->push(words_as_request("BLMOVE b {b}3 LEFT LEFT 5"));
  stays->push(words_as_request("BLPOP a 0"));
  server_->run_turns();
  write_topology("epoch 2\nx h:1 8192-16383\ny g:2 0-8191\n");
  EXPECT_EQ(reload(), "");
  server_->run_turns();
  EXPECT_EQ(as_text(moved->take()), "(error MOVED 3300 g:2)");
  EXPECT_EQ(as_text(mover->take()), "(error MOVED 3300 g:2)");
  EXPECT_EQ(as_text(stays->take()), "");
  EXPECT_EQ(server::ask(*moved, "PING"), "PONG");
  EXPECT_EQ(ask("RPUSH a 1"), "1");
  EXPECT_EQ(as_text(stays->take()), "[\"a\", \"1\"]");
}

// What RL.ACQUIRE waits for is a key that is there.
TEST_F(ClusterTest, AKeyWithWaitersIsNotTakenAway) {
  write_topology("epoch 1\nx h:1 0-16383\n");
  start();
  ask("RL.ACQUIRE b LEAKY 1/1s CAPACITY 9");
  const auto waiter = server_->connect();
  waiter->push(words_as_request("RL.ACQUIRE b LEAKY 1/1s CAPACITY 9 TIMEOUT 9s"));
  server_->run_turns();
  write_topology(kTwo);
  EXPECT_THAT(reload(), HasSubstr("holds 1 keys of slots"));
  server_->advance(2 * kNsPerS);
  server_->run_turns();
  EXPECT_THAT(as_text(waiter->take()), StartsWith("[1, "));
}

TEST_F(ClusterTest, ShardedChannelsThatHaveMovedAreLeft) {
  write_topology("epoch 1\nx h:1 0-16383\n");
  start();
  const auto listener = server_->connect();
  EXPECT_EQ(server::ask(*listener, "SSUBSCRIBE b"), "[\"ssubscribe\", \"b\", 1]");
  EXPECT_EQ(server::ask(*listener, "SSUBSCRIBE a"), "[\"ssubscribe\", \"a\", 2]");
  EXPECT_EQ(server::ask(*listener, "SUBSCRIBE b"), "[\"subscribe\", \"b\", 1]");
  write_topology(kTwo);
  EXPECT_EQ(reload(), "");
  server_->run_turns();
  EXPECT_EQ(as_text(listener->take()), "[\"sunsubscribe\", \"b\", 1]");
  EXPECT_EQ(server::ask(*listener, "SSUBSCRIBE b"), "(error MOVED 3300 g:2)");
  EXPECT_EQ(ask("SPUBLISH a m"), "1");
  EXPECT_EQ(as_text(listener->take()), "[\"smessage\", \"a\", \"m\"]");
  EXPECT_EQ(ask("PUBSUB SHARDCHANNELS"), "[\"a\"]");
}

TEST_F(ClusterTest, ClientsOverTlsAreLedToWhereTlsIsSpoken) {
  write_topology("epoch 3\nx h:1 8192-16383 tls-port=11\ny g:2 0-8191 tls-port=12\n");
  start();
  Peer peer = FakeServer::local_peer();
  peer.type = ConnectionType::kTls;
  const auto secure = server_->connect(peer);
  EXPECT_EQ(server::ask(*secure, "GET b"), "(error MOVED 3300 g:12)");
  EXPECT_EQ(ask("GET b"), "(error MOVED 3300 g:2)");
  EXPECT_THAT(server::ask(*secure, "CLUSTER SLOTS"), HasSubstr("[\"g\", 12, "));
  EXPECT_THAT(ask("CLUSTER SLOTS"), HasSubstr("[\"g\", 2, "));
  EXPECT_THAT(server::ask(*secure, "CLUSTER NODES"), HasSubstr(" g:12@10012 master"));
  EXPECT_THAT(ask("CLUSTER SHARDS"), HasSubstr("\"port\", 2, \"tls-port\", 12, \"ip\""));
}

TEST_F(ClusterTest, AFileNeedsAClusterAndTheClusterItsFile) {
  write_topology(kTwo);
  config_.cluster_enabled = false;
  EXPECT_THAT(refusal(), HasSubstr("which needs cluster-enabled yes"));
  config_.cluster_enabled = true;
  config_.cluster_topology = "missing";
  EXPECT_THAT(refusal(), HasSubstr("cluster-topology: cannot read"));
}

TEST_F(ClusterTest, OffItCountsWhatAClusterWouldRefuse) {
  config_.cluster_enabled = false;
  start();
  ask("MGET a b");
  ask("MGET {a}1 {a}2");
  ask("GET a");
  ask("MULTI");
  ask("SET a 1");
  ask("SET b 1");
  ask("EXEC");
  EXPECT_THAT(ask("INFO weir"), HasSubstr("cross_slot_refusals:0\\x0d\\x0awould_cross_slots:2"));
  ask("EVAL ok 1 a b");
  ask("EVAL ok 2 {a}1 {a}2");
  EXPECT_THAT(ask("INFO weir"), HasSubstr("would_cross_slots:2"));
  ask("EVAL ok 2 a b");
  EXPECT_THAT(ask("INFO weir"), HasSubstr("would_cross_slots:3"));
  EXPECT_EQ(ask("CLUSTER SLOTS"), "(error ERR This instance has cluster support disabled)");
  EXPECT_FALSE(std::filesystem::exists(config_.dir + "/NODE"));
}

}  // namespace
}  // namespace weir::server
