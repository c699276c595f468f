#include "server/session/queued_commands.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace weir::server {
namespace {

struct Queued {
  const Command* command;
  std::vector<std::string> args;

  friend bool operator==(const Queued&, const Queued&) = default;
};

std::vector<Queued> all_of(const QueuedCommands& commands) {
  std::vector<Queued> all;
  for (QueuedCommands::Walk next(commands); next.next();) {
    all.push_back({&next.command(), {next.args().begin(), next.args().end()}});
  }
  return all;
}

TEST(QueuedCommands, HasNoneAtFirst) {
  const QueuedCommands commands;
  EXPECT_EQ(commands.count(), 0u);
  EXPECT_EQ(commands.memory_bytes(), 0u);
  EXPECT_TRUE(all_of(commands).empty());
}

TEST(QueuedCommands, AreWhatWasAdded) {
  const Command rows[3] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  std::mt19937_64 rng(3);
  for (int round = 0; round < 30; ++round) {
    QueuedCommands commands;
    std::vector<Queued> expected;
    size_t bytes = 0;
    for (uint64_t left = rng() % 3000; left > 0; --left) {
      Queued next{.command = &rows[rng() % 3], .args = {}};
      for (uint64_t args = rng() % 6; args > 0; --args) {
        next.args.emplace_back(rng() % (rng() % 500 == 0 ? 600'000 : 40), char('a' + rng() % 26));
        bytes += next.args.back().size();
      }
      commands.add(*next.command,
                   std::vector<std::string_view>(next.args.begin(), next.args.end()));
      expected.push_back(std::move(next));
    }
    EXPECT_EQ(commands.count(), expected.size());
    EXPECT_GE(commands.memory_bytes(), bytes);
    ASSERT_EQ(all_of(commands), expected);
  }
}

}  // namespace
}  // namespace weir::server
