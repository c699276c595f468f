// Rows that say of a command that what it writes wakes nobody are believed: those who wait for its
// keys are not tried. So nobody may be served when they are tried all the same.
#include "server/command/command_facts.h"
#include "tests/server/example_requests.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

// What the key is, and who waits for it.
struct Situation {
  std::vector<std::string> before;
  std::string waits;
};

const std::vector<Situation>& situations() {
  static const std::vector<Situation> kAll = {
      {{}, "BLPOP k 0"},
      {{}, "BZPOPMIN k 0"},
      {{"RL.TAKE k FIXED 1/1h"}, "RL.ACQUIRE k FIXED 1/1h TIMEOUT 0"},
      {{"RL.TAKE k 10/1h COST 10"}, "RL.ACQUIRE k 10/1h TIMEOUT 0"},
      {{"RL.TAKE k CONCURRENCY 1 LEASE 1h"}, "RL.ACQUIRE k CONCURRENCY 1 LEASE 1h TIMEOUT 0"},
      {{"RL.POLICY SET x 10/1h", "RL.TAKE k POLICY x COST 10"}, "RL.ACQUIRE k POLICY x TIMEOUT 0"},
  };
  return kAll;
}

class WakesNobody : public LimiterTest {
 protected:
  void try_one(const Situation& situation, const Words& words) {
    FakeServer server;
    const auto client = server.connect();
    for (const std::string& line : situation.before) server::ask(*client, line);
    const auto waiter = server.connect();
    send(*waiter, situation.waits);
    server.run_turns();
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    server::ask(*client, line);
    if (!heard(*waiter).empty()) return;  // it was served all the same
    server->waiting().signal(0, "k");
    server.run_turns();
    EXPECT_EQ(heard(*waiter), "") << line << ", while somebody waits by " << situation.waits;
    ++tried_;
  }

  size_t tried_ = 0;
};

TEST_F(WakesNobody, OfCommandsWhoseRowsSaySo) {
  for (const Command& command : runnable_commands()) {
    if (!command.has(kWrites) || !command.has(kWakesNobody)) continue;
    for (const Words& words : example_requests(command)) {
      for (const Situation& situation : situations()) try_one(situation, words);
    }
  }
  EXPECT_GT(tried_, 200u);
}

}  // namespace
}  // namespace weir::server
