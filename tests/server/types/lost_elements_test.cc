// A collection without elements, which no command makes: whoever reads it is answered an error,
// and it can be deleted, or set anew.
#include <gmock/gmock.h>

#include "storage/format/header.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

using storage::Type;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kError =
    "MISCONF a record could not be read: key \"k\" has lost all of its elements";

struct OfType {
  Type type;
  std::vector<std::string_view> lines;
};
const OfType kTypes[] = {
    {Type::kHash,
     {"HRANDFIELD k", "HRANDFIELD k -3", "HRANDFIELD k 2", "HGETALL k", "HSCAN k 0", "HDEL k f",
      "HSET k f v", "HINCRBY k f 1", "HLEN k", "SORT o ALPHA GET *->f"}},
    {Type::kList,
     {"LPOP k", "RPOP k 2", "RPOPLPUSH k q", "LMOVE k k LEFT RIGHT", "BLPOP k 0", "LRANGE k 0 -1",
      "LINDEX k 0", "LPUSH k v", "RPUSHX k v", "LINSERT k BEFORE a b", "LSET k 0 v", "LTRIM k 0 1",
      "LPOS k a", "LMPOP 1 k LEFT", "RPOPLPUSH o k"}},
    {Type::kSet,
     {"SRANDMEMBER k", "SRANDMEMBER k -5", "SRANDMEMBER k 2", "SPOP k", "SPOP k 2", "SMEMBERS k",
      "SADD k x", "SREM k x", "SMOVE k q x", "SINTER k k", "SUNIONSTORE q k", "SSCAN k 0",
      "SORT k ALPHA"}},
    {Type::kZset,
     {"ZRANDMEMBER k", "ZRANDMEMBER k -3", "BZPOPMIN k 0", "ZPOPMAX k 2", "ZRANGE k 0 -1",
      "ZADD k 1 m", "ZINCRBY k 1 m", "ZREMRANGEBYRANK k 0 -1", "ZUNIONSTORE q 1 k", "ZSCAN k 0",
      "ZRANGESTORE q k 0 -1", "ZMPOP 1 k MIN"}},
};

class LostElementsTest : public LimiterTest {
 protected:
  void put(Type type) {
    ask("DEL k q");
    ask("RPUSH o k a");
    storage::Keyspace& keys = (*server_)->keys();
    keys.running().begin_command((*server_)->timeline().now_ns());
    const storage::ElementsId id = keys.lists().make(
        0, type == Type::kList ? storage::Layout::kInSequence : storage::Layout::kScattered);
    std::string payload;
    storage::append_list_ids(&payload, {&id, 1});
    payload.push_back('\0');
    storage::Ref ref = keys.look_up(0, "k");
    keys.put(&ref, type, payload, 0);
    server_->end_turn();
  }
};

TEST_F(LostElementsTest, ReadersAreAnsweredAnError) {
  for (const OfType& of : kTypes) {
    for (const std::string_view line : of.lines) {
      put(of.type);
      EXPECT_THAT(ask(line), HasSubstr(kError)) << line;
    }
    for (const std::string_view line : {"DUMP k", "COPY k q", "MOVE k 1"}) {
      put(of.type);
      EXPECT_THAT(ask(line), HasSubstr(kError)) << line;
      EXPECT_EQ(ask("EXISTS k q"), "1") << line << " handed it on";
    }
  }
  EXPECT_EQ((*server_)->report().stats.internal_errors, 0u);
}

TEST_F(LostElementsTest, OthersGoOn) {
  for (const OfType& of : kTypes) {
    put(of.type);
    for (const std::string_view line : {"TYPE k", "OBJECT ENCODING k", "MEMORY USAGE k",
                                        "EXPIRE k 100", "RENAME k q", "RENAME q k"})
      EXPECT_THAT(ask(line), Not(HasSubstr("MISCONF"))) << line;
    EXPECT_EQ(ask("DEL k"), "1");
    EXPECT_EQ(ask("RPUSH k v"), "1");
    put(of.type);
    EXPECT_EQ(ask("SET k v"), "OK");
  }
}

}  // namespace
}  // namespace weir::server
