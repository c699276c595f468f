// The audit: every change of an administrator is told, by every way, and nothing else is.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "server/command/command_facts.h"
#include "tests/server/example_requests.h"
#include "tests/server/fake_server.h"
#include "tests/server/real_sockets.h"

namespace weir::server {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kLibrary =
    "#!lua name=lib\nredis.register_function('f', function() return 1 end)";

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class AuditTest : public ::testing::Test {
 protected:
  AuditTest() {
    Config config;
    config.dir = folder_.path;
    config.config_file = folder_.path + "/weir.conf";
    config.aclfile = folder_.path + "/users";
    config.policies_file = "policies";
    config.enable_debug_command = DebugAccess::kYes;
    write("weir.conf", "");
    write("users", "user default on nopass ~* &* +@all\n");
    write("policies", "");
    server_.emplace(config);
    client_ = server_->connect();
    EXPECT_TRUE(start_log(folder_.path + "/log", LogLevel::kError));
  }
  ~AuditTest() override { EXPECT_TRUE(start_log("", LogLevel::kNothing)); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path + "/" + name) << text;
  }
  std::string send(FakeClient& client, const Words& words) {
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words) bytes += bulk(word);
    return client.send(bytes);
  }
  std::string call(const Words& words) { return send(*client_, words); }

  // What was told since the last look, without the instant.
  std::vector<std::string> told() {
    std::istringstream lines(text_of(folder_.path + "/log").substr(seen_));
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
      seen_ += line.size() + 1;
      found.push_back(line.substr(line.find(' ') + 1));
    }
    return found;
  }

  TemporaryFolder folder_;
  std::optional<FakeServer> server_;
  std::unique_ptr<FakeClient> client_;
  size_t seen_ = 0;
};

std::string begin_of(std::string_view name) {
  std::string text = "info audit: " + to_upper(name);
  std::replace(text.begin(), text.end(), '|', ' ');
  return text + " user=default client=1 address=127.0.0.1:50001 via=tcp database=0";
}

bool is_administrators(const Command& command) {
  const auto categories = acl_categories(command);
  const auto is_in = [&](std::string_view category) {
    return std::find(categories.begin(), categories.end(), category) != categories.end();
  };
  if (is_in("admin") || is_in("dangerous") || is_in("ratelimitadmin")) return true;
  return command.group == "scripting";
}

// Whether it takes with FORCE, or gives back, if it is asked to.
bool may_be_administrators(const Command& command) {
  if (command.limit_use == nullptr) return false;
  LimitUse use;
  for (const std::vector<std::string_view>& args :
       {std::vector<std::string_view>{"x", "k", "1/1m", "FORCE"},
        std::vector<std::string_view>{"x", "k", "1", "1", "1", "-1"},
        std::vector<std::string_view>{"x", "k", "BYINT", "-1"}})
    command.limit_use(args, &use);
  return use.is_admins;
}

TEST_F(AuditTest, RowsOfAdministratorsSayWhetherTheyAreTold) {
  const CommandTable& table = (*server_)->executor().table();
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& row = *table.row(i);
    if (row.has(kContainer)) continue;
    const bool must_say = is_administrators(row) || may_be_administrators(row);
    EXPECT_EQ(row.audit != Audit::kUndecided, must_say) << row.name;
  }
}

// The requests that go before, then the one that is told.
const std::map<std::string_view, std::vector<Words>> kExamples = {
    {"acl|deluser", {{"ACL", "SETUSER", "ann"}, {"ACL", "DELUSER", "ann"}}},
    {"acl|log", {{"ACL", "LOG", "RESET"}}},
    {"acl|save", {{"ACL", "SAVE"}}},
    {"acl|setuser", {{"ACL", "SETUSER", "ann", "on"}}},
    {"bgsave", {{"BGSAVE"}}},
    {"cl.throttle", {{"CL.THROTTLE", "k", "9", "1", "60", "-1"}}},
    {"client|pause", {{"CLIENT", "PAUSE", "0"}}},
    {"client|unpause", {{"CLIENT", "UNPAUSE"}}},
    {"config|resetstat", {{"CONFIG", "RESETSTAT"}}},
    {"config|rewrite", {{"CONFIG", "REWRITE"}}},
    {"config|set", {{"CONFIG", "SET", "timeout", "7"}}},
    {"debug", {{"DEBUG", "SLEEP", "0"}}},
    {"flushall", {{"FLUSHALL"}}},
    {"flushdb", {{"FLUSHDB", "ASYNC"}}},
    {"function|delete",
     {{"FUNCTION", "LOAD", std::string(kLibrary)}, {"FUNCTION", "DELETE", "lib"}}},
    {"function|flush", {{"FUNCTION", "FLUSH"}}},
    {"function|load", {{"FUNCTION", "LOAD", std::string(kLibrary)}}},
    {"increx", {{"INCREX", "k", "BYINT", "-1"}}},
    {"latency|reset", {{"LATENCY", "RESET"}}},
    {"rl.mtake", {{"RL.MTAKE", "2", "a", "b", "1/1m", "FORCE"}}},
    {"rl.policy|del", {{"RL.POLICY", "SET", "api", "1/1m"}, {"RL.POLICY", "DEL", "api"}}},
    {"rl.policy|override",
     {{"RL.POLICY", "SET", "api", "1/1m"},
      {"RL.POLICY", "OVERRIDE", "api", "KEY", "k", "UNLIMITED"}}},
    {"rl.policy|set", {{"RL.POLICY", "SET", "api", "1/1m"}}},
    {"rl.refund", {{"RL.TAKE", "k", "9/1m"}, {"RL.REFUND", "k", "1"}}},
    {"rl.reset", {{"RL.TAKE", "k", "9/1m"}, {"RL.RESET", "k"}}},
    {"rl.take", {{"RL.TAKE", "k", "9/1m", "FORCE"}}},
    {"rl.throttle", {{"RL.THROTTLE", "k", "9", "1", "60", "-1"}}},
    {"rl.top", {{"RL.TOP", "RESET"}}},
    {"save", {{"SAVE"}}},
    {"script|flush", {{"SCRIPT", "FLUSH"}}},
    {"shutdown", {{"SHUTDOWN"}}},
    {"slowlog|reset", {{"SLOWLOG", "RESET"}}},
    {"swapdb", {{"SWAPDB", "0", "1"}}},
    {"weir|clock", {{"WEIR", "CLOCK", "RESET"}}},
};

// These have tests of their own: here, and where there is a shard and a script that runs long
// (tests/integration/test_audit.py).
const std::set<std::string_view> kElsewhere = {
    "acl|load",         "client|kill",       "client|unblock", "function|restore",
    "rl.policy|reload", "cluster|failover",  "failover",       "function|kill",
    "script|kill",      "sentinel|failover", "weir|rejoin",    "weir|switchover",
    "weir|takeover"};

TEST_F(AuditTest, EveryCommandThatChangesSettingsIsTold) {
  const CommandTable& table = (*server_)->executor().table();
  std::set<std::string_view> seen;
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& row = *table.row(i);
    if (row.audit != Audit::kYes && row.audit != Audit::kIfNoted) continue;
    seen.insert(row.name);
    if (kElsewhere.contains(row.name)) continue;
    const auto example = kExamples.find(row.name);
    ASSERT_NE(example, kExamples.end()) << row.name << " has no example";
    call({"FLUSHALL"});
    call({"FUNCTION", "FLUSH"});
    server_->advance(2 * kSecond);
    for (const Words& words : example->second) {
      (void)told();
      EXPECT_THAT(call(words), Not(HasSubstr("-ERR"))) << row.name;
    }
    EXPECT_THAT(told(), ElementsAre(HasSubstr(begin_of(row.name)))) << row.name;
  }
  EXPECT_EQ(seen.size(), kExamples.size() + kElsewhere.size());
}

// What is told is the same list in SECURITY.md.
TEST_F(AuditTest, TheListOfSecurityMdIsThatOfTheRows) {
  const std::string page =
      text_of(std::filesystem::path(__FILE__).parent_path() / "../../../SECURITY.md");
  const size_t begin = page.find("**Audit.**");
  ASSERT_NE(begin, page.npos);
  const std::string part = page.substr(begin, page.find("\n**", begin + 1) - begin);
  std::set<std::string> listed;
  const std::regex name("`([A-Z.]+( [A-Z]+)?)[^`]*`");
  for (std::istringstream lines(part); std::string line; std::getline(lines, line)) {
    if (!line.starts_with("| ")) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), name), end; at != end; ++at)
      listed.insert((*at)[1]);
  }
  std::set<std::string> rows;
  const CommandTable& table = (*server_)->executor().table();
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& row = *table.row(i);
    if (row.audit != Audit::kYes && row.audit != Audit::kIfNoted) continue;
    std::string shown = to_upper(row.name);
    std::replace(shown.begin(), shown.end(), '|', ' ');
    rows.insert(shown);
  }
  EXPECT_EQ(listed, rows);
}

TEST_F(AuditTest, WhatOnlyLooksIsNotTold) {
  for (const Words& words : std::vector<Words>{{"CONFIG", "GET", "*"},
                                               {"CONFIG", "SET", "timeout", "0"},
                                               {"ACL", "LOG"},
                                               {"CLIENT", "KILL", "ID", "99"},
                                               {"CLIENT", "UNBLOCK", "99"},
                                               {"RL.TAKE", "k", "9/1m"},
                                               {"CL.THROTTLE", "k2", "9", "1", "60"},
                                               {"RL.RESET", "nothing"},
                                               {"RL.REFUND", "nothing", "1"},
                                               {"RL.POLICY", "DEL", "nothing"},
                                               {"RL.POLICY", "RELOAD", "DIFF"},
                                               {"RL.TOP"},
                                               {"WEIR", "CLOCK"},
                                               {"SET", "a", "1"}}) {
    call(words);
    EXPECT_THAT(told(), IsEmpty()) << words[0];
  }
}

TEST_F(AuditTest, AnOptionIsToldWithWhatItWas) {
  call({"CONFIG", "SET", "timeout", "7", "maxmemory", "1gb"});
  EXPECT_THAT(
      told(),
      ElementsAre(begin_of("config|set") +
                      " arguments=\"timeout 7 maxmemory 1gb\" changed=timeout before=0 after=7",
                  begin_of("config|set") +
                      " arguments=\"timeout 7 maxmemory 1gb\" changed=maxmemory before=0 "
                      "after=1073741824"));
  call({"CONFIG", "SET", "limiting", "shadow"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr("changed=limiting before=on after=shadow")));
}

TEST_F(AuditTest, APolicyIsToldWithWhatItWas) {
  call({"RL.POLICY", "SET", "api", "1/1m"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr(" changed=api before=\"\" after=\"GCRA 1/1m")));
  call({"RL.POLICY", "DEL", "api"});
  EXPECT_THAT(told(),
              ElementsAre(MatchesRegex(".* changed=api before=\"GCRA 1/1m.*\" after=\"\"")));
  write("policies", "policy a 1/1s\npolicy b 2/1s\n");
  call({"RL.POLICY", "RELOAD"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr("changed=a before=\"\" after=\"GCRA 1/1s"),
                                  HasSubstr("changed=b before=\"\" after=\"GCRA 2/1s")));
}

TEST_F(AuditTest, AUserIsToldWithoutPasswords) {
  call({"ACL", "SETUSER", "ann", "on", ">secret", "~k*", "+get"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr(
                          " arguments=\"ann on >(redacted) ~k* +get\" changed=ann before=\"\" "
                          "after=\"user ann on #(redacted) ~k* resetchannels -@all +get\"")));
  call(
      {"ACL", "SETUSER", "ann", "<secret", "#" + std::string(64, 'a'), "!" + std::string(64, 'a')});
  call({"ACL", "DELUSER", "ann"});
  call({"CONFIG", "SET", "requirepass", "secret"});
  const auto lines = told();
  EXPECT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines, Each(Not(HasSubstr("secret"))));
  EXPECT_THAT(lines, Each(Not(HasSubstr("aaaa"))));
  EXPECT_THAT(lines[0], HasSubstr("arguments=\"ann <(redacted) #(redacted) !(redacted)\""));
  EXPECT_THAT(lines[1], HasSubstr("changed=ann before=\"user ann on ~k* "));
  EXPECT_THAT(lines[2], HasSubstr("arguments=\"requirepass (redacted)\" changed=requirepass "
                                  "before=\"\" after=\"(redacted)\""));
}

TEST_F(AuditTest, UsersOfAFileAreToldWhereTheyDiffer) {
  write("users", "user default on nopass ~* &* +@all\nuser ann on nopass +get\nuser bob on +set\n");
  call({"ACL", "LOAD"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr("changed=ann before=\"\" after=\"user ann on nopass"),
                                  HasSubstr("changed=bob before=\"\" after=\"user bob on")));
  write("users", "user default on nopass ~* &* +@all\nuser bob on +set\n");
  call({"ACL", "LOAD"});
  EXPECT_THAT(told(), ElementsAre(MatchesRegex(".* changed=ann before=\"user ann.*\" after=\"\"")));
}

TEST_F(AuditTest, SaysWhoAndFromWhere) {
  call({"ACL", "SETUSER", "ops team", "on", ">secret", "~*", "&*", "+@all"});
  Peer peer = FakeServer::foreign_peer();
  peer.type = ConnectionType::kTls;
  auto other = server_->connect(peer);
  send(*other, {"AUTH", "ops team", "secret"});
  send(*other, {"SELECT", "3"});
  (void)told();
  send(*other, {"FLUSHDB"});
  EXPECT_THAT(told(),
              ElementsAre("info audit: FLUSHDB user=\"ops team\" client=2 address=192.0.2.7:50001 "
                          "via=tls database=3 arguments=\"\""));
}

TEST_F(AuditTest, WhatFailsOrIsDeniedIsNotTold) {
  call({"CONFIG", "SET", "timeout", "7", "maxmemory", "much"});
  call({"ACL", "SETUSER", "ann", "+@nonsense"});
  call({"FLUSHALL", "NOW"});
  call({"RL.TAKE", "k", "9/1m", "FORCE", "UPTO"});
  EXPECT_THAT(told(), IsEmpty());
  call({"ACL", "SETUSER", "ann", "on", ">secret", "~*", "+@all", "-@admin", "-@dangerous"});
  auto other = server_->connect();
  send(*other, {"AUTH", "ann", "secret"});
  (void)told();
  EXPECT_THAT(send(*other, {"FLUSHALL"}), HasSubstr("NOPERM"));
  EXPECT_THAT(send(*other, {"CONFIG", "SET", "timeout", "9"}), HasSubstr("NOPERM"));
  EXPECT_THAT(told(), IsEmpty());
  call({"CONFIG", "SET", "timeout", "9"});  // nothing was kept of those before
  EXPECT_THAT(told(), ElementsAre(HasSubstr("changed=timeout before=0 after=9")));
}

TEST_F(AuditTest, InATransactionAndInAScript) {
  call({"MULTI"});
  call({"CONFIG", "SET", "timeout", "7"});
  call({"FLUSHALL"});
  EXPECT_THAT(told(), IsEmpty());
  call({"EXEC"});
  EXPECT_THAT(
      told(),
      ElementsAre(HasSubstr("CONFIG SET user=default client=1 address=127.0.0.1:50001 via=tcp "
                            "database=0 within=transaction arguments=\"timeout 7\""),
                  HasSubstr("FLUSHALL user=default client=1 address=127.0.0.1:50001 via=tcp "
                            "database=0 within=transaction arguments=")));
  call({"EVAL", "redis.call('RL.TAKE', 'k', '9/1m', 'FORCE') redis.call('FLUSHALL')", "0"});
  EXPECT_THAT(told(),
              ElementsAre(HasSubstr("RL.TAKE user=default client=1"), HasSubstr("FLUSHALL")));
  call({"EVAL", "redis.pcall('FLUSHALL', 'NOW') redis.pcall('FLUSHALL')", "0"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr("within=script arguments=\"\"")));
}

TEST_F(AuditTest, WhatIsTakenBackIsNotTold) {
  call({"CONFIG", "SET", "script-time-limit-ms", "10"});
  (void)told();
  server_->clock.tick_per_look_ns = kMs;
  EXPECT_THAT(call({"EVAL", "redis.call('FLUSHALL') while true do end", "0"}), HasSubstr("-"));
  server_->clock.tick_per_look_ns = 0;
  EXPECT_THAT(told(), IsEmpty());
  call({"CONFIG", "SET", "storage-failure-policy", "deny"});
  call({"SET", "a", "1"});
  (void)told();
  server_->disk().faults.disk_full = true;
  call({"MULTI"});
  call({"CONFIG", "SET", "timeout", "7"});
  call({"FLUSHALL"});
  EXPECT_THAT(call({"EXEC"}), HasSubstr("MISCONF"));
  // The option stays changed, and the data.
  EXPECT_EQ((*server_)->config().timeout, 7);
  EXPECT_THAT(told(), ElementsAre(HasSubstr("error storage failed"), HasSubstr("changed=timeout")));
}

TEST_F(AuditTest, ManyRequestsAboutKeysAreTwoLinesASecond) {
  for (int i = 0; i < 100; ++i) call({"RL.TAKE", "k", "9/1m", "FORCE"});
  EXPECT_THAT(told(), ElementsAre(begin_of("rl.take") + " arguments=\"k 9/1m FORCE\""));
  server_->advance(kSecond / 2);
  EXPECT_THAT(told(), IsEmpty());
  server_->advance(kSecond / 2);
  EXPECT_THAT(told(), ElementsAre(begin_of("rl.take") + " more=99"));
  call({"RL.TAKE", "k", "9/1m", "FORCE"});
  EXPECT_THAT(told(), SizeIs(1));
  server_->advance(2 * kSecond);
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(AuditTest, ClientsThatOthersEndAreTold) {
  auto second = server_->connect();
  second->push(request({"BLPOP", "list", "0"}));
  server_->end_turn();
  call({"CLIENT", "UNBLOCK", "2"});
  call({"CLIENT", "KILL", "ID", "2"});
  EXPECT_THAT(told(), ElementsAre(begin_of("client|unblock") + " arguments=2",
                                  begin_of("client|kill") + " arguments=\"ID 2\""));
}

TEST_F(AuditTest, LibrariesThatAreRestoredAreTold) {
  call({"FUNCTION", "LOAD", std::string(kLibrary)});
  const std::string dumped = decoded(call({"FUNCTION", "DUMP"})).text;
  (void)told();
  EXPECT_EQ(call({"FUNCTION", "RESTORE", dumped, "FLUSH"}), kOk);
  EXPECT_THAT(told(), ElementsAre(HasSubstr(begin_of("function|restore") + " arguments=\"")));
}

TEST_F(AuditTest, LongArgumentsAreCut) {
  call({"RL.TAKE", std::string(60'000, 'k'), "9/1m", "FORCE"});
  const auto lines = told();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_LT(lines[0].size(), 700u);
  EXPECT_THAT(lines[0], HasSubstr("kkkk... (59508 more bytes)\""));
}

TEST_F(AuditTest, TheLastLineSaysThatItIsTheLast) {
  call({"CONFIG", "SET", "loglevel", "nothing"});
  EXPECT_THAT(told(), ElementsAre("warning loglevel is nothing: this is the last line, of the "
                                  "audit, too"));
}

}  // namespace
}  // namespace weir::server
