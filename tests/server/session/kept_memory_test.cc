// What clients have the server keep is counted: a walk over every command that keeps something for
// its session compares by how much the heap has grown with what the server has counted.
#include <malloc.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

constexpr size_t kSessions = 40;
constexpr size_t kNames = 60;  // of each session, where a command may be given several times
constexpr size_t kShort = 8;
constexpr size_t kLong = 4000;
// Of what the heap has grown by so much is counted at least, and at most so much more than all:
// a name that is shared counts for each who has it, and a waiter for what it may come to keep.
constexpr double kShareLeast = 0.9;
constexpr double kShareMost = 3;
// What the heap may grow by besides: lists of the server's and of the test's own.
constexpr double kSlackBytes = 16 << 10;
// Of those that write a booking, or a ticket: the store, which is in memory here, keeps it.
constexpr double kShareOfWriters = 0.4;

using Words = std::vector<std::string>;

std::string encode(const Words& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) bytes += bulk(word);
  return bytes;
}

// A name of its own for each number.
std::string name_of(size_t number, size_t bytes) {
  std::string name = std::to_string(number) + "k";
  name.resize(std::max(bytes, name.size()), 'x');
  return name;
}

struct Keeper {
  std::string_view command = {};  // its row
  std::string_view item = {};     // what is kept, where a command keeps several things
  bool repeats = false;           // a session may ask for it kNames times
  // What a session asks before; it keeps nothing that is compared.
  std::function<std::vector<Words>(const std::string& name)> before = nullptr;
  std::function<Words(const std::string& name)> request = nullptr;
  size_t name_bytes_max = kLong;
  double share_least = kShareLeast;
};

Words blocked(const std::string& command, const std::string& name) { return {command, name, "0"}; }

const std::vector<Keeper> kKeepers = {
    {.command = "blpop", .request = [](auto& name) { return blocked("BLPOP", name); }},
    {.command = "brpop", .request = [](auto& name) { return blocked("BRPOP", name); }},
    {.command = "blpop",
     .item = "many keys",
     .request =
         [](auto& name) {
           Words words = {"BLPOP"};
           for (size_t i = 0; i < kNames; ++i) words.push_back(std::to_string(i) + name);
           words.push_back("0");
           return words;
         },
     .name_bytes_max = 400},
    {.command = "blmpop",
     .request =
         [](auto& name) {
           return Words{"BLMPOP", "0", "2", name, name + "2", "LEFT", "COUNT", "2"};
         }},
    {.command = "blmove",
     .request = [](auto& name) { return Words{"BLMOVE", name, name + "2", "LEFT", "RIGHT", "0"}; }},
    {.command = "brpoplpush",
     .request =
         [](auto& name) {
           return Words{"BRPOPLPUSH", name, name + "2", "0"};
         }},
    {.command = "bzpopmin", .request = [](auto& name) { return blocked("BZPOPMIN", name); }},
    {.command = "bzpopmax", .request = [](auto& name) { return blocked("BZPOPMAX", name); }},
    {.command = "bzmpop",
     .request =
         [](auto& name) {
           return Words{"BZMPOP", "0", "1", name, "MIN"};
         }},
    {.command = "waitaof",
     .request =
         [](auto&) {
           return Words{"WAITAOF", "1", "0", "0"};
         }},
    {.command = "rl.acquire",
     .before =
         [](auto& name) {
           return std::vector<Words>{{"RL.TAKE", name, "1/1d"}};
         },
     .request =
         [](auto& name) {
           return Words{"RL.ACQUIRE", name, "1/1d", "TIMEOUT", "0"};
         }},
    {.command = "rl.acquire",
     .item = "LEAKY",
     .before =
         [](auto& name) {
           return std::vector<Words>{{"RL.TAKE", name, "LEAKY", "1/1d", "CAPACITY", "10"}};
         },
     .request =
         [](auto& name) {
           return Words{"RL.ACQUIRE", name, "LEAKY", "1/1d", "CAPACITY", "10", "TIMEOUT", "0"};
         },
     .share_least = kShareOfWriters},
    {.command = "rl.acquire",
     .item = "many limits",
     .before =
         [](auto& name) {
           return std::vector<Words>{{"RL.TAKE", name, "1/1d", "FIXED", "1/2d", "2/3d"}};
         },
     .request =
         [](auto& name) {
           return Words{"RL.ACQUIRE", name,      "1/1d",  "FIXED", "1/2d",
                        "2/3d",       "COST",    "1,1,1", "ID",    name.substr(0, 60),
                        "FULL",       "TIMEOUT", "0"};
         },
     .share_least = kShareOfWriters},
    {.command = "watch",
     .repeats = true,
     .request =
         [](auto& name) {
           return Words{"WATCH", name};
         }},
    {.command = "multi",
     .repeats = true,
     .before = [](auto&) { return std::vector<Words>{{"MULTI"}}; },
     .request =
         [](auto& name) {
           return Words{"GET", name};
         }},
    {.command = "subscribe",
     .repeats = true,
     .request =
         [](auto& name) {
           return Words{"SUBSCRIBE", name};
         }},
    {.command = "psubscribe",
     .repeats = true,
     .request =
         [](auto& name) {
           return Words{"PSUBSCRIBE", name};
         }},
    {.command = "ssubscribe",
     .repeats = true,
     .request =
         [](auto& name) {
           return Words{"SSUBSCRIBE", name};
         }},
    {.command = "client|tracking",
     .item = "PREFIX",
     .repeats = true,
     .before =
         [](auto&) {
           return std::vector<Words>{{"HELLO", "3"}};
         },
     .request =
         [](auto& name) { return Words{"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", name}; }},
    {.command = "client|tracking",
     .item = "names read",
     .repeats = true,
     .before =
         [](auto&) {
           return std::vector<Words>{{"HELLO", "3"}, {"CLIENT", "TRACKING", "ON"}};
         },
     .request =
         [](auto& name) {
           return Words{"GET", name};
         }},
    {.command = "client|setname",
     .request =
         [](auto& name) {
           return Words{"CLIENT", "SETNAME", name};
         },
     .name_bytes_max = 1000},
    {.command = "client|setinfo",
     .request =
         [](auto& name) {
           return Words{"CLIENT", "SETINFO", "LIB-NAME", name};
         },
     .name_bytes_max = 1000},
    {.command = "hello",
     .request =
         [](auto& name) {
           return Words{"HELLO", "3", "SETNAME", name};
         },
     .name_bytes_max = 1000},
    {.command = "monitor", .request = [](auto&) { return Words{"MONITOR"}; }},
};

// Of the commands of a session's own groups, those that keep no more than a number or a mark, or
// what makes it less.
const std::set<std::string_view> kKeepNothing = {"asking",
                                                 "auth",
                                                 "client|caching",
                                                 "client|capa",
                                                 "client|getname",
                                                 "client|getredir",
                                                 "client|help",
                                                 "client|id",
                                                 "client|info",
                                                 "client|kill",
                                                 "client|list",
                                                 "client|no-evict",
                                                 "client|no-touch",
                                                 "client|pause",
                                                 "client|reply",
                                                 "client|trackinginfo",
                                                 "client|unblock",
                                                 "client|unpause",
                                                 "discard",
                                                 "echo",
                                                 "exec",
                                                 "ping",
                                                 "publish",
                                                 "pubsub|channels",
                                                 "pubsub|help",
                                                 "pubsub|numpat",
                                                 "pubsub|numsub",
                                                 "pubsub|shardchannels",
                                                 "pubsub|shardnumsub",
                                                 "punsubscribe",
                                                 "quit",
                                                 "reset",
                                                 "select",
                                                 "spublish",
                                                 "sunsubscribe",
                                                 "unsubscribe",
                                                 "unwatch"};

// What the heap has handed out. Null: this heap does not say (it is a sanitizer's).
std::optional<size_t> heap_now() {
  static const bool kTells = [] {
    const size_t before = mallinfo2().uordblks;
    const std::string block(100'000, 'x');
    return mallinfo2().uordblks - before >= block.size();
  }();
  if (!kTells) return std::nullopt;
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

class KeptMemory {
 public:
  explicit KeptMemory(const Keeper* keeper) : keeper_(*keeper) {}

  size_t counted() {
    return server->sessions().bounds().bytes() + server->messages().tracking().bytes();
  }
  // What is data is counted under maxmemory.
  size_t data() { return server->keys().metrics().bytes; }

  void connect_all() {
    for (size_t i = 0; i < kSessions; ++i) {
      clients.push_back(server.connect());
      clients.back()->call({"PING"});
    }
  }
  void ask_before(size_t name_bytes) {
    if (!keeper_.before) return;
    for (size_t i = 0; i < kSessions; ++i) {
      for (const Words& words : keeper_.before(name_of(i * kNames, name_bytes)))
        clients[i]->send(encode(words));
    }
  }
  void ask(size_t name_bytes) {
    const size_t times = keeper_.repeats ? kNames : 1;
    for (size_t i = 0; i < kSessions; ++i) {
      for (size_t n = 0; n < times; ++n)
        clients[i]->push(encode(keeper_.request(name_of(i * kNames + n, name_bytes))));
    }
    server.run_turns();
    for (const auto& client : clients) {
      client->take();
      client->take();
    }
  }

  FakeServer server;
  std::vector<std::unique_ptr<FakeClient>> clients;

 private:
  const Keeper& keeper_;
};

void compare(const Keeper& keeper, size_t name_bytes) {
  SCOPED_TRACE(std::string(keeper.command) + " " + std::string(keeper.item) + ", names of " +
               std::to_string(name_bytes));
  KeptMemory test(&keeper);
  const size_t counted_first = test.counted();
  test.connect_all();
  test.ask_before(name_bytes);
  const auto heap_before = heap_now();
  const size_t data_before = test.data();
  const size_t counted_before = test.counted();
  test.ask(name_bytes);
  const auto heap_after = heap_now();
  const size_t counted = test.counted() - counted_before;
  if (heap_before) {
    const double grown = static_cast<double>(*heap_after) - static_cast<double>(*heap_before) -
                         static_cast<double>(test.data() - data_before);
    std::printf("%-16s %-12s %5zu  grown %9.0f  counted %9zu  %.2f\n",
                std::string(keeper.command).c_str(), std::string(keeper.item).c_str(), name_bytes,
                grown, counted, static_cast<double>(counted) / grown);
    EXPECT_GE(static_cast<double>(counted), keeper.share_least * grown - kSlackBytes);
    EXPECT_LE(static_cast<double>(counted), kShareMost * std::max(grown, 0.0) + kSlackBytes);
  }
  for (const auto& client : test.clients) {
    ASSERT_FALSE(client->closed());
    EXPECT_GE(client->session().memory_bytes(), sizeof(Session));
    client->leave();
  }
  test.server.run_turns();
  EXPECT_EQ(test.server->sessions().bounds().bytes(), 0u);
  EXPECT_LE(test.counted(), counted_first + test.server->messages().tracking().bytes());
}

TEST(KeptMemory, OfEveryCommandThatKeepsSomethingIsCounted) {
  for (const Keeper& keeper : kKeepers) {
    compare(keeper, kShort);
    compare(keeper, keeper.name_bytes_max);
  }
}

TEST(KeptMemory, TheWalkHasEveryCommandThatMayKeepSomething) {
  static const std::set<std::string_view> kGroups = {"connection", "pubsub", "transactions"};
  std::set<std::string_view> walked;
  for (const Keeper& keeper : kKeepers) walked.insert(keeper.command);
  FakeServer server;
  for (const Commands& list : command_lists()) {
    for (const Command& row : list) {
      if (row.has(kContainer) || row.run == nullptr) continue;
      const bool may_keep = row.has(kBlocking) || kGroups.contains(row.group);
      EXPECT_TRUE(!may_keep || walked.contains(row.name) || kKeepNothing.contains(row.name))
          << row.name << " may keep something for its session: tell the walk what";
      EXPECT_FALSE(walked.contains(row.name) && kKeepNothing.contains(row.name)) << row.name;
    }
  }
}

}  // namespace
}  // namespace weir::server
