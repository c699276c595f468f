#include "server/config/memory_share.h"

#include <gtest/gtest.h>

namespace weir::server {
namespace {

constexpr int64_t kMb = 1 << 20;

TEST(MemoryShare, IsHalfOfWhatOtherPartsLeave) {
  const Config config;
  EXPECT_EQ(maxmemory_bytes(config, 8192 * kMb), (8192 - 128) / 2 * kMb);
  EXPECT_EQ(maxmemory_bytes(config, 300 * kMb), 86 * kMb);
}

TEST(MemoryShare, FollowsTheOptionsOfThoseParts) {
  Config config;
  config.block_cache_size = 8 * kMb;
  EXPECT_EQ(maxmemory_bytes(config, 300 * kMb), 114 * kMb);
}

// A server alone keeps no records of its log in memory.
TEST(MemoryShare, LeavesRoomForTheLogInAShard) {
  Config config;
  config.log = "postgresql://host/database";
  EXPECT_EQ(maxmemory_bytes(config, 300 * kMb), 54 * kMb);
  config.wal_bytes_max = 8 * kMb;
  EXPECT_EQ(maxmemory_bytes(config, 300 * kMb), 82 * kMb);
}

TEST(MemoryShare, IsSomethingInASmallMemory) {
  EXPECT_EQ(maxmemory_bytes(Config{}, 64 * kMb), 8 * kMb);
}

TEST(MemoryShare, IsWhatTheOptionSays) {
  Config config;
  config.maxmemory = 5;
  EXPECT_EQ(maxmemory_bytes(config, 300 * kMb), 5);
}

}  // namespace
}  // namespace weir::server
