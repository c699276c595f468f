// How far a primary lets its log be trimmed.
#include "server/failover/shared_log/log_trimmer.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::server {
namespace {

using storage::replication::Head;
using storage::replication::MemberFacts;
using storage::replication::RegistryEntry;
using storage::replication::RegistryView;
using storage::replication::Role;

class TrimmedLog final : public storage::replication::SharedLog {
 public:
  void append(std::optional<Head>, std::string,
              std::function<void(storage::replication::Appended)>) override {}
  void read(Head, size_t, std::function<void(storage::replication::Read)>) override {}
  void trim(uint64_t up_to) override { trims.push_back(up_to); }
  storage::replication::LogFacts facts() const override { return {}; }
  void tick(int64_t) override {}
  int64_t next_deadline() const override { return INT64_MAX; }

  std::vector<uint64_t> trims;
};

RegistryView registry_with(uint64_t log_index, Role role = Role::kFollowing) {
  MemberFacts facts;
  facts.author = {.node = "a", .address = "a:6379", .incarnation = {}};
  facts.role = role;
  facts.head = {.log_index = log_index, .crc = 1};
  facts.written_back_head = facts.head;
  return RegistryView({{.name = "a", .bytes = encode_facts(facts), .age_ns = 0}});
}

class LogTrimmerTest : public ::testing::Test {
 protected:
  LogTrimmerTest() {
    for (uint64_t log_index = 1; log_index <= 1000; ++log_index) trimmer_.note(log_index, 1000);
  }
  uint64_t trimmed() const { return log_.trims.empty() ? 0 : log_.trims.back(); }

  TrimmedLog log_;
  LogTrimmer trimmer_{&log_, {.retained_bytes = 100'000, .bytes_max = 400'000}};
};

TEST_F(LogTrimmerTest, ThePrimarysOwnPlaceStaysWhateverTheLength) {
  trimmer_.trim({.log_index = 50, .crc = 1}, registry_with(900), 0);
  EXPECT_EQ(trimmed(), 49u);
  trimmer_.trim({.log_index = 60, .crc = 1}, registry_with(20), 0);
  EXPECT_EQ(trimmed(), 59u);
}

TEST_F(LogTrimmerTest, AMemberHoldsItUpToALength) {
  trimmer_.trim({.log_index = 990, .crc = 1}, registry_with(700), 0);
  EXPECT_EQ(trimmed(), 699u);
  LogTrimmer other(&log_, {.retained_bytes = 100'000, .bytes_max = 400'000});
  for (uint64_t log_index = 1; log_index <= 1000; ++log_index) other.note(log_index, 1000);
  other.trim({.log_index = 990, .crc = 1}, registry_with(20), 0);
  EXPECT_GE(trimmed(), 550u);
  EXPECT_LE(trimmed(), 600u);
}

TEST_F(LogTrimmerTest, WhatIsRetainedStays) {
  trimmer_.trim({.log_index = 1000, .crc = 1}, registry_with(1000), 0);
  EXPECT_GE(trimmed(), 850u);
  EXPECT_LE(trimmed(), 900u);
}

TEST_F(LogTrimmerTest, NothingIsAskedTwiceAndNotTooOften) {
  trimmer_.trim({.log_index = 50, .crc = 1}, registry_with(900), kNsPerS);
  trimmer_.trim({.log_index = 50, .crc = 1}, registry_with(900), kNsPerS);
  EXPECT_EQ(log_.trims.size(), 1u);
  EXPECT_FALSE(trimmer_.due(2 * kNsPerS - 1));
  EXPECT_TRUE(trimmer_.due(2 * kNsPerS));
}

TEST_F(LogTrimmerTest, AMemberWithoutAPlaceHoldsAll) {
  trimmer_.trim({.log_index = 990, .crc = 1}, registry_with(0, Role::kJoining), 0);
  EXPECT_GE(trimmed(), 550u) << "up to the length";
  LogTrimmer other(&log_, {.retained_bytes = 100'000, .bytes_max = 4'000'000});
  for (uint64_t log_index = 1; log_index <= 1000; ++log_index) other.note(log_index, 1000);
  const size_t before = log_.trims.size();
  other.trim({.log_index = 990, .crc = 1}, registry_with(0, Role::kJoining), 0);
  EXPECT_EQ(log_.trims.size(), before);
}

}  // namespace
}  // namespace weir::server
