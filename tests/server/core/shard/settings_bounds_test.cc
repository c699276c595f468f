// What shards refuse of settings, so that nothing holds up what comes after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "storage/format/codec.h"
#include "tests/server/core/shard/settings_shard.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;

class SettingsBounds : public ::testing::Test {
 protected:
  SettingsShard a_{3, "a"};
  SettingsShard b_{5, "b"};
};

// To take one over is to run it.
TEST_F(SettingsBounds, APageHasOneLibrary) {
  for (const char* number : {"1", "2", "3"})
    a_.ask({"FUNCTION", "LOAD",
            "#!lua name=l" + std::string(number) + "\nredis.register_function('f" + number +
                "', function() return 1 end)"});
  a_.ask("RL.POLICY SET p0 10/1m");
  EXPECT_EQ(a_.page(0).items.size(), 1u);
  EXPECT_EQ(b_.pull(&a_), 4u);
  EXPECT_EQ(a_.digest(), b_.digest());
}

// Else all that comes after it would stay here.
TEST_F(SettingsBounds, WhatNoOtherShardWouldReadIsRefused) {
  const std::string name(kSettingNameBytesMax + 1, 'n');
  const std::string code =
      "#!lua name=" + name + "\nredis.register_function('f', function() return 1 end)";
  EXPECT_THAT(a_.ask({"FUNCTION", "LOAD", code}), HasSubstr("a name has at most 8192 bytes"));
  EXPECT_EQ(a_.ask("FUNCTION LIST"), "[]");
  EXPECT_EQ(a_.journal().head().change, 0u);
}

TEST_F(SettingsBounds, WhereVersionsAreUsedUpNothingIsChanged) {
  Server& server = *a_.server();
  server.keys().running().begin_command(server.timeline().now_ns());
  ASSERT_TRUE(a_.journal().note_taken({.kind = SettingKind::kScript,
                                       .name = std::string(40, 'a'),
                                       .version = kSettingVersionMax,
                                       .is_deleted = true}));
  server.turn().commit_early();
  EXPECT_THAT(a_.ask("RL.POLICY SET p0 10/1m"), HasSubstr("are used up"));
  EXPECT_EQ(a_.ask("RL.POLICY LIST"), "[]");
}

TEST_F(SettingsBounds, WhatHasNoRoomIsNotTakenOver) {
  a_.ask("RL.POLICY SET p0 10/1m");
  a_.ask({"FUNCTION", "LOAD", kLibraryCode});
  storage::Keyspace& keys = b_.server()->keys();
  keys.running().begin_command(b_.server()->timeline().now_ns());
  std::string head(1, 1);
  storage::put_varint(&head, 1);
  storage::put_u64_le(&head, 0);
  storage::put_varint(&head, kSettingsMax);
  storage::put_varint(&head, 0);
  storage::Ref ref = keys.look_up_system("settings");
  keys.put(&ref, storage::Type::kSystem, head, 0);
  const std::string before = b_.contents() + b_.digest();
  b_.pull(&a_);
  EXPECT_EQ(b_.contents() + b_.digest(), before);
}

}  // namespace
}  // namespace weir::server
