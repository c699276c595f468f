// Which single commands may take longer than a session's slice: every command of the table, with
// sizes from a heavy-tailed distribution, by sessions of several rights.
#include "tests/server/long_commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "server/command/usage.h"
#include "tests/server/work_fixture.h"

namespace weir::server {
namespace {

// Sizes as clients have them: mostly small, now and then huge.
class Sizes {
 public:
  explicit Sizes(uint64_t seed) : random_(seed) {}
  uint64_t below(uint64_t end) { return random_() % end; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  // At least 1; a size of twice as much is three quarters as likely.
  size_t heavy(size_t most) {
    size_t size = 1;
    while (size < most && !one_in(4)) size *= 2;
    return std::min(most, size + below(size));
  }

 private:
  std::mt19937_64 random_;
};

// Requests that fit a command's usage text, mostly.
class Requests {
 public:
  explicit Requests(Sizes* sizes) : sizes_(*sizes) {}

  std::vector<std::string> make(const Command& command) {
    words_.clear();
    const size_t bar = command.name.find('|');
    words_.emplace_back(command.name.substr(0, bar));
    if (bar != command.name.npos) words_.emplace_back(command.name.substr(bar + 1));
    group_ = command.group;
    add(parse_usage(command.usage));
    return words_;
  }

  // Of each type one that is small, one that is in between and one that is huge.
  static constexpr const char* kSizesOfKeys[] = {":0", ":1", ":2"};

 private:
  void add(const std::vector<UsageArgument>& arguments) {
    for (const UsageArgument& argument : arguments) {
      if (argument.optional && !sizes_.one_in(3)) continue;
      if (group_ == "ratelimit" && (argument.name == "option-value" || argument.name == "limit")) {
        continue;
      }
      if (argument.name == "limits") {
        if (!argument.token.empty()) words_.push_back(argument.token);
        add_limits();
        continue;
      }
      const size_t word_bytes_before = word_bytes_max_;
      size_t times = 1;
      if (argument.multiple) times = announced_ != 0 ? announced_ : sizes_.heavy(1000);
      // "key [key ...]" is two arguments, of which the second comes once less.
      for (size_t i = 0; i < times; ++i) {
        if (!argument.token.empty() && (i == 0 || argument.multiple_token))
          words_.push_back(argument.token);
        if (times > 1) word_bytes_max_ = 100;
        add_one(argument);
      }
      word_bytes_max_ = word_bytes_before;
      if (argument.multiple) announced_ = 0;
    }
  }

  void add_one(const UsageArgument& argument) {
    if (argument.kind == UsageKind::kPureToken) return;
    if (argument.kind == UsageKind::kBlock) return add(argument.arguments);
    if (argument.kind == UsageKind::kOneOf)
      return add({argument.arguments[sizes_.below(argument.arguments.size())]});
    words_.push_back(word(argument));
  }

  void add_limits() {
    for (const char* limit : {"GCRA", "10/1s"}) words_.emplace_back(limit);
  }

  std::string word(const UsageArgument& argument) {
    const std::string& name = argument.name;
    if (argument.kind == UsageKind::kKey || name == "source" || name == "destination") return key();
    if (name == "numkeys" || name == "numfields") {
      announced_ = 1 + sizes_.below(4);
      return std::to_string(announced_);
    }
    if (name == "start" || name == "first") return "0";
    if (name == "stop" || name == "end") return "-1";
    if (name == "min")
      return group_ == "sorted-set" && words_[0].find("lex") != words_[0].npos ? "-" : "-inf";
    if (name == "max")
      return group_ == "sorted-set" && words_[0].find("lex") != words_[0].npos ? "+" : "+inf";
    if (name == "pattern") return sizes_.one_in(2) ? "*" : "m*5";
    if (name == "cursor" || name == "offset") return "0";
    if (name == "timeout" || name == "seconds" || name == "milliseconds" || name == "time")
      return "1";
    if (name == "script") return script();
    if (name == "id") return std::to_string(sizes_.below(30'000));
    if (name == "function-code") return kLibrary;
    if (name == "function") return "all_of";
    if (name == "serialized-value") return dump;
    if (name == "index" || name == "destination-db") return "0";
    if (name == "member" || name == "field" || name == "element" || name == "pivot")
      return "m" + std::to_string(sizes_.heavy(30'000));
    if (argument.kind == UsageKind::kInteger || argument.kind == UsageKind::kDouble ||
        argument.kind == UsageKind::kUnixTime || name == "score" || name == "count" ||
        name == "increment" || name == "n")
      return std::to_string(sizes_.heavy(1 << 20));
    return std::string(sizes_.heavy(word_bytes_max_), 'v');
  }

  std::string key() {
    static const std::map<std::string, std::string, std::less<>> kKeys = {
        {"string", "string"}, {"list", "list"},       {"set", "set"},
        {"hash", "hash"},     {"sorted-set", "zset"}, {"ratelimit", "limiter"}};
    static constexpr const char* kAny[] = {"string", "list", "set", "hash", "zset"};
    const auto own = kKeys.find(group_);
    const std::string type =
        own != kKeys.end() && !sizes_.one_in(8) ? own->second : kAny[sizes_.below(5)];
    if (sizes_.one_in(8)) return "new" + std::to_string(sizes_.below(5));
    return type + kSizesOfKeys[sizes_.below(3)];
  }

  std::string script() {
    static constexpr const char* kScripts[] = {
        "return redis.call('LRANGE', 'list:2', 0, -1)",
        "local n = 0 for i = 1, 3000000 do n = n + i end return n",
        "return #redis.call('KEYS', '*')",
        "return 1",
    };
    return kScripts[sizes_.below(4)];
  }

 public:
  static constexpr const char* kLibrary =
      "#!lua name=lib\nredis.register_function('all_of', function() return "
      "redis.call('HGETALL', 'hash:2') end)\nredis.register_function{function_name='all_ro', "
      "callback=function() return #redis.call('SMEMBERS', 'set:2') end, flags={'no-writes'}}";
  std::string dump;

 private:
  Sizes& sizes_;
  std::vector<std::string> words_;
  std::string_view group_;
  size_t word_bytes_max_ = 300'000;
  size_t announced_ = 0;  // how many come, as numkeys said
};

class EveryCommand : public WorkBudget {
 protected:
  void populate() {
    auto client = logged_in("default", kPassword);
    client->call({"FLUSHALL"});
    constexpr int kSizes[] = {5, 400, 25'000};
    for (int i = 0; i < 3; ++i) {
      const std::string end = Requests::kSizesOfKeys[i];
      client->call({"SET", "string" + end, std::string(4 * kSizes[i], 's')});
      fill(*client, "RPUSH", "list" + end, kSizes[i]);
      fill(*client, "SADD", "set" + end, kSizes[i]);
      fill(*client, "HSET", "hash" + end, kSizes[i], true);
      fill(*client, "ZADD", "zset" + end, kSizes[i], true);
    }
    for (int i = 0; i < 3; ++i) fill_limiter(*client, Requests::kSizesOfKeys[i], kSizes[i]);
    for (int i = 0; i < 20; ++i) {
      std::vector<std::string> words = {"MSET"};
      for (int j = 0; j < 600; ++j) {
        words.push_back("k" + std::to_string(600 * i + j));
        words.emplace_back("v");
      }
      client->send(request_of(words));
    }
    client->call({"FUNCTION", "LOAD", "REPLACE", Requests::kLibrary});
    const std::string dump = client->call({"DUMP", "list:2"});
    requests_.dump = dump.substr(dump.find('\n') + 1);
    requests_.dump.resize(requests_.dump.size() - 2);
    client->leave();
  }

  // Many bookings, the first of them large enough to owe all others.
  static void fill_limiter(FakeClient& client, const std::string& end, int bookings) {
    const auto booking = [&end](std::string_view cost) {
      return request({"RL.RESERVE", "limiter" + end, "TOKENBUCKET", "1/1s", "CAPACITY", "100000",
                      "COST", cost});
    };
    std::string pipeline = booking("100000") + booking("100000") + booking("100000");
    for (int i = 0; i < bookings; ++i) pipeline += booking("1");
    client.send(pipeline);
  }

  std::unique_ptr<FakeClient> logged_in(std::string_view name, std::string_view password) {
    auto client = server_.connect();
    if (client != nullptr) client->call({"AUTH", name, password});  // a pause may hold it up
    return client;
  }

  // Of all rights, of few, of none, and an unauthenticated client.
  std::unique_ptr<FakeClient> somebody() {
    const uint64_t who = sizes_.below(9);
    if (who == 0) return server_.connect();
    for (const char* name : {"shop", "limits", "reader", "nobody"}) {
      if (sizes_.below(9) == 0) return logged_in(name, name);
    }
    auto client = logged_in("default", kPassword);
    if (who == 1 && client != nullptr && !client->closed()) client->call({"HELLO", "3"});
    return client;
  }

  // Sends one request; what it has cost is noted. REQUIRES: no request of the client is left over.
  void send_one(FakeClient& client, const Command& command) {
    const bool is_over = server_->work().turn_is_over();
    const uint64_t commands = server_->report().stats.commands;
    const uint64_t before = units();
    const bool is_unauthenticated = client.session().is_unauthenticated();
    // Who is monitored pays for what is shown, an eighth of a unit a byte, whatever the command.
    const bool is_shown = server_->messages().monitors().any();
    client.push(request_of(requests_.make(command)));
    if (is_over) {
      EXPECT_EQ(server_->report().stats.commands, commands) << command.name;
    }
    uint64_t& most = costs_[std::string(command.name)];
    const uint64_t cost = units() - before;
    if (is_unauthenticated) {
      EXPECT_LE(cost, kUnauthenticatedUnits) << command.name;
    }
    if (!is_shown) most = std::max(most, cost);
  }

  // A turn of somebody's requests.
  void turn(const std::vector<const Command*>& commands) {
    std::vector<std::unique_ptr<FakeClient>> clients;
    for (const Command* command : commands) {
      clients.push_back(somebody());
      if (clients.back() == nullptr || clients.back()->closed()) continue;
      send_one(*clients.back(), *command);
    }
    server_->sessions().holds().unpause();
    server_.run_turns();
    for (auto& client : clients) {
      if (client != nullptr && !client->closed()) client->leave();
    }
    server_->shutdown = {};
    server_.advance(3 * kSecond);
  }

  static uint64_t seed() {
    const char* given = std::getenv("WEIR_SEED");
    return given == nullptr ? 7 : std::strtoull(given, nullptr, 10);
  }

  static constexpr const char* kPassword = "word";
  static constexpr uint64_t kUnauthenticatedUnits = 1000;  // 32 KB of request, 10 arguments

  Sizes sizes_{seed()};
  Requests requests_{&sizes_};
  std::map<std::string, uint64_t> costs_;
};

TEST_F(EveryCommand, NoTurnPassesTenSlicesByMoreThanALongCommand) {
  auto admin = server_.connect();
  admin->call({"CONFIG", "SET", "requirepass", kPassword});
  // The role that README.md shows, and the same for all keys.
  admin->call({"ACL", "SETUSER", "shop", "on", ">shop", "+@ratelimit", "+ping", "+select",
               "+client|setinfo", "+client|setname", "~shop:*"});
  admin->call({"ACL", "SETUSER", "limits", "on", ">limits", "+@ratelimit", "+@ratelimitadmin",
               "-rl.policy", "-rl.top", "~*"});
  admin->call({"ACL", "SETUSER", "reader", "on", ">reader", "+@read", "~*"});
  admin->call({"ACL", "SETUSER", "nobody", "on", ">nobody"});
  admin->leave();
  std::vector<const Command*> rows;
  const CommandTable& table = server_->executor().table();
  for (size_t i = 0; i < table.count(); ++i) {
    if (table.row(i)->run != nullptr) rows.push_back(table.row(i));
  }
  const char* rounds = std::getenv("WEIR_BUDGET_ROUNDS");
  for (int round = 0; round < (rounds == nullptr ? 8 : std::atoi(rounds)); ++round) {
    populate();
    std::mt19937 order(static_cast<unsigned>(round));
    std::shuffle(rows.begin(), rows.end(), order);
    std::stable_partition(rows.begin(), rows.end(),
                          [](const Command* row) { return !row->name.starts_with("flush"); });
    for (size_t i = 0; i < rows.size(); i += 20) {
      turn({rows.begin() + static_cast<std::ptrdiff_t>(i),
            rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), i + 20))});
    }
  }
  std::set<std::string, std::less<>> long_ones;
  for (const auto& [name, cost] : costs_) {
    if (cost > WorkMeter::kSliceUnits) long_ones.insert(name);
  }
  EXPECT_EQ(costs_.size(), rows.size());
  for (const std::string& name : long_ones) EXPECT_TRUE(kLongCommands.contains(name)) << name;
}

}  // namespace
}  // namespace weir::server
