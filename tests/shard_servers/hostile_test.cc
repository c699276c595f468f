// Who can write to the shared log or to its member registry writes what no member does: members
// stop and say why, or do not care.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/format/record.h"
#include "storage/replication/member_registry.h"
#include "storage/replication/record.h"
#include "tests/shard_servers/stage.h"

namespace weir::server {
namespace {

using storage::replication::Author;
using storage::replication::Claim;
using storage::replication::Heartbeat;
using storage::replication::MemberFacts;
using storage::replication::Turns;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string reason_of(ShardStage* stage, Node* node) {
  EXPECT_EQ(node->member->view().state, "stopped");
  EXPECT_THAT(stage->ask(node, {"GET", "n"}), StartsWith("-MASTERDOWN this member of shard main"));
  EXPECT_EQ(stage->ask(node, {"PING"}), "+PONG\r\n");
  return node->member->view().stopped_because;
}

// The record is right in all that the log knows of; the turn in it is not.
TEST(HostileLog, ATurnThatCannotBeAppliedStopsWhoReadsIt) {
  for (const std::string& turn : {std::string("what?"), std::string(),
                                  std::string("\x01\0\0\0\0\0\0\0\0\x01\0\x04"
                                              "db/0\x04\x01\x01\0\0",
                                              21)}) {
    ShardStage stage;
    Node* const primary = stage.primary();
    Node* const standby = stage.standby();
    EXPECT_EQ(stage.ask(primary, {"INCR", "n"}), ":1\r\n");
    const uint64_t newest = standby->server->keys().turn();
    stage.forge(Turns{.first_turn = newest + 1, .turns = {turn}});
    stage.pass(kSecond);
    EXPECT_THAT(reason_of(&stage, standby),
                HasSubstr("a turn that no primary can have made: turn "));
    EXPECT_THAT(reason_of(&stage, primary), HasSubstr("another process writes in the name"));
    EXPECT_EQ(standby->server->keys().turn(), newest);
    EXPECT_EQ(standby->server->keys().logged_turn(), newest) << "its restart meets it anew";
  }
}

// Turn and key are named: a person has to find them.
TEST(HostileLog, ASetWithoutElementsStopsWhoReadsIt) {
  ShardStage stage;
  Node* const primary = stage.primary();
  Node* const standby = stage.standby();
  EXPECT_EQ(stage.ask(primary, {"SADD", "t", "x"}), ":1\r\n");
  const uint64_t next = standby->server->keys().turn() + 1;
  storage::TurnRecordWriter writer;
  writer.begin(standby->server->keys().metrics().instant_ns);
  writer.put(1, "empty",
             {.type = storage::Type::kSet, .expire_at_ms = 0, .payload = {"\1\x80\1\0", 4}});
  stage.forge(Turns{.first_turn = next, .turns = {std::string(writer.bytes())}});
  stage.pass(kSecond);
  EXPECT_THAT(reason_of(&stage, standby),
              HasSubstr("a turn that no primary can have made: turn " + std::to_string(next) +
                        ": a turn's record names a list without elements: key \"empty\""));
  EXPECT_EQ(standby->server->keys().logged_turn(), next - 1);
}

TEST(HostileLog, AnAuthorThatIsNotPlainStopsWhoReadsIt) {
  ShardStage stage;
  Node* const standby = stage.standby();
  const Author author{
      .node = standby->name, .address = "a\r\nmaster_host:evil:1", .incarnation = {}};
  stage.forge(Heartbeat{.author = author, .instant_ns = 1});
  stage.pass(kSecond);
  EXPECT_THAT(reason_of(&stage, standby), HasSubstr("does not understand"));
  EXPECT_THAT(stage.ask(standby, {"INFO", "replication"}), Not(HasSubstr("evil")));
}

// Else nobody would ever claim again, or a sum would overflow.
TEST(HostileLog, TimesOfNoClaimStopWhoReadsThem) {
  ShardStage stage;
  Node* const standby = stage.standby();
  const Author author{.node = "A", .address = "a:1", .incarnation = {}};
  stage.forge(Claim{.author = author,
                    .instant_ns = 1,
                    .times = {.lease_ns = INT64_MAX, .failover_after_ns = INT64_MAX}});
  stage.pass(kSecond);
  EXPECT_THAT(reason_of(&stage, standby), HasSubstr("does not understand"));
}

TEST(HostileRegistry, FactsOfNobodyAreShownNowhere) {
  ShardStage stage;
  Node* const primary = stage.primary();
  MemberFacts facts;
  facts.role = storage::replication::Role::kFollowing;
  facts.author = {.node = "evil", .address = "a\r\nslave9:ip=1:1", .incarnation = {}};
  stage.forge_facts("evil", facts);
  facts.author = {.node = primary->name, .address = "evil:1", .incarnation = {}};
  stage.forge_facts("other", facts);
  facts.author = {.node = "evil2", .address = "evil:1", .incarnation = {}};
  facts.applied_turn = UINT64_MAX;
  stage.forge_facts("evil2", facts);
  stage.meet();
  stage.pass(3 * kSecond);
  EXPECT_THAT(stage.ask(primary, {"INFO", "replication"}), Not(HasSubstr("evil")));
  EXPECT_THAT(stage.ask(primary, {"WEIR", "STATUS"}), Not(HasSubstr("evil")));
  EXPECT_EQ(stage.metric(primary, "members_seen"), 2);
}

// It may be a member; what it says of itself is not what the others are compared with.
TEST(HostileRegistry, TurnsThatNobodyHasDoNotMakeTheOthersLag) {
  ShardStage stage;
  Node* const primary = stage.primary();
  MemberFacts facts;
  facts.role = storage::replication::Role::kFollowing;
  facts.author = {.node = "ahead", .address = "a:1", .incarnation = {}};
  facts.applied_turn = INT64_MAX;
  stage.meet();
  stage.forge_facts("ahead", facts);
  stage.pass(3 * kSecond);
  EXPECT_EQ(stage.metric(primary, "members_seen"), 3);
  EXPECT_LT(stage.metric(primary, "standby_lag_turns"), 100);
}

TEST(Switchover, GoesToNobodyWhomTheRegistryDoesNotKnow) {
  ShardStage stage({}, 3);
  stage.meet();
  Node* const primary = stage.primary();
  for (const char* name : {"nobody", "", "a\r\nb"})
    EXPECT_THAT(stage.ask(primary, {"WEIR", "SWITCHOVER", name}),
                StartsWith("-ERR no standby of that name is there: WEIR STATUS lists"));
  stage.pass(kSecond);
  EXPECT_EQ(stage.primary(), primary) << "it serves on";
  EXPECT_EQ(stage.ask(primary, {"WEIR", "SWITCHOVER", stage.standby()->name}), "+OK\r\n");
}

}  // namespace
}  // namespace weir::server
