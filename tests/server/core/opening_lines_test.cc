// What is said of an opening that takes long, on a clock that the test moves.
#include "server/core/disk/opening_lines.h"

#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using storage::OpeningStep;
using Part = OpeningStep::Part;

class OpeningLinesTest : public ::testing::Test {
 protected:
  void note(Part part, uint64_t done, uint64_t all) { lines_.note({part, done, all}); }
  std::vector<std::string> take() { return std::exchange(said_, {}); }

  FakeClock clock_;
  std::vector<std::string> said_;
  OpeningLines lines_{&clock_, [this](const std::string& line, int64_t within_ns) {
                        said_.push_back(line + "; " + std::to_string(within_ns / kNsPerS) + " s");
                      }};
};

TEST_F(OpeningLinesTest, AShortLogIsReadInSilence) {
  note(Part::kReadLog, 0, OpeningLines::kLongLogBytes - 1);
  EXPECT_TRUE(take().empty());
}

TEST_F(OpeningLinesTest, ALongOneTakesItsTime) {
  note(Part::kReadLog, 0, 1024 << 20);
  EXPECT_EQ(take(), std::vector<std::string>{"reading the log: 1073 MB; 542 s"});
}

TEST_F(OpeningLinesTest, EveryFewSecondsItSaysHowFarItIs) {
  note(Part::kReplay, 100, 5000);
  clock_.advance(OpeningLines::kEveryNs - 1);
  note(Part::kReplay, 600, 5000);
  EXPECT_TRUE(take().empty());
  clock_.advance(1);
  note(Part::kReplay, 1500, 5000);
  note(Part::kReplay, 1501, 5000);
  EXPECT_EQ(take(), std::vector<std::string>{
                        "replaying the log: 1500 of 5000 turns, 30 %, 500/s, 7 s left; 30 s"});
  clock_.advance(7 * kSecond);
  note(Part::kReplay, 5000, 5000);
  EXPECT_EQ(take(), std::vector<std::string>{
                        "replaying the log: 5000 of 5000 turns, 100 %, 500/s, 0 s left; 30 s"});
}

// With a clock of which every look takes a second, an opening of a few megabytes is a long one.
TEST(OpeningOfAServer, SaysHowFarItIs) {
  auto disk = storage::make_memory_disk({1, 2});
  {
    FakeServer server({}, disk);
    const auto client = server.connect();
    const std::string value(10'000, 'v');
    for (int i = 0; i < 100; ++i) client->call({"SET", "k" + std::to_string(i), value});
  }
  FakeClock clock;
  clock.tick_per_look_ns = kSecond;
  const auto killed = disk->after_kill();
  const uint64_t turns = killed->log.back().turn - killed->written_back_turn;
  std::vector<std::string> said;
  Server server(
      Config(), &clock, [&] { return std::make_unique<storage::MemoryStore>(killed); },
      command_lists());
  const auto opened = server.open([&](const std::string& line, int64_t) { said.push_back(line); });
  ASSERT_TRUE(opened.ok());
  ASSERT_GE(said.size(), 3u);
  for (const std::string& line : said) {
    EXPECT_TRUE(line.starts_with("replaying the log: ")) << line;
    EXPECT_NE(line.find(" of " + std::to_string(turns) + " turns, "), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace weir::server
