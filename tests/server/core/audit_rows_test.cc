// The audit: rows say whether they are told, each that says so is, and SECURITY.md lists them.
#include <iterator>
#include <map>
#include <set>

#include "server/command/command_facts.h"
#include "tests/server/audit_fixture.h"

namespace weir::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class AuditRows : public AuditFixture {};

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

TEST_F(AuditRows, RowsOfAdministratorsSayWhetherTheyAreTold) {
  const CommandTable table(shard_command_lists());
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& row = *table.row(i);
    if (row.has(kContainer)) continue;
    const bool must_say = is_administrators(row) || may_be_administrators(row);
    EXPECT_TRUE(!must_say || row.audit != Audit::kUndecided) << row.name;
  }
}

bool is_told(const Command& row) {
  return row.audit == Audit::kYes || row.audit == Audit::kIfNoted;
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
    {"rl.mtake", {{"RL.MTAKE", "2", "a", "b", "1/1m", "1/1m", "FORCE"}}},
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
    {"slowlog|reset", {{"SLOWLOG", "RESET"}}},
    {"swapdb", {{"SWAPDB", "0", "1"}}},
    {"weir|clock", {{"WEIR", "CLOCK", "RESET"}}},
};

// These have tests of their own: here, and where there is a shard and a script that runs long
// (tests/integration/test_audit.py).
const std::set<std::string_view> kElsewhere = {
    "acl|load",          "client|kill", "client|unblock", "function|restore", "rl.policy|reload",
    "cluster|failover",  "failover",    "function|kill",  "script|kill",      "shutdown",
    "sentinel|failover", "weir|rejoin", "weir|shard",     "weir|switchover",  "weir|takeover"};

TEST_F(AuditRows, EveryCommandThatChangesSettingsIsTold) {
  const CommandTable table(shard_command_lists());
  std::set<std::string_view> seen;
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& row = *table.row(i);
    if (!is_told(row)) continue;
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
  for (const auto& [name, requests] : kExamples) EXPECT_TRUE(seen.contains(name)) << name;
  for (const std::string_view name : kElsewhere) EXPECT_TRUE(seen.contains(name)) << name;
}

// The commands between backquotes: one word, or two, in capitals.
std::vector<std::string> names_in(std::string_view line) {
  const auto is_capital = [](char c) { return c == '.' || (c >= 'A' && c <= 'Z'); };
  std::vector<std::string> names;
  while (true) {
    line.remove_prefix(std::min(line.find('`'), line.size()));
    const size_t end = line.find('`', 1);
    if (end >= line.size()) return names;
    std::string name;
    for (const std::string_view word : split_at_spaces(line.substr(1, end - 1))) {
      const bool fits = std::all_of(word.begin(), word.end(), is_capital);
      if (!fits || name.find(' ') != name.npos) break;
      name += (name.empty() ? "" : " ") + std::string(word);
    }
    if (!name.empty()) names.push_back(name);
    line.remove_prefix(end + 1);
  }
}

// What is told is the same list in SECURITY.md.
TEST_F(AuditRows, TheListOfSecurityMdIsThatOfTheRows) {
  const std::string page =
      text_of(std::filesystem::path(__FILE__).parent_path() / "../../../SECURITY.md");
  const size_t begin = page.find("**Audit.**");
  ASSERT_NE(begin, page.npos);
  const std::string part = page.substr(begin, page.find("\n**", begin + 1) - begin);
  std::set<std::string> listed;
  std::istringstream lines(part);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ")) continue;
    for (const std::string& name : names_in(line)) listed.insert(name);
  }
  std::set<std::string> rows;
  const CommandTable table(shard_command_lists());
  for (size_t i = 0; i < table.count(); ++i) {
    if (is_told(*table.row(i))) rows.insert(shown_name(table.row(i)->name));
  }
  std::vector<std::string> differ;
  std::set_symmetric_difference(listed.begin(), listed.end(), rows.begin(), rows.end(),
                                std::back_inserter(differ));
  EXPECT_THAT(differ, IsEmpty());
}

}  // namespace
}  // namespace weir::server
