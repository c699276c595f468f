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
  // A weir of no shard has written a key into it.
  void fill(const std::string& name) {
    Server server(
        {}, &clock_, [&] { return storage::make_rocks_store({.directory = data(name)}); },
        command_lists());
    ASSERT_STATUS_OK(server.open());
    const auto session = server.connect({});
    ASSERT_TRUE(session);
    (*session)->receive(request({"SET", "k", "v"}), 1);
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
