// Control groups of either version, as made-up files show them.
#include "server/os/memory_limit.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace weir::server {
namespace {

class MemoryLimitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-memory-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  MemoryLimit limit() const { return memory_limit(root_); }
  void expect(int64_t bytes, const std::string& path) {
    EXPECT_EQ(limit().bytes, bytes);
    EXPECT_EQ(limit().source, root_ + path);
  }

  std::string root_;
};

TEST_F(MemoryLimitTest, WithoutGroupsItIsTheMachine) {
  EXPECT_GT(limit().bytes, 1 << 20);
  EXPECT_EQ(limit().source, "the machine");
}

TEST_F(MemoryLimitTest, AServiceHasItsOwnGroupsLimit) {
  const std::string service = "/sys/fs/cgroup/system.slice/weir.service/memory.max";
  write("/proc/self/cgroup", "0::/system.slice/weir.service");
  write(service, "300000000");
  expect(300000000, service);
}

TEST_F(MemoryLimitTest, TheLeastOfTheGroupsAboveItCounts) {
  write("/proc/self/cgroup", "0::/all.slice/weir.service/part");
  write("/sys/fs/cgroup/all.slice/weir.service/part/memory.max", "max");
  write("/sys/fs/cgroup/all.slice/weir.service/memory.max", "400000000");
  write("/sys/fs/cgroup/all.slice/memory.max", "200000000");
  expect(200000000, "/sys/fs/cgroup/all.slice/memory.max");
}

TEST_F(MemoryLimitTest, AContainerSeesItsGroupAsTheRoot) {
  write("/proc/self/cgroup", "0::/");
  write("/sys/fs/cgroup/memory.max", "100000000");
  expect(100000000, "/sys/fs/cgroup/memory.max");
}

TEST_F(MemoryLimitTest, VersionOneIsReadToo) {
  write("/proc/self/cgroup", "12:pids:/x\n4:cpu,memory:/outside/pod\n1:name=systemd:/y");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "150000000");
  expect(150000000, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
  write("/sys/fs/cgroup/memory/outside/pod/memory.limit_in_bytes", "9223372036854771712");
  expect(150000000, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
}

TEST_F(MemoryLimitTest, WhatCannotBeReadLimitsNothing) {
  write("/proc/self/cgroup", "0::/a\nnonsense\n:");
  write("/sys/fs/cgroup/a/memory.max", "much");
  EXPECT_EQ(limit().source, "the machine");
}

}  // namespace
}  // namespace weir::server
