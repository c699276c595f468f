// Lists where Redis cannot be asked: places that are used up, eviction and restarts, and what one
// insertion costs. Everything else is compared with Redis by tests/differential.
#include "server/types/list.h"

#include <algorithm>
#include <limits>

#include "storage/format/codec.h"
#include "storage/memtable/elements.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class Lists : public LimiterTest {
 protected:
  std::string range(std::string_view key) { return ask("LRANGE " + std::string(key) + " 0 -1"); }

  // Bytes of the log.
  size_t written_by(std::string_view line) {
    ask(line);
    return server_->disk().log.back().record.size();
  }

  // A list whose elements stand at these places: their numbers are their values.
  void plant(std::string_view key, const std::vector<uint64_t>& places) {
    ask("RPUSH " + std::string(key) + " seed");
    storage::Keyspace& keys = (*server_)->keys();
    keys.running().begin_command(server_->clock.wall_ns());
    storage::HeaderView header;
    ASSERT_TRUE(storage::parse_header(keys.look_up(0, key).value(), &header));
    auto elements = keys.lists().open(0, header.ids[0]);
    elements->erase(std::string(elements->at(0).member));
    for (size_t i = 0; i < places.size(); ++i) {
      std::string member;
      storage::put_u64_be(&member, i);
      elements->put(member, places[i], std::string(1, static_cast<char>('0' + i)));
    }
  }
};

TEST_F(Lists, ThePlacesOfAnEndAreUsedUp) {
  constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
  plant("l", {0, 1, kLast - 1, kLast});
  EXPECT_EQ(ask("RPUSH l a"), "5");
  EXPECT_EQ(ask("LPUSH l b"), "6");
  EXPECT_EQ(range("l"), "[\"b\", \"0\", \"1\", \"2\", \"3\", \"a\"]");
  plant("m", {kLast - 1, kLast});
  EXPECT_EQ(ask("LINSERT m AFTER 0 a"), "3");
  EXPECT_EQ(range("m"), "[\"0\", \"a\", \"1\"]");
  plant("n", {0, 1});
  EXPECT_EQ(ask("LINSERT n BEFORE 1 a"), "3");
  EXPECT_EQ(ask("LPUSH n b"), "4");
  EXPECT_EQ(range("n"), "[\"b\", \"0\", \"a\", \"1\"]");
}

// Always at the same spot, from either side: gaps there are used up again and again.
TEST_F(Lists, InsertingAtOneSpotKeepsTheOrder) {
  ask("RPUSH l first last");
  std::string after, before;
  for (int i = 0; i < 400; ++i) {
    const std::string number = std::to_string(i);
    EXPECT_EQ(ask("LINSERT l AFTER first a" + number), std::to_string(3 + 2 * i));
    ask("LINSERT l BEFORE last b" + number);
    after = ", \"a" + number + "\"" + after;
    before += ", \"b" + number + "\"";
  }
  const std::string expected = "[\"first\"" + after + before + ", \"last\"]";
  EXPECT_EQ(range("l"), expected);
  restart();
  EXPECT_EQ(range("l"), expected);
}

// Each element that moves is written once.
TEST_F(Lists, AnInsertionMovesFewOthers) {
  std::string line = "RPUSH l";
  for (int i = 0; i < 1000; ++i) line += " m" + std::to_string(i);
  for (int i = 0; i < 10; ++i) ask(line);
  ask("RPUSH l spot");
  for (int i = 0; i < 10; ++i) ask(line);
  const size_t one_element = written_by("LSET l 10001 x");
  constexpr size_t kInsertions = 1000;
  size_t bytes = 0, bytes_max = 0;
  for (size_t i = 0; i < kInsertions; ++i) {
    const size_t written = written_by("LINSERT l AFTER spot x");
    bytes += written;
    bytes_max = std::max(bytes_max, written);
  }
  EXPECT_LT(bytes / kInsertions, 15 * one_element);
  EXPECT_LT(bytes_max, 2500 * one_element);
}

TEST_F(Lists, ElementsBornAtOnePlaceAreToldApart) {
  ask("RPUSH l a b");
  for (int i = 0; i < 2000; ++i) {
    ask("LINSERT l AFTER a " + std::to_string(i));
    if (i >= 100) ask("RPOP l");
  }
  EXPECT_EQ(ask("LLEN l"), "102");
  EXPECT_EQ(ask("LINDEX l 1"), "\"1999\"");
  EXPECT_EQ(ask("LINDEX l -1"), "\"1899\"");
}

}  // namespace
}  // namespace weir::server
