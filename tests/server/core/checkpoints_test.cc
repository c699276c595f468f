#include "server/core/disk/checkpoints.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/time_units.h"
#include "server/core/disk/checkpoint_folder.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

TEST(Checkpoints, OneThatIsTakenAwayIsMissedWithinAMinute) {
  std::string dir = (std::filesystem::temp_directory_path() / "weir-checkpoints-XXXXXX").string();
  ASSERT_NE(::mkdtemp(dir.data()), nullptr);
  const auto checkpoint =
      std::filesystem::path(dir) / "checkpoints" / checkpoint_name(1'800'000'000'500, 7);
  std::filesystem::create_directories(checkpoint);
  Config config;
  config.dir = dir;
  FakeServer server(config);
  Checkpoints& checkpoints = server->persistence().checkpoints;
  EXPECT_EQ(checkpoints.newest_s(), 1'800'000'000);

  std::filesystem::remove_all(dir);
  server.clock.advance(59 * kNsPerS);
  EXPECT_EQ(checkpoints.newest_s(), 1'800'000'000);
  server.clock.advance(1 * kNsPerS);
  EXPECT_EQ(checkpoints.newest_s(), 0);
}

}  // namespace
}  // namespace weir::server
