#include "server/core/disk/run_mark.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/storage/store_driver.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

class RunMarkTest : public testing::Test {
 protected:
  std::string text(const std::string& name) const {
    std::ostringstream all;
    all << std::ifstream(directory_ / name).rdbuf();
    return all.str();
  }

  const storage::TemporaryDirectory directory_;
};

TEST_F(RunMarkTest, TellsOfARunThatHasNotEnded) {
  {
    RunMark killed(directory_.path());
    EXPECT_EQ(killed.begin(1000), std::nullopt);
  }
  RunMark next(directory_.path());
  const auto last = next.begin(2000);
  ASSERT_TRUE(last);
  EXPECT_NE(last->run.find("since 1970-01-01T00:16:40Z"), std::string::npos) << last->run;
  next.end();
  EXPECT_EQ(RunMark(directory_.path()).begin(3000), std::nullopt);
}

// Neither is what it leads to written over, nor does a line of it get into the log.
TEST_F(RunMarkTest, ALinkInItsPlaceLeadsNowhere) {
  std::ofstream(directory_ / "secret") << "of somebody else\n";
  fs::create_symlink("secret", directory_ / "RUNNING");
  RunMark mark(directory_.path());
  EXPECT_EQ(mark.begin(1000), std::nullopt);
  EXPECT_EQ(text("secret"), "of somebody else\n");
  EXPECT_FALSE(fs::is_symlink(directory_ / "RUNNING"));
  EXPECT_EQ(text("RUNNING").substr(0, 5), "weir ");
}

}  // namespace
}  // namespace weir::server
