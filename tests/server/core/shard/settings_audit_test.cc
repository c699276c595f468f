// What another shard's primary has told of settings is in the audit, by name and within bounds.
#include "tests/server/audit_fixture.h"

namespace weir::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SettingsAuditTest : public AuditFixture {
 protected:
  SettingsAuditTest() {
    Server& server = **server_;
    server.keys().running().begin_command(server.timeline().now_ns());
    server.shard_role().settings().begin(3);
    server.turn().commit_early();
  }
  // What the log has of a page that shard b has told.
  std::vector<std::string> audit_of(std::vector<SettingItem> items) {
    (void)told();
    const SettingsPage page{.up_to = ++pages_, .has_more = false, .items = std::move(items)};
    EXPECT_TRUE((**server_).shard_role().take_settings("b", {}, page));
    return told();
  }
  SettingItem policy(std::string name, std::string limits = "10/1m") {
    const uint64_t version = ++version_;
    return {.kind = SettingKind::kPolicy,
            .name = std::move(name),
            .version = version,
            .made = version,
            .is_deleted = limits.empty(),
            .content = std::move(limits)};
  }

  uint64_t pages_ = 0;
  uint64_t version_ = 1'000'000;
};

TEST_F(SettingsAuditTest, EachHasItsKindAndName) {
  const SettingItem plan = policy("plan");
  const SettingItem override{
      .kind = SettingKind::kOverride,
      .name = override_setting_name({.policy = "plan", .is_prefix = true, .name = "big:"}),
      .version = ++version_,
      .made = plan.made,
      .content = "20/1m"};
  const auto is_not_taken = policy("bad", "ten");
  EXPECT_THAT(audit_of({plan, override, is_not_taken, policy("a\nb")}),
              ElementsAre("info audit: settings shard=b kind=policy name=plan",
                          "info audit: settings shard=b kind=override name=\"plan PREFIX big:\"",
                          HasSubstr("kind=policy name=")));
  EXPECT_THAT(audit_of({policy("plan", "")}),
              ElementsAre("info audit: settings shard=b kind=policy name=plan deleted=1"));
  EXPECT_THAT(audit_of({}), IsEmpty());
}

TEST_F(SettingsAuditTest, APageHasTwentyLinesAndTheNumberOfTheOthers) {
  std::vector<SettingItem> items;
  for (int at = 0; at < 25; ++at) items.push_back(policy("p" + std::to_string(at)));
  const std::vector<std::string> audit = audit_of(std::move(items));
  ASSERT_EQ(audit.size(), 21u);
  EXPECT_EQ(audit[19], "info audit: settings shard=b kind=policy name=p19");
  EXPECT_EQ(audit[20], "info audit: settings shard=b more=5");
}

}  // namespace
}  // namespace weir::server
