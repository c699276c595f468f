// --new-shard and --leave-shard: what they make of directories and logs, also where they died.
#include "server/failover/member/new_shard.h"

#include <gtest/gtest.h>

#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/failover/member/shard_names.h"
#include "server/failover/shared_log/open_log.h"
#include "storage/replication/log_bookmark.h"
#include "storage/rocks/rocks_directory.h"
#include "tests/server/fake_server.h"
#include "tests/storage/wal_fixture.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

class NewShardTest : public testing::Test {
 protected:
  std::string data(const std::string& name) const { return directory_ / name; }
  ShardPlan plan(const std::string& name, const std::string& shard = "main") {
    return {.store = {.directory = data(name)},
            .name = shard,
            .databases = 16,
            .log = log_.get(),
            .clock = &clock_,
            .random = {++drawn_, 2, 3}};
  }
  std::string make(const ShardPlan& plan) {
    std::string said;
    const auto made = make_shard(plan, &said);
    return made ? said : made.error();
  }
  std::string leave(const std::string& name) {
    const auto left = leave_shard({.directory = data(name)});
    return left ? "left" : left.error();
  }
  // Of one of two shards that share the slots; `edit` makes it another text.
  ShardPlan founded(const std::string& name, const std::string& shard,
                    const std::string& edit = "0-8191") {
    const std::string text = "cluster limits " + std::string(32, '7') + "\nshard a " + edit +
                             "\nshard b " + (edit == "0-8191" ? "8192" : "8193") + "-16383\n";
    ShardPlan founded = plan(name, shard);
    founded.founding = *Founding::parse(text, "F");
    return founded;
  }
  void begin_other_log() {
    log_ = std::move(open_shared_log("file:" + (directory_ / "other.log"))->log);
  }
  // A weir of no shard has written a key into it.
  void fill(const std::string& name) { fill(name, {"SET k v"}); }
  void fill(const std::string& name, const std::vector<std::string>& lines) {
    Server server(
        {}, &clock_, [&] { return storage::make_rocks_store({.directory = data(name)}); },
        command_lists());
    ASSERT_STATUS_OK(server.open());
    const auto session = server.connect({});
    ASSERT_TRUE(session);
    for (const std::string& line : lines) (*session)->receive(line + "\r\n", 1);
    server.end_turn();
    ASSERT_STATUS_OK(server.close());
    turn_ = server.keys().turn();
    server.disconnect(*session);
  }
  std::optional<FoundGenesis> genesis() {
    WaitingLog log(log_.get(), &clock_);
    const auto found = read_genesis(&log);
    EXPECT_TRUE(found) << found.error();
    return found ? *found : std::nullopt;
  }
  storage::DirectoryIdentity identity(const std::string& name) {
    storage::DirectoryIdentity identity;
    bool fresh = false;
    EXPECT_STATUS_OK(storage::RocksDirectory(data(name)).identify(&fresh, &identity));
    EXPECT_FALSE(fresh);
    return identity;
  }
  std::vector<storage::KeptBookmark> bookmarks(const std::string& name) {
    const auto store = storage::make_rocks_store({.directory = data(name), .inspect = true});
    storage::OpenReport report;
    EXPECT_STATUS_OK(store->open(&report));
    std::vector<storage::KeptBookmark> bookmarks;
    EXPECT_STATUS_OK(store->bookmarks(&bookmarks));
    return bookmarks;
  }

  storage::TemporaryDirectory directory_;
  FakeClock clock_;
  std::unique_ptr<storage::replication::SharedLog> log_ =
      std::move(open_shared_log("file:" + (directory_ / "shared.log"))->log);
  uint64_t drawn_ = 0;
  uint64_t turn_ = 0;
};

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST_F(NewShardTest, OfADirectoryWithData) {
  fill("a");
  const auto before = identity("a");
  expect_part(make(plan("a")), "a is the beginning of shard main of cluster 01000000000000000");
  const auto found = genesis();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->genesis.shard_name, "main");
  EXPECT_EQ(found->genesis.hash_seed, before.seed);
  EXPECT_EQ(found->genesis.first_turn, turn_ + 1);
  EXPECT_EQ(found->genesis.databases, 16u);
  EXPECT_EQ(found->genesis.base, id_of_hex(before.id));
  const auto after = identity("a");
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.seed, before.seed);
  EXPECT_EQ(after.shard, shard_of(found->genesis));
  const auto kept = bookmarks("a");
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].turn, turn_);
  const auto bookmark = storage::replication::decode_bookmark(kept[0].bytes);
  ASSERT_TRUE(bookmark);
  EXPECT_EQ(bookmark->head, found->head);
  EXPECT_EQ(bookmark->epoch, found->head);
  EXPECT_EQ(bookmark->next_turn, turn_ + 1);
}

TEST_F(NewShardTest, OfNothing) {
  expect_part(make(plan("a")), "up to turn 0");
  const auto found = genesis();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->genesis.first_turn, 1u);
  EXPECT_EQ(bookmarks("a").size(), 1u);
}

TEST_F(NewShardTest, IsMadeOnce) {
  fill("a");
  fill("b");
  expect_part(make(plan("a")), "is the beginning");
  expect_part(make(plan("a")), "a belongs to shard main of cluster 01000000000000000");
  expect_part(make(plan("a", "other")), "belongs to shard main");
  expect_part(make(plan("b")), "the shared log is that of shard main of cluster 0100");
  EXPECT_FALSE(identity("b").shard.has_value());
  expect_part(make(plan("c", "a b")), "a shard's name is 1 to 64 letters");
  EXPECT_FALSE(fs::exists(data("c")));
}

// It died after GENESIS: the directory says nothing yet, and nobody else may finish it.
TEST_F(NewShardTest, FinishesWhatItHadBegun) {
  fill("a");
  fill("b");
  fs::copy(data("a"), data("begun"), fs::copy_options::recursive);
  expect_part(make(plan("a")), "is the beginning");
  expect_part(make(plan("b")), "is that of shard main");
  expect_part(make(plan("begun", "other")), "is that of shard main");
  expect_part(make(plan("begun")), "is the beginning of shard main of cluster 0100");
  EXPECT_EQ(identity("begun").shard, identity("a").shard);
  EXPECT_EQ(bookmarks("begun").size(), 1u);
}

TEST_F(NewShardTest, DoesNotFinishADirectoryThatHasGoneOn) {
  fill("a");
  fs::copy(data("a"), data("begun"), fs::copy_options::recursive);
  expect_part(make(plan("a")), "is the beginning");
  fill("begun");
  expect_part(make(plan("begun")), "has changed since it became the beginning of shard main");
  EXPECT_FALSE(identity("begun").shard.has_value());
}

TEST_F(NewShardTest, IsFoundedWithItsShareOfTheSlots) {
  fill("a", {"SET b v"});  // slot 3300
  const ShardPlan plan = founded("a", "a");
  const std::string id = hex_of_id(plan.founding->id());
  expect_part(make(plan), "is the beginning of shard a of cluster " + id + ", up to turn ");
  const auto found = genesis();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->genesis.cluster, plan.founding->id());
  EXPECT_EQ(found->genesis.origin.slots, (SlotRanges{{0, 8191}}));
  EXPECT_EQ(found->genesis.origin.born, storage::ShardBirth::kFounded);
  EXPECT_EQ(found->genesis.origin.instance.ms, static_cast<uint64_t>(clock_.wall_ns() / kNsPerMs));
  EXPECT_EQ(found->genesis.origin.instance.random, plan.random[0]);
  EXPECT_EQ(identity("a").shard, shard_of(found->genesis));
  EXPECT_EQ(identity("a").format(), 3);
  begin_other_log();
  expect_part(make(founded("b", "b")), "with the slots 8192-16383");
  EXPECT_EQ(identity("b").shard->cluster, id);
  EXPECT_NE(identity("b").shard->origin.instance, identity("a").shard->origin.instance);
}

// One shard with all slots is what every shard was before, but for its cluster's id.
TEST_F(NewShardTest, AloneInItsFoundingTextItIsAWholeShard) {
  ShardPlan alone = plan("a", "a");
  alone.founding = *Founding::parse("cluster c " + std::string(32, '7') + "\nshard a\n", "F");
  expect_part(make(alone), "with the slots 0-16383");
  EXPECT_TRUE(genesis()->genesis.origin.is_whole());
  EXPECT_EQ(identity("a").format(), 2);
  EXPECT_EQ(identity("a").shard->cluster, hex_of_id(alone.founding->id()));
}

TEST_F(NewShardTest, IsFoundedByANameOfTheTextAndBySlotsOfItsOwn) {
  fill("a", {"SET b v", "SET a v", "SET k v"});
  expect_part(make(founded("a", "c")),
              "the founding text of cluster 'limits' has the shards 'a', 'b', and none of the name "
              "'c'");
  expect_part(make(founded("a", "b")),
              "a holds 2 keys of slots that the founding text gives to other shards, as slot 3300 "
              "to 'a'");
  expect_part(make(founded("a", "a")), "a holds 1 keys of slots");
  EXPECT_FALSE(genesis().has_value());
  EXPECT_FALSE(identity("a").shard.has_value());
  fill("d", {"SELECT 1", "SET b v"});
  expect_part(make(founded("d", "a")),
              "holds 1 keys in databases other than 0, and a cluster has database 0 only");
  EXPECT_FALSE(genesis().has_value());
}

// Elements, requests that are remembered, policies and flushed keys are no keys of slots.
TEST_F(NewShardTest, CountsKeysThatClientsSee) {
  fill("a", {"SET k v", "FLUSHALL", "RL.POLICY SET p 5/1s", "RL.POLICY OVERRIDE p KEY x 6/1s",
             "HSET b k 1 a 2 x 3 y 4 z 5", "RL.TAKE {b}l 5/1s ID k", "RL.TAKE {b}m 5/1s ID a",
             "SCRIPT LOAD \"return 1\""});
  // Nor is a key that has expired and was not removed yet.
  fill("a", {"SET {a}e v PX 1"});
  clock_.advance(kNsPerS);
  fill("a", {"SET {b}n v"});
  expect_part(make(founded("a", "a")), "is the beginning of shard a");
}

// It died after GENESIS: the same text and the same directory finish it, and nothing else does.
TEST_F(NewShardTest, FinishesWhatFoundingHadBegun) {
  fill("a", {"SET b v"});
  fs::copy(data("a"), data("begun"), fs::copy_options::recursive);
  expect_part(make(founded("a", "a")), "is the beginning");
  const auto begun = genesis();
  expect_part(make(plan("begun", "a")),
              "already, which was founded with a part of the slots (0-8191): --founding names the "
              "text");
  expect_part(make(founded("begun", "b")), "holds 1 keys of slots");
  expect_part(make(founded("begun", "a", "0-8192")),
              "already, and the founding text makes cluster");
  EXPECT_FALSE(identity("begun").shard.has_value());
  clock_.advance(kNsPerS);
  expect_part(make(founded("begun", "a")), "is the beginning of shard a");
  EXPECT_EQ(identity("begun").shard, identity("a").shard) << "the instance is that of GENESIS";
  EXPECT_EQ(genesis()->head, begun->head);
  EXPECT_EQ(bookmarks("begun").size(), 1u);
  expect_part(make(founded("begun", "a")), "belongs to shard a of cluster");
  EXPECT_EQ(leave("begun"), "left");
  EXPECT_EQ(identity("begun").format(), 1);
}

TEST_F(NewShardTest, LeavesAndGoesOnAlone) {
  fill("a");
  const std::string before = storage::contents(data("a") + "/WEIR");
  expect_part(leave("a"), "belongs to no shard");
  expect_part(make(plan("a")), "is the beginning");
  {
    Server server(
        {}, &clock_, [&] { return storage::make_rocks_store({.directory = data("a")}); },
        command_lists());
    expect_part(server.open().message(), "a belongs to shard main of cluster 0100");
  }
  EXPECT_EQ(leave("a"), "left");
  EXPECT_EQ(storage::contents(data("a") + "/WEIR"), before);
  EXPECT_TRUE(bookmarks("a").empty());
  const uint64_t turn = turn_;
  fill("a");
  EXPECT_EQ(turn_, turn + 1);
  expect_part(leave("nowhere"), "nowhere is no directory");
  EXPECT_FALSE(fs::exists(data("nowhere")));
}

TEST(OpenSharedLog, NamesWhatIsAccepted) {
  const std::string accepted =
      "a shared log is file:PATH, PATH beginning with /, postgres://USER@HOST/DATABASE, "
      "nats://HOST, or tls://HOST";
  for (const std::string address : {"", "file:", "file:relative", "file:/folder/", "mysql://x"}) {
    const auto log = open_shared_log(address);
    ASSERT_FALSE(log) << address;
    EXPECT_EQ(log.error(), accepted + ", got '" + address + "'");
  }
  EXPECT_EQ(open_shared_log("postgre://me:secret@host").error(), accepted);
  expect_part(open_shared_log("postgres://me:secret@host/db").error(), "must not hold a password");
  expect_part(open_shared_log("postgres://me@host/db").error(), "needs a shard's name");
  EXPECT_TRUE(open_shared_log("postgres://me@host/db", {.shard = "main", .password_file = ""}));
  expect_part(open_shared_log("nats://host", {.shard = "main", .password_file = "/p"}).error(),
              "names none: nats://USER@HOST");
}

}  // namespace
}  // namespace weir::server
