// Pages of settings as bytes, and bytes that are none.
#include "server/cluster/setting_item.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace weir::server {
namespace {

SettingsPage full_page() {
  SettingsPage page{.up_to = 7, .has_more = true, .items = {}};
  page.items.push_back({.kind = SettingKind::kPolicy,
                        .name = "free",
                        .version = 5 * 1024 + 3,
                        .made = 1027,
                        .seed = 0xfedcba9876543210,
                        .content = "10/1m SHADOW"});
  page.items.push_back({.kind = SettingKind::kOverride,
                        .name = override_setting_name({.policy = "free", .name = "user\r\n1"}),
                        .version = 6 * 1024 + 3,
                        .made = 1027,
                        .content = "BLOCKED"});
  page.items.push_back(
      {.kind = SettingKind::kLibrary, .name = "lib", .version = 9, .is_deleted = true});
  page.items.push_back({.kind = SettingKind::kScript,
                        .name = std::string(40, 'a'),
                        .version = 10,
                        .content = "return 1"});
  page.items.push_back({.kind = SettingKind::kFileEpoch, .version = 4, .made = 77});
  return page;
}

std::string bytes_of(const SettingsPage& page) {
  std::string bytes;
  resp::ReplyWriter out(&bytes);
  write_settings_page(page, &out);
  return bytes;
}

Result<SettingsPage, std::string> page_of(const std::string& bytes, uint64_t after = 3) {
  resp::Value value;
  size_t used = 0;
  if (resp::decode(bytes, &value, &used) != resp::DecodeStatus::kValue)
    return std::string("no reply");
  return read_settings_page(value, after);
}

std::string wrong_with(SettingsPage page, void (*spoil)(SettingsPage* page)) {
  spoil(&page);
  const auto read = page_of(bytes_of(page));
  return read ? "" : read.error();
}

TEST(SettingItem, PagesAreReadAsTheyAreWritten) {
  const auto read = page_of(bytes_of(full_page()));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, full_page());
}

TEST(SettingItem, WhatIsWrongIsRefused) {
  const SettingsPage page = full_page();
  EXPECT_EQ(wrong_with(page, [](SettingsPage* p) { p->up_to = 3; }), "the page goes nowhere");
  const auto item_is_wrong = [&](void (*spoil)(SettingsPage*)) {
    EXPECT_EQ(wrong_with(page, spoil), "an item is none");
  };
  item_is_wrong([](SettingsPage* p) { p->items[0].kind = SettingKind{0}; });
  item_is_wrong([](SettingsPage* p) { p->items[0].kind = SettingKind{6}; });
  item_is_wrong([](SettingsPage* p) { p->items[0].version = 0; });
  item_is_wrong([](SettingsPage* p) { p->items[0].version = kSettingVersionMax + 1; });
  item_is_wrong([](SettingsPage* p) { p->items[0].made = 0; });
  item_is_wrong([](SettingsPage* p) { p->items[3].made = 1; });
  item_is_wrong([](SettingsPage* p) { p->items[4].made = 0; });
  item_is_wrong([](SettingsPage* p) { p->items[4].version = kFileEpochMax + 1; });
  item_is_wrong([](SettingsPage* p) { p->items[4].name = "x"; });
  item_is_wrong([](SettingsPage* p) { p->items[4].is_deleted = true; });
  item_is_wrong([](SettingsPage* p) { p->items[2].content = "code"; });
  item_is_wrong([](SettingsPage* p) { p->items[0].name.assign(kSettingNameBytesMax + 1, 'n'); });
  item_is_wrong([](SettingsPage* p) { p->items[3].content.assign(kSettingBytesMax + 1, ' '); });
  item_is_wrong([](SettingsPage* p) { p->items[1].name = "free"; });
  item_is_wrong([](SettingsPage* p) { p->items[1].name = ""; });
  item_is_wrong([](SettingsPage* p) {
    p->items[1].name = override_setting_name({.policy = "free", .name = ""});
  });
  EXPECT_EQ(
      wrong_with(page,
                 [](SettingsPage* p) { p->items.resize(2 * kSettingsOfPageMax + 1, p->items[0]); }),
      "the page has too many items");
  EXPECT_EQ(wrong_with(page, [](SettingsPage* p) { p->items.push_back(p->items[2]); }),
            "the page has too many libraries");
}

// A length that is written with more bytes than it needs would be a second name of one override.
TEST(SettingItem, AnOverrideHasOneName) {
  EXPECT_TRUE(parse_override_setting_name(std::string("\x01p\x00k", 4)));
  EXPECT_FALSE(parse_override_setting_name(std::string("\x81\x00p\x00k", 5)));
  EXPECT_FALSE(parse_override_setting_name(std::string("\x01p\x02k", 4)));
}

TEST(SettingItem, AnyBytesAreReadOrRefused) {
  const std::string good = bytes_of(full_page());
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(page_of(good.substr(0, size)));
  std::mt19937_64 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (uint64_t changes = random() % 4 + 1; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (const auto read = page_of(bytes); read) {
      for (const SettingItem& item : read->items) (void)digest_part_of(item);
    }
  }
}

TEST(SettingItem, TheDigestTellsWhatDiffers) {
  const SettingItem item = full_page().items[0];
  SettingItem other = item;
  other.version += 1024;
  EXPECT_NE(digest_part_of(item), digest_part_of(other));
  EXPECT_EQ(hash_of(item), hash_of(other));
  other = item;
  other.content += " ";
  EXPECT_NE(digest_part_of(item), digest_part_of(other));
}

}  // namespace
}  // namespace weir::server
