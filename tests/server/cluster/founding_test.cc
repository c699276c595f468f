// The founding text: what it says, what is wrong with it, and the id that follows from it.
#include "server/cluster/founding.h"

#include <gtest/gtest.h>

#include <random>

#include "base/ascii.h"
#include "server/cluster/shard_facts.h"

namespace weir::server {
namespace {

const std::string kCluster = "cluster limits 0f3b5c1e9a7d42668833aa10ffee9c01\n";

Founding founding_of(const std::string& text) {
  auto read = Founding::parse(text, "F");
  EXPECT_TRUE(read.ok()) << read.error();
  return *read;
}

std::string founding_fault(const std::string& text) {
  const auto read = Founding::parse(text, "F");
  return read ? "" : read.error();
}

std::string id_text(const Founding& founding) {
  const auto id = founding.id();
  return hex_text({reinterpret_cast<const uint8_t*>(id.data()), id.size()});
}

TEST(Founding, SaysWhoHasWhat) {
  const Founding founding = founding_of(
      "# one text for all\n\n  cluster limits 0F3B5C1E9A7D42668833AA10FFEE9C01\r\n"
      "shard c 10922-16383\nshard a 0-99 200-5460\nshard  b 100-199   5461-8000 8001-10921\n");
  EXPECT_EQ(founding.name(), "limits");
  ASSERT_EQ(founding.shards().size(), 3u);
  EXPECT_EQ(founding.shards()[0].name, "a");
  EXPECT_EQ(founding.find("a")->slots, (SlotRanges{{0, 99}, {200, 5460}}));
  EXPECT_EQ(founding.find("b")->slots, (SlotRanges{{100, 199}, {5461, 10921}}));
  EXPECT_EQ(founding.find("c")->slots, (SlotRanges{{10922, 16383}}));
  EXPECT_EQ(founding.find("d"), nullptr);
  EXPECT_EQ(founding.canonical(),
            kCluster + "shard a 0-99 200-5460\nshard b 100-199 5461-10921\nshard c 10922-16383\n");
}

TEST(Founding, SharesAreEvenWhereNoLineHasRanges) {
  EXPECT_EQ(founding_of(kCluster + "shard a\nshard b\nshard c\n").canonical(),
            kCluster + "shard a 0-5460\nshard b 5461-10921\nshard c 10922-16383\n");
  EXPECT_EQ(founding_of(kCluster + "shard a\n").find("a")->slots, all_slots());
  std::string many = kCluster;
  for (int at = 0; at < 64; ++at) many += "shard s" + std::to_string(at) + "\n";
  const Founding founding = founding_of(many);
  for (const FoundedShard& shard : founding.shards()) {
    ASSERT_EQ(shard.slots.size(), 1u);
    EXPECT_EQ(shard.slots[0].last - shard.slots[0].first, 255);
  }
  EXPECT_EQ(founding_fault(many + "shard more\n"), "F:66: a cluster has at most 64 shards");
}

// The first 16 bytes of what sha256sum says of the canonical form.
TEST(Founding, TheIdIsOfWhatIsSaid) {
  const std::string shares = "shard a 0-5460\nshard b 5461-10921\nshard c 10922-16383\n";
  const Founding founding = founding_of(kCluster + shares);
  EXPECT_EQ(id_text(founding), "e807b39bde811aa39a71bca3f98d0905");
  EXPECT_EQ(founding_of("# so\n" + kCluster + "shard a\nshard b\n\tshard c").id(), founding.id());
  for (const std::string& other :
       {"cluster limit 0f3b5c1e9a7d42668833aa10ffee9c01\n" + shares,
        "cluster limits 0f3b5c1e9a7d42668833aa10ffee9c02\n" + shares,
        kCluster + "shard a 0-5459\nshard b 5460-10921\nshard c 10922-16383\n",
        kCluster + "shard b 0-5460\nshard a 5461-10921\nshard c 10922-16383\n",
        kCluster + "shard a\nshard b\nshard c\nshard d\n"})
    EXPECT_NE(founding_of(other).id(), founding.id()) << other;
}

TEST(Founding, NamesTheLineAndWhatIsAccepted) {
  const std::string expected =
      "expected 'cluster NAME 32-HEXADECIMAL-DIGITS' or 'shard NAME [first-last ...]', got ";
  EXPECT_EQ(founding_fault(""), "F: there is no line 'cluster NAME 32-HEXADECIMAL-DIGITS'");
  EXPECT_EQ(founding_fault("shard a\n"),
            "F: there is no line 'cluster NAME 32-HEXADECIMAL-DIGITS'");
  EXPECT_EQ(founding_fault(kCluster), "F: there is no line 'shard NAME [first-last ...]'");
  EXPECT_EQ(founding_fault("cluster limits\n"), "F:1: " + expected + "'cluster limits'");
  EXPECT_EQ(founding_fault("shard\n"), "F:1: " + expected + "'shard'");
  EXPECT_EQ(founding_fault("a h:1 0-5\n"), "F:1: " + expected + "'a h:1 0-5'");
  EXPECT_EQ(founding_fault(std::string("\0\x1b[2J\n", 6)), "F:1: " + expected + "'?\?[2J'");
  EXPECT_EQ(founding_fault(kCluster + kCluster), "F:2: there is a cluster already, 'limits'");
  EXPECT_EQ(founding_fault("cluster a/b " + std::string(32, 'a') + "\n"),
            "F:1: a cluster's name is 1 to 64 letters, digits, '-', '_' and '.', got 'a/b'");
  for (const std::string& random :
       {std::string(31, 'a'), std::string(33, 'a'), std::string(31, 'a') + "g"}) {
    EXPECT_EQ(
        founding_fault("cluster a " + random + "\n"),
        "F:1: after a cluster's name come 32 random hexadecimal digits, got '" + random + "'");
  }
  EXPECT_EQ(founding_fault(kCluster + "shard a,b 0-16383\n"),
            "F:2: a shard's name is 1 to 64 letters, digits, '-', '_' and '.', got 'a,b'");
  for (const std::string slots : {"7", "0-16384", "9-8", "01-5", "-5-9", "0-1-2"}) {
    EXPECT_EQ(founding_fault(kCluster + "shard a " + slots + "\n"),
              "F:2: slots are first-last, within 0 and 16383, got '" + slots + "'");
  }
  EXPECT_EQ(founding_fault(kCluster + "shard a 0-9\nshard b 9-16383\n"),
            "F:3: slot 9 belongs to 'a' already");
  EXPECT_EQ(founding_fault(kCluster + "shard a 0-9 5-16383\n"),
            "F:2: slot 5 belongs to 'a' already");
  EXPECT_EQ(founding_fault(kCluster + "shard a 0-9\nshard a 10-16383\n"),
            "F:3: there is a shard 'a' already; all its ranges are in one line");
  EXPECT_EQ(founding_fault(kCluster + "shard a 0-9\nshard b\n"),
            "F:3: either every shard has ranges of slots, or none has and shares are even");
  EXPECT_EQ(founding_fault(kCluster + "shard a 0-9\nshard b 20-16383\n"),
            "F: no shard has the slots 10-19");
  EXPECT_EQ(founding_fault(kCluster + "shard a 5-9\nshard b 20-16383\n"),
            "F: no shard has the slots 0-4 (15 in all)");
  EXPECT_EQ(founding_fault(std::string(kFoundingBytesMax + 1, '\n')),
            "F: a founding text has at most 262144 bytes");
}

// What a member cannot tell would be served by nobody that the others know of.
TEST(Founding, HasNoMoreRangesThanMembersTellOf) {
  const auto text_of = [](size_t ranges) {
    std::string odd = "shard odd", even = "shard even";
    const int first = kHashSlots - 2 * static_cast<int>(ranges);
    for (int slot = first; slot < kHashSlots; ++slot)
      (slot % 2 == 0 ? even : odd) += " " + std::to_string(slot) + "-" + std::to_string(slot);
    return kCluster + odd + "\n" + even + "\nshard rest 0-" + std::to_string(first - 1) + "\n";
  };
  const Founding most = founding_of(text_of(kToldRangesMax));
  EXPECT_EQ(most.find("odd")->slots.size(), kToldRangesMax);
  EXPECT_EQ(founding_of(most.canonical()).id(), most.id());
  ShardFacts facts;
  for (const SlotRange& range : most.find("odd")->slots) facts.slots.push_back({.slots = range});
  EXPECT_NE(shard_facts_bytes(facts).find("16383-16383:1"), std::string::npos);
  EXPECT_EQ(
      founding_fault(text_of(kToldRangesMax + 1)),
      "F: shard 'even' has 2049 ranges of slots, and members tell one another of 2048 at most");
}

TEST(Founding, AnyTextIsOneOrOneLineOfError) {
  std::mt19937_64 random(3);
  const std::string whole = "# c\n" + kCluster + "shard a 0-5460\nshard b 5461-16383\n";
  size_t good = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = whole;
    for (uint64_t n = random() % 3; n < 3; ++n) {
      const size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text[at] = static_cast<char>(random());
      } else {
        text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
    }
    const auto read = Founding::parse(text, "F");
    if (read) {
      ++good;
      EXPECT_EQ(founding_of(read->canonical()).canonical(), read->canonical());
      for (const FoundedShard& shard : read->shards()) EXPECT_TRUE(are_in_order(shard.slots));
      continue;
    }
    EXPECT_LE(read.error().size(), 300u);
    EXPECT_TRUE(std::all_of(read.error().begin(), read.error().end(), is_printable))
        << read.error();
  }
  EXPECT_GT(good, 100u);
}

}  // namespace
}  // namespace weir::server
