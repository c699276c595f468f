// How a shard is shown to clients of a cluster, as far as its members tell.
#include "server/core/shard/shown_shard.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/time_units.h"
#include "server/core/run/cluster.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using Health = ShownMember::Health;

class FakeMembership final : public Membership, public PrimaryRules {
 public:
  Result<void, std::string> begin(Server*) override { return {}; }
  void listen() override {}
  void act() override {}
  void heartbeat() override {}
  void set_watcher(storage::SocketWatcher*) override {}
  void on_socket_ready() override {}
  int64_t next_ns() override { return 0; }
  bool serves() const override { return seen_by.serves; }
  std::string refusal() const override { return "READONLY"; }
  const PrimaryRules& rules() const override { return *this; }
  MemberView view() const override { return seen_by; }
  std::vector<MemberSeen> members() const override { return seen; }
  SlotRanges slots() const override { return own_slots; }
  std::vector<KnownShard> known_shards() const override {
    ++asked_for_all;
    return known;
  }
  KnownShard known_own_shard() const override { return known.empty() ? KnownShard() : known[0]; }
  KnownRevision known_revision() const override { return revision; }
  void write_metrics(MetricWriter&) const override {}
  Result<void, std::string> order(const MemberOrder&) override { return {}; }
  void begin_to_leave() override {}
  bool has_left() const override { return true; }
  Result<void, std::string> admit(const DataRequest&) const override { return {}; }
  bool leaves_early(const Command&) const override { return false; }

  MemberView seen_by;
  std::vector<MemberSeen> seen;
  SlotRanges own_slots = all_slots();
  std::vector<KnownShard> known;  // the own one first
  KnownRevision revision;
  mutable int asked_for_all = 0;
};

KnownMember known_as(const std::string& node, int64_t age_ns) {
  KnownMember member{.told = {.node = node, .host = "host-" + node, .port = 7001}};
  member.told.tls_port = 7002;
  member.told.hostname = "name-" + node;
  member.age_ns = age_ns;
  return member;
}

MemberSeen seen_as(const std::string& node, const std::string& state) {
  MemberSeen member;
  member.node = node;
  member.host = "host-" + node;
  member.port = 6379;
  member.state = state;
  member.is_present = true;
  return member;
}

class ShownShardTest : public testing::Test {
 protected:
  // This member is "me", the others are "x" and "y".
  ShownShardTest() {
    membership_.seen_by.cluster = std::string(32, 'c');
    membership_.seen_by.shard = "main";
    membership_.seen_by.node = "me";
    membership_.seen = {seen_as("me", "following"), seen_as("x", "primary"),
                        seen_as("y", "following")};
    membership_.seen[0].is_self = true;
    is("following", "x");
  }
  // What this member does, and whom the log names.
  void is(const std::string& state, const std::string& primary) {
    membership_.seen_by.state = membership_.seen[0].state = state;
    membership_.seen_by.primary_node = primary;
    membership_.seen_by.primary_address = primary.empty() ? "" : "[::1]:7";
  }
  ShownShard shown() const { return shown_shard(membership_, config_); }
  std::string primary() const {
    const ShownShard shard = shown();
    return shard.primary() == nullptr ? "" : shard.primary()->id;
  }

  FakeMembership membership_;
  Config config_;
};

TEST_F(ShownShardTest, HasAllSlotsAndThePrimaryThatTheLogNames) {
  const ShownShard shard = shown();
  EXPECT_EQ(shard.name, "main");
  EXPECT_EQ(shard.id, shard_id_of(std::string(32, 'c'), "main"));
  EXPECT_EQ(shard.ranges, (std::vector<SlotRange>{{0, kSlots - 1}}));
  ASSERT_EQ(shard.members.size(), 3u);
  EXPECT_TRUE(shard.members[0].is_self);
  EXPECT_EQ(shard.primary()->id + " " + shard.primary()->host, "x host-x");
  is("following", "y");
  EXPECT_EQ(primary(), "y") << "whatever x says of itself";
}

TEST_F(ShownShardTest, HasTheSlotsThatTheShardHas) {
  membership_.own_slots = {{0, 5460}, {8000, 8000}};
  EXPECT_EQ(shown().ranges, membership_.own_slots);
}

TEST_F(ShownShardTest, WhatMembersToldOfThemselvesIsShown) {
  membership_.known = {{.name = "main", .members = {known_as("x", 0)}, .is_own = true}};
  const ShownShard shard = shown();
  EXPECT_EQ(shard.members[1].tls_port, 7002);
  EXPECT_EQ(shard.members[1].hostname, "name-x");
  EXPECT_EQ(shard.members[2].hostname, "");
}

TEST_F(ShownShardTest, OthersAreShownByWhatWasHeardOfThem) {
  KnownShard other{.name = "other", .changes = 3};
  other.slots = {{.slots = {5461, 7999}, .version = 1}, {.slots = {8001, 16383}, .version = 2}};
  other.members = {known_as("silent", 11 * kNsPerS), known_as("new", kNsPerS),
                   known_as("lost", KnownShard::kNeverHeard)};
  other.members[0].told.is_primary = true;
  other.members[1].told.state = "copying";
  other.members[2].told.port = 0;
  KnownShard own{.name = "main", .is_own = true};
  const auto shards = other_shards({own, other}, "c");
  ASSERT_EQ(shards.size(), 1u);
  const ShownShard& shard = shards[0];
  EXPECT_EQ(shard.name, "other");
  EXPECT_EQ(shard.id, shard_id_of("c", "other"));
  EXPECT_EQ(shard.epoch, 4);
  EXPECT_EQ(shard.ranges, (SlotRanges{{5461, 7999}, {8001, 16383}}));
  ASSERT_EQ(shard.members.size(), 2u) << "one has no address";
  EXPECT_EQ(shard.primary()->id, "silent") << "clients go on trying it";
  EXPECT_EQ(shard.primary()->health, Health::kFailed);
  EXPECT_EQ(shard.primary()->tls_port, 7002);
  EXPECT_EQ(shard.members[1].health, Health::kLoading);
  EXPECT_EQ(shard.members[1].age_ms, 1000);
}

// Somebody has copied a directory, and made another shard of it.
TEST_F(ShownShardTest, NoIdIsShownTwice) {
  std::vector<KnownShard> known = {{.name = "b", .members = {known_as("me", 0)}},
                                   {.name = "c", .members = {known_as("x", 0), known_as("z", 0)}},
                                   {.name = "d", .members = {known_as("z", 0)}}};
  known[0].members[0].told.is_primary = true;
  const auto others = other_shards(known, "c", shown());
  EXPECT_EQ(others[0].members[0].id, shard_id_of("c", "b me"));
  EXPECT_EQ(others[0].primary()->host, "host-me") << "its clients are led there all the same";
  EXPECT_EQ(others[1].members[0].id, shard_id_of("c", "c x"));
  EXPECT_EQ(others[1].members[1].id, "z");
  EXPECT_EQ(others[2].members[0].id, shard_id_of("c", "d z"));
}

TEST_F(ShownShardTest, TellsSinceWhenNoPrimaryWasHeard) {
  membership_.seen[1].age_ms = 7'000;
  membership_.known = {{.name = "main", .is_own = true, .served_ns = 3 * kNsPerS}};
  EXPECT_EQ(shown().silent_ms, 3'000);
  membership_.seen[1].age_ms = 1'000;
  EXPECT_EQ(shown().silent_ms, 1'000) << "the registry has it";
  is("primary", "me");
  EXPECT_EQ(shown().silent_ms, 3'000) << "it does not serve";
  membership_.seen_by.serves = true;
  EXPECT_EQ(shown().silent_ms, 0);
}

TEST_F(ShownShardTest, TheMapIsMadeAnewWhereItIsAnother) {
  FakeServer server;
  config_.cluster_enabled = true;
  Cluster cluster(&config_, &server->keys(), &server.clock, &membership_, [] { return 1; });
  ASSERT_TRUE(cluster.open().ok());
  membership_.own_slots = {{0, 99}};
  KnownShard other{.name = "other", .slots = {{.slots = {100, 16383}}}};
  other.members = {known_as("z", 0)};
  other.members[0].told.is_primary = true;
  membership_.known = {{.name = "main", .is_own = true}, other};
  const auto looks = [&](int64_t ns) {
    membership_.asked_for_all = 0;
    server.clock.advance(ns);
    cluster.look_at_members();
    return membership_.asked_for_all;
  };
  EXPECT_EQ(looks(kNsPerS), 1);
  EXPECT_EQ(looks(110 * kNsPerMs), 0) << "nothing was heard";
  membership_.known[1].members[0].told.host = "moved";
  ++membership_.revision.members;
  EXPECT_EQ(looks(90 * kNsPerMs), 0) << "a flood of requests costs little";
  EXPECT_EQ(looks(20 * kNsPerMs), 1);
  EXPECT_EQ(cluster.map().shards()[1].primary()->host, "moved");
  membership_.known[1].members[0].age_ns = 11 * kNsPerS;
  EXPECT_EQ(looks(kNsPerS), 1) << "ages go on";
  EXPECT_FALSE(cluster.map().shards()[1].primary()->is_heard);
  membership_.known.pop_back();
  ++membership_.revision.slots;
  EXPECT_EQ(looks(110 * kNsPerMs), 1);
  EXPECT_EQ(cluster.map().shards().size(), 1u);
}

TEST_F(ShownShardTest, NobodyTakesASlotOfThisShardByTellingThatHeHasIt) {
  membership_.own_slots = {{0, 99}};
  const SlotMap map(shown(), {{.name = "liar", .ranges = {{0, 16383}}, .members = {{.id = "l"}}}});
  EXPECT_EQ(map.shard_of(99), map.own());
  EXPECT_EQ(map.shards()[map.shard_of(100)].name, "liar");
}

TEST_F(ShownShardTest, WhoDoesNotFollowTheLogGoesByWhatTheOthersSay) {
  for (const char* state : {"joining", "copying", "stopped"}) {
    is(state, "y");
    EXPECT_EQ(primary(), "x") << state;
  }
  membership_.seen[2].state = "switching over";
  membership_.seen[2].log_index = 2;
  EXPECT_EQ(primary(), "y") << "it has read more of the log";
  membership_.seen[1].is_present = membership_.seen[2].is_present = false;
  is("joining", "me");
  EXPECT_EQ(primary(), "me");
  is("joining", "");
  EXPECT_EQ(primary(), "");
}

TEST_F(ShownShardTest, UntilTheLogNamesAPrimaryItIsTheLastThatWasKnown) {
  membership_.seen = {membership_.seen[0]};
  is("joining", "");
  KnownShard own{.name = "main", .is_own = true};
  own.members = {known_as("x", KnownShard::kNeverHeard)};
  own.members[0].told.is_primary = true;
  KnownShard other{.name = "other", .members = {known_as("z", 0)}};
  other.members[0].told.is_primary = true;
  membership_.known = {own, other};
  ShownShard shard = shown();
  ASSERT_EQ(shard.members.size(), 2u);
  EXPECT_EQ(shard.primary()->id + " " + shard.primary()->host, "x host-x");
  EXPECT_EQ(shard.primary()->tls_port, 7002);
  EXPECT_FALSE(shard.primary()->is_heard);
  membership_.seen.push_back(seen_as("x", "following"));
  shard = shown();
  ASSERT_EQ(shard.members.size(), 2u) << "it is known from the registry as well";
  EXPECT_EQ(shard.primary()->id, "x");
  is("following", "me");
  EXPECT_EQ(primary(), "me");
}

TEST_F(ShownShardTest, ThePrimaryIsShownBeforeTheOthersHaveHeardOfIt) {
  is("following", "new");
  const ShownShard shard = shown();
  ASSERT_EQ(shard.members.size(), 4u);
  EXPECT_EQ(shard.primary()->id + " " + shard.primary()->host, "new ::1");
  EXPECT_EQ(shard.primary()->port, 7);
  EXPECT_TRUE(shard.primary()->is_heard);
}

TEST_F(ShownShardTest, SaysHowEachIs) {
  membership_.seen[1].is_present = false;
  membership_.seen[2].state = "joining";
  ShownShard shard = shown();
  EXPECT_EQ(shard.members[0].health, Health::kOnline);
  EXPECT_EQ(shard.members[1].health, Health::kFailed);
  EXPECT_FALSE(shard.members[1].is_heard);
  EXPECT_EQ(shard.members[2].health, Health::kLoading);
  membership_.seen[2].state = "stopped";
  is("copying", "x");
  membership_.seen[0].state = "stopped";  // as its role is
  shard = shown();
  EXPECT_EQ(shard.members[0].health, Health::kLoading);
  EXPECT_EQ(shard.members[2].health, Health::kFailed);
  membership_.seen[2].state = "leaving";
  EXPECT_EQ(shown().members[2].health, Health::kFailed);
}

TEST_F(ShownShardTest, ClientsOverTlsAreLedToTheOtherPortOfMembersThatAreAlike) {
  const auto ports = [this](size_t at) {
    const ShownMember member = shown().members[at];
    return std::pair(member.port_for(false), member.port_for(true));
  };
  config_.port = 6379;
  EXPECT_EQ(ports(1), std::pair(6379, 6379));
  config_.tls_port = 6390;
  config_.cluster_announce_port = 6379;
  membership_.seen[2].port = 7000;
  EXPECT_EQ(ports(0), std::pair(6379, 6390));
  EXPECT_EQ(ports(1), std::pair(6379, 6390));
  EXPECT_EQ(ports(2), std::pair(7000, 7000)) << "its other port is not known";
  config_.cluster_announce_port = 6390;
  for (MemberSeen& member : membership_.seen) member.port = 6390;
  EXPECT_EQ(ports(1), std::pair(6390, 6390));
}

// Where both have read different parts of the log, each would lead to the other.
TEST_F(ShownShardTest, WhoTakesOverLeadsNobodyToThePrimaryBefore) {
  FakeServer server;
  config_.cluster_enabled = true;
  Cluster cluster(&config_, &server->keys(), &server.clock, &membership_, [] { return 1; });
  ASSERT_TRUE(cluster.open().ok());
  EXPECT_EQ(cluster.moved_error(7, false), "MOVED 7 host-x:6379");
  EXPECT_EQ(cluster.moved_error(kNoSlot, false), "");
  is("claiming", "x");
  EXPECT_EQ(cluster.moved_error(7, false), "CLUSTERDOWN Hash slot not served");
  is("primary", "me");
  EXPECT_EQ(cluster.moved_error(7, false), "CLUSTERDOWN Hash slot not served");
  is("following", "x");
  cluster.look_at_members();
  membership_.seen[1].is_present = false;
  is("joining", "");
  EXPECT_EQ(cluster.moved_error(7, false), "MOVED 7 host-x:6379") << "it was the last";
}

// All members of a shard have begun anew, and each remembers another one.
TEST_F(ShownShardTest, NobodyIsLedToAPrimaryThatIsRememberedOnly) {
  FakeServer server;
  config_.cluster_enabled = true;
  KnownShard own{.name = "main", .is_own = true};
  own.members = {known_as("x", KnownShard::kNeverHeard)};
  own.members[0].told.is_primary = true;
  membership_.known = {own};
  membership_.seen[1].state = "following";
  is("following", "");
  Cluster cluster(&config_, &server->keys(), &server.clock, &membership_, [] { return 1; });
  ASSERT_TRUE(cluster.open().ok());
  EXPECT_EQ(cluster.moved_error(7, false), "CLUSTERDOWN Hash slot not served");
  EXPECT_EQ(cluster.map().rows().size(), 1u) << "its slots are shown";
  is("following", "x");
  cluster.look_at_members();
  EXPECT_EQ(cluster.moved_error(7, false), "MOVED 7 host-x:6379");
}

// Its directory was lost, so it has another name, and the log knows the one before.
TEST_F(ShownShardTest, NobodyIsLedToTheAddressThatHeAsks) {
  FakeServer server;
  config_.cluster_enabled = true;
  Cluster cluster(&config_, &server->keys(), &server.clock, &membership_, [] { return 1; });
  ASSERT_TRUE(cluster.open().ok());
  membership_.seen[0].host = membership_.seen[1].host;
  EXPECT_EQ(cluster.moved_error(7, false), "CLUSTERDOWN Hash slot not served");
  membership_.seen[0].port = 7000;
  is("following", "y");
  EXPECT_EQ(cluster.moved_error(7, false), "MOVED 7 host-y:6379");
  is("following", "x");
  EXPECT_EQ(cluster.moved_error(7, false), "MOVED 7 host-x:6379") << "another port of the machine";
}

// PUBLISH is refused from the first on, and not only when somebody has asked for the map.
TEST_F(ShownShardTest, OneOfSeveralShardsHasOthersBeforeItHasHeardOfThem) {
  FakeServer server;
  config_.cluster_enabled = true;
  for (const bool is_whole : {true, false}) {
    if (!is_whole) membership_.own_slots = {{0, 99}};
    Cluster cluster(&config_, &server->keys(), &server.clock, &membership_, [] { return 1; });
    ASSERT_TRUE(cluster.open().ok());
    EXPECT_EQ(cluster.has_others(), !is_whole);
    EXPECT_EQ(cluster.is_moved(100), !is_whole) << "nor is another's slot served";
  }
}

}  // namespace
}  // namespace weir::server
