// A data directory of a shard: what its WEIR says, who may open it, and how it joins and leaves.
#include <gtest/gtest.h>

#include <cstdio>

#include "storage/format/crc32c.h"
#include "storage/rocks/rocks_directory.h"
#include "tests/storage/wal_fixture.h"

namespace weir::storage {
namespace {

namespace fs = std::filesystem;

const ShardIdentity kShard{
    .cluster = "00112233445566778899aabbccddeeff", .name = "main", .databases = 16};
// WEIR's text, to the letter: FORMAT.md has it.
constexpr std::string_view kText =
    "weir data directory\n"
    "format 2\n"
    "id 0123456789abcdef0123456789abcdef\n"
    "seed 0000000000000001 0000000000000002\n"
    "cluster 00112233445566778899aabbccddeeff\n"
    "shard main\n"
    "databases 16\n"
    "checksum ba9b3f01\n";

TEST(ShardIdentityText, IsThatOfTheExample) {
  const DirectoryIdentity written{
      .id = "0123456789abcdef0123456789abcdef", .seed = {1, 2}, .shard = kShard};
  EXPECT_EQ(encode_identity(written), kText);
  DirectoryIdentity read;
  ASSERT_STATUS_OK(parse_identity(kText, "WEIR", &read));
  EXPECT_EQ(read.id, written.id);
  EXPECT_EQ(read.seed, written.seed);
  EXPECT_EQ(read.shard, kShard);
  for (size_t at = 0; at < kText.size(); ++at) {
    EXPECT_FALSE(parse_identity(flipped(std::string(kText), at, 2), "WEIR", &read).ok()) << at;
    EXPECT_FALSE(parse_identity(kText.substr(0, at), "WEIR", &read).ok()) << at;
  }
}

// The lines and the format belong together, and a later identity does not keep an earlier one's.
TEST(ShardIdentityText, LinesOfAShardAreOfFormat2Only) {
  DirectoryIdentity read;
  std::string alone =
      encode_identity({.id = std::string(32, 'a'), .seed = {1, 2}, .shard = std::nullopt});
  EXPECT_NE(alone.find("format 1\n"), std::string::npos);
  read.shard = kShard;
  ASSERT_STATUS_OK(parse_identity(alone, "WEIR", &read));
  EXPECT_FALSE(read.shard.has_value());
  alone.replace(alone.find("format 1"), 8, "format 2");
  EXPECT_EQ(parse_identity(alone, "WEIR", &read).code(), Status::Code::kCorrupt);
  std::string shards(kText);
  shards.replace(shards.find("format 2"), 8, "format 1");
  EXPECT_EQ(parse_identity(shards, "WEIR", &read).code(), Status::Code::kCorrupt);
}

// Of a shard with a part of the slots.
const ShardIdentity kPart{.cluster = kShard.cluster,
                          .name = "a",
                          .databases = 16,
                          .origin = {.slots = {{0, 5460}, {8000, 8000}},
                                     .born = ShardBirth::kFounded,
                                     .instance = {.ms = 0x19acf, .random = 7}}};
constexpr std::string_view kPartText =
    "weir data directory\n"
    "format 3\n"
    "id 0123456789abcdef0123456789abcdef\n"
    "seed 0000000000000001 0000000000000002\n"
    "cluster 00112233445566778899aabbccddeeff\n"
    "shard a\n"
    "databases 16\n"
    "slots 0-5460 8000-8000\n"
    "born founded\n"
    "instance 0000000000019acf 0000000000000007\n"
    "checksum eb982380\n";

DirectoryIdentity directory_of(const ShardIdentity& shard) {
  return {.id = "0123456789abcdef0123456789abcdef", .seed = {1, 2}, .shard = shard};
}

TEST(ShardIdentityText, OfAPartOfTheSlotsIsThatOfTheExample) {
  EXPECT_EQ(encode_identity(directory_of(kPart)), kPartText);
  DirectoryIdentity read;
  ASSERT_STATUS_OK(parse_identity(kPartText, "WEIR", &read));
  EXPECT_EQ(read.shard, kPart);
  EXPECT_EQ(read.format(), 3);
  for (size_t at = 0; at < kPartText.size(); ++at) {
    EXPECT_FALSE(parse_identity(flipped(std::string(kPartText), at, 2), "WEIR", &read).ok()) << at;
    EXPECT_FALSE(parse_identity(kPartText.substr(0, at), "WEIR", &read).ok()) << at;
  }
  for (const ShardOrigin& origin : {ShardOrigin{.slots = {}, .born = ShardBirth::kJoined},
                                    ShardOrigin{.born = ShardBirth::kRestored}}) {
    ShardIdentity shard = kPart;
    shard.origin = origin;
    ASSERT_STATUS_OK(parse_identity(encode_identity(directory_of(shard)), "WEIR", &read));
    EXPECT_EQ(read.shard, shard);
  }
}

// With a checksum that fits.
std::string part_text(const std::string& was, const std::string& is) {
  std::string text(kPartText.substr(0, kPartText.find("checksum")));
  text.replace(text.find(was), was.size(), is);
  char sum[32];
  std::snprintf(sum, sizeof sum, "checksum %08x\n", crc32c(text));
  return text + sum;
}

TEST(ShardIdentityText, LinesOfFormat3AreExact) {
  DirectoryIdentity read;
  ASSERT_STATUS_OK(parse_identity(part_text("shard a", "shard b"), "WEIR", &read));
  for (const auto& [was, is] : std::initializer_list<std::pair<std::string, std::string>>{
           {"0-5460 8000-8000", "0-5460  8000-8000"},
           {"0-5460 8000-8000", "8000-8000 0-5460"},
           {"0-5460", "0-7999"},
           {"8000-8000", "8000-16384"},
           {"0-5460", "00-5460"},
           {"0-5460 8000-8000", ""},
           {"founded", "found"},
           {"founded", "Founded"},
           {"born founded\n", ""},
           {"0000000000019acf", "19acf"},
           {"0000000000019acf 0000000000000007", "19acf"},
           {"0000000000019acf ", "0000000000019acf_"},
           {"format 3", "format 2"},
           {"slots 0-5460 8000-8000\nborn founded\ninstance 0000000000019acf 0000000000000007\n",
            "slots 0-16383\nborn founded\ninstance 0000000000000000 0000000000000000\n"}}) {
    EXPECT_EQ(parse_identity(part_text(was, is), "WEIR", &read).code(), Status::Code::kCorrupt)
        << was << " " << is;
  }
}

TEST(ShardName, IsShortAndPlain) {
  for (const std::string& name :
       {std::string("a"), std::string("Main-1_x.y"), std::string(64, 'z')})
    EXPECT_TRUE(is_shard_name(name)) << name;
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a\nb"),
                                  std::string("\xc3\xa4"), std::string(65, 'z')})
    EXPECT_FALSE(is_shard_name(name)) << name;
}

class ShardDirectoryTest : public testing::Test {
 protected:
  RocksOptions options(const std::optional<ShardIdentity>& shard,
                       ShardStep step = ShardStep::kNone) const {
    return {.directory = data_, .shard = shard, .shard_seed = {7, 8}, .shard_step = step};
  }
  Status open(const RocksOptions& options) const {
    return StoreDriver(make_rocks_store(options)).open();
  }
  void expect_refused(const RocksOptions& options, const std::string& part) const {
    const std::string before = fs::exists(data_ + "/WEIR") ? contents(data_ + "/WEIR") : "";
    const Status status = open(options);
    EXPECT_EQ(status.code(), Status::Code::kRefused);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
    if (!before.empty()) {
      EXPECT_EQ(contents(data_ + "/WEIR"), before);
    }
  }
  void make_single() const {
    StoreDriver store(make_rocks_store(options({})));
    ASSERT_STATUS_OK(store.open());
    ASSERT_STATUS_OK(store.append(1, 5));
  }
  std::vector<uint64_t> turns(const RocksOptions& options) const {
    StoreDriver store(make_rocks_store(options));
    EXPECT_STATUS_OK(store.open());
    std::vector<uint64_t> found;
    EXPECT_STATUS_OK(store.replay(1, &found));
    return found;
  }
  // Whether any file of the log has the bytes.
  bool log_holds(const std::string& bytes) const {
    for (const auto& entry : fs::directory_iterator(data_ + "/log")) {
      const std::string extension = entry.path().extension();
      if (extension != ".log" && extension != ".sst") continue;
      if (contents(entry.path()).find(bytes) != std::string::npos) return true;
    }
    return false;
  }

  TemporaryDirectory directory_;
  const std::string data_ = directory_ / "data";
};

TEST_F(ShardDirectoryTest, AloneStaysOfFormat1ByteForByte) {
  make_single();
  const std::string before = contents(data_ + "/WEIR");
  EXPECT_NE(before.find("format 1\nid "), std::string::npos);
  EXPECT_EQ(std::count(before.begin(), before.end(), '\n'), 5);
  ASSERT_STATUS_OK(open(options({})));
  EXPECT_EQ(contents(data_ + "/WEIR"), before);
  expect_refused(options(kShard),
                 "belongs to no shard, and cannot join shard main of cluster " + kShard.cluster);
}

TEST_F(ShardDirectoryTest, IsMadeWithTheShardsSeed) {
  StoreDriver store(make_rocks_store(options(kShard)));
  ASSERT_STATUS_OK(store.open());
  EXPECT_EQ(store->hash_seed(), (HashSeed{7, 8}));
  store.close();
  ASSERT_STATUS_OK(open(options(kShard)));
  expect_refused(options({}), "belongs to shard main of cluster " + kShard.cluster +
                                  ": it opens with the shard's log only");
  ShardIdentity other = kShard;
  other.name = "second";
  expect_refused(options(other), "belongs to shard main");
  expect_refused(options(other, ShardStep::kJoin), "already; --leave-shard takes it out");
  other = kShard;
  other.cluster[0] = 'f';
  expect_refused(options(other), "not to shard main of cluster f0112233445566778899aabbccddeeff");
  other = kShard;
  other.databases = 17;
  expect_refused(options(other), "belongs to shard main");
}

TEST_F(ShardDirectoryTest, JoinsAndLeavesWithAllTurns) {
  make_single();
  ASSERT_STATUS_OK(open(options(kShard, ShardStep::kJoin)));
  ASSERT_STATUS_OK(open(options(kShard, ShardStep::kJoin)));  // as after a crash
  EXPECT_EQ(turns(options(kShard)).size(), 5u);
  {
    StoreDriver store(make_rocks_store(options(kShard)));
    ASSERT_STATUS_OK(store.open());
    const std::vector<std::string> six{"turn 6"};
    ASSERT_STATUS_OK(
        store->append_batch({.first_turn = 6, .turns = six, .bookmark = "THE BOOKMARK"}));
  }
  EXPECT_TRUE(log_holds("THE BOOKMARK"));
  expect_refused(options({}), "belongs to shard main");
  ASSERT_STATUS_OK(open(options({}, ShardStep::kLeave)));
  EXPECT_FALSE(log_holds("THE BOOKMARK"));
  EXPECT_FALSE(log_holds(std::string(8, '\xff') + std::string(7, '\0') + '\6'));
  EXPECT_EQ(turns(options({})).size(), 6u);
  expect_refused(options({}, ShardStep::kLeave), "belongs to no shard");
  for (const int again : {1, 2}) {
    StoreDriver store(make_rocks_store(options({})));
    ASSERT_STATUS_OK(store.open());
    std::vector<KeptBookmark> bookmarks;
    ASSERT_STATUS_OK(store->bookmarks(&bookmarks));
    EXPECT_TRUE(bookmarks.empty());
    ASSERT_STATUS_OK(
        store.append(5 + 2 * static_cast<uint64_t>(again), 6 + 2 * static_cast<uint64_t>(again)));
    ASSERT_STATUS_OK(store.write_back({{stored_key("a"), stored_value("1")}}, 6));
  }
}

// A server alone gives its whole log back when everything is in the state.
TEST_F(ShardDirectoryTest, JoinsWithALogThatIsEmpty) {
  {
    StoreDriver store(make_rocks_store(options({})));
    ASSERT_STATUS_OK(store.open());
    ASSERT_STATUS_OK(store->forget_turns());
    ASSERT_STATUS_OK(store.append(1, 5, std::string(300'000, 't')));
    ASSERT_STATUS_OK(store.write_back({{stored_key("a"), stored_value("1")}}, 5));
  }
  EXPECT_TRUE(turns(options({})).empty());
  const std::vector<std::string> more{"turn 5", "turn 6"};
  {
    StoreDriver store(make_rocks_store(options(kShard, ShardStep::kJoin)));
    ASSERT_STATUS_OK(store.open());
    ASSERT_STATUS_OK(store->append_batch({.first_turn = 5, .turns = more, .bookmark = "six"}));
  }
  StoreDriver store(make_rocks_store(options(kShard)));
  ASSERT_STATUS_OK(store.open());
  EXPECT_EQ(store.report.last_turn, 6u);
  std::vector<uint64_t> found;
  EXPECT_STATUS_OK(store.replay(6, &found));
  EXPECT_EQ(found, std::vector<uint64_t>{6});
}

// Slots and instance are of the shard as its name is.
TEST_F(ShardDirectoryTest, OfAPartOfTheSlotsIsOfThatPartOnly) {
  ASSERT_STATUS_OK(open(options(kPart)));
  EXPECT_NE(contents(data_ + "/WEIR").find("\nslots 0-5460 8000-8000\n"), std::string::npos);
  ASSERT_STATUS_OK(open(options(kPart)));
  ShardIdentity other = kPart;
  other.origin.slots = {{0, 5460}};
  expect_refused(options(other),
                 "(slots 0-5460 8000-8000, instance 0000000000019acf 0000000000000007), not to");
  other = kPart;
  ++other.origin.instance.random;
  expect_refused(options(other), "belongs to shard a");
  other = kPart;
  other.origin = {};
  expect_refused(options(other), "belongs to shard a");
  ASSERT_STATUS_OK(open(options({}, ShardStep::kLeave)));
  EXPECT_NE(contents(data_ + "/WEIR").find("format 1\nid "), std::string::npos);
}

TEST_F(ShardDirectoryTest, NothingIsMadeByAStep) {
  expect_refused(options(kShard, ShardStep::kJoin), "holds no data");
  expect_refused(options({}, ShardStep::kLeave), "holds no data");
}

TEST_F(ShardDirectoryTest, IsLookedAtByAnybodyAndItsCheckpointIsOfTheShard) {
  {
    StoreDriver store(make_rocks_store(options(kShard)));
    ASSERT_STATUS_OK(store.open());
    const std::vector<std::string> turn{"turn 1"};
    ASSERT_STATUS_OK(store->append_batch({.first_turn = 1, .turns = turn, .bookmark = "one"}));
    store->start_checkpoint(directory_ / "copy");
    while (store->checkpoint_state().running) std::this_thread::yield();
    ASSERT_STATUS_OK(store->checkpoint_state().failure);
  }
  EXPECT_STATUS_OK(open({.directory = data_, .inspect = true}));
  EXPECT_EQ(contents(directory_ / "copy/WEIR"), contents(data_ + "/WEIR"));
}

}  // namespace
}  // namespace weir::storage
