// The table of long commands in docs/TESTING.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/server/fake_server.h"
#include "tests/server/long_commands.h"

namespace weir::server {
namespace {

std::string page() {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "../../../docs/TESTING.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// "| `COPY` | yes | no | 310 ns an element |": @slow, allowed to the role that README.md shows, and
// its cost, which tools/measure_long_commands.py has measured.
TEST(LongCommands, AreThoseOfTheDocs) {
  FakeServer server;
  auto client = server.connect();
  client->call({"ACL", "SETUSER", "shop", "on", "+@ratelimit", "+ping", "+select",
                "+client|setinfo", "+client|setname", "~shop:*"});
  std::set<std::string, std::less<>> documented;
  std::istringstream lines(page());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `") || !line.ends_with(" |")) continue;
    const std::string shown = line.substr(3, line.find('`', 3) - 3);
    std::string name = shown;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c == ' ' ? '|' : static_cast<char>(std::tolower(c)); });
    const Command* command = server->executor().table().find_by_full_name(name);
    if (command == nullptr) continue;
    documented.insert(name);
    const std::string slow = command->has(kFast) ? "no" : "yes";
    const auto user = server->acl().users().find("shop");
    const std::vector<std::string_view> args(static_cast<size_t>(std::abs(command->arity)), "x");
    const bool denied = user->check(*command, args).denial == acl::Denial::kCommand;
    const std::string allowed = denied ? "no" : "yes";
    const std::string cells = "` | " + slow + " | " + allowed + " | ";
    const size_t cost = line.find(cells) + cells.size();
    ASSERT_NE(line.find(cells), line.npos) << line;
    EXPECT_TRUE(std::isdigit(line[cost]) != 0 && line.find(" ns a", cost) != line.npos) << line;
  }
  EXPECT_EQ(documented, kLongCommands);
}

}  // namespace
}  // namespace weir::server
