#include "server/core/disk/contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/cluster/setting_item.h"
#include "server/cluster/slot_table.h"
#include "server/core/disk/stored_meaning.h"
#include "server/script/lua/sha1.h"
#include "storage/format/codec.h"
#include "storage/format/header.h"

namespace weir::server {
namespace {

using storage::Type;

constexpr storage::HashSeed kSeed = {1, 2};
constexpr storage::Generation kData = 5;

class ContentsTest : public ::testing::Test {
 protected:
  void system_record(std::string_view name, std::string_view payload) {
    take(0, storage::key_order_of(name, kSeed), name, {Type::kSystem, 0, payload});
  }
  void key(std::string_view name, Type type, std::string_view payload, int64_t expire_ms = 0) {
    take(kData, storage::key_order_of(name, kSeed), name, {type, expire_ms, payload});
  }
  void element(storage::ElementsId list, std::string_view member, std::string_view payload) {
    take(kData | storage::kElementsBit, storage::key_order_of_element(list, member, kSeed), member,
         {Type::kElement, 0, payload});
  }
  void take(storage::Generation generation, storage::KeyOrder key_order, std::string_view name,
            const storage::ValueView& value) {
    std::string stored_key;
    std::string stored_value;
    storage::append_stored_key(&stored_key, {generation, key_order, name});
    storage::append_value(&stored_value, value);
    contents_.take(stored_key, stored_value);
  }
  void database(std::string_view name = "db/3", storage::Generation generation = kData) {
    std::string payload;
    storage::put_varint(&payload, generation);
    storage::put_varint(&payload, 1);
    system_record(name, payload);
    system_record("next-incarnation", "\x64");
    system_record("next-elements-id", "\x64");
  }
  static std::string header(std::initializer_list<storage::ElementsId> ids) {
    std::string payload;
    storage::append_list_ids(&payload, std::vector<storage::ElementsId>(ids));
    return payload;
  }
  // The one line of what is wrong, or "" if all is well.
  std::string damage() const {
    EXPECT_LE(contents_.damage().size(), 1u);
    return contents_.damage().empty() ? "" : contents_.damage()[0];
  }

  Contents contents_{kSeed, 10'000'000'000};
};

TEST_F(ContentsTest, KeysAreCountedByDatabaseAndType) {
  database();
  key("a", Type::kString, "v");
  key("b", Type::kString, "v", 9'999);
  key("h", Type::kHash, header({1}));
  element(1, "f", std::string(8, '\0') + "v");
  take(99, storage::key_order_of("gone", kSeed), "gone", {Type::kString, 0, "v"});
  contents_.end();
  EXPECT_EQ(damage(), "");
  EXPECT_EQ(contents_.databases().at(3).keys,
            (std::map<std::string, uint64_t>{{"hash", 1}, {"string", 2}}));
  EXPECT_EQ(contents_.databases().at(3).expired, 1u);
  EXPECT_EQ(contents_.left_over(), 1u);
  EXPECT_EQ(contents_.elements(), 1u);
  EXPECT_EQ(contents_.records(), 8u);
}

TEST_F(ContentsTest, AListThatIsGoneIsDamage) {
  database();
  key("h", Type::kHash, header({1}));
  key("ended", Type::kHash, header({5}), 9'999);
  element(3, "f", std::string(8, '\0'));
  contents_.end();
  EXPECT_EQ(damage(), "database 3: a key's list of elements, 1, is gone");
}

TEST_F(ContentsTest, ListsThatNoServerHasMade) {
  database();
  key("a", Type::kHash, header({1}));
  key("b", Type::kHash, header({1}));
  key("c", Type::kHash, header({100}));
  key("d", Type::kSet, header({3, 5}));
  key("e", Type::kSet, header({7}) + "\x02");
  key("t", Type::kSet, header({9}));
  key("z", Type::kZset, header({11}));
  key("l", Type::kList, header({2}));
  element(1, "f", std::string(8, '\0'));
  element(9, "12", std::string(8, '\xff'));
  element(11, "m", std::string(8, '\xff'));
  element(2, "short", std::string(8, '\0'));
  element(101, "m", std::string(8, '\0'));
  contents_.end();
  EXPECT_THAT(contents_.damage(),
              ::testing::UnorderedElementsAre(
                  "key \"c\": it names a list that was never made",
                  "key \"d\": it has more lists of elements than its type has",
                  "key \"e\": it has a form that none has", "two keys have the list of elements 1",
                  "element \"12\": its header cannot have such an element",
                  "element \"m\": its header cannot have such an element",
                  "element \"short\": its header cannot have such an element",
                  "element \"m\": it is of a list that was never made"));
}

TEST_F(ContentsTest, ADatabaseOfAGenerationThatWasNeverDrawn) {
  database("db/3", 100);
  contents_.end();
  EXPECT_EQ(damage(), "database 3 has a generation that was never drawn");
}

TEST_F(ContentsTest, AKeyAtAWrongPlace) {
  database();
  take(kData, storage::key_order_of("other", kSeed), "a", {Type::kString, 0, "v"});
  EXPECT_EQ(damage(), "key \"a\": it stands at a wrong place");
}

TEST_F(ContentsTest, AnElementAtAWrongPlace) {
  take(kData | storage::kElementsBit, storage::key_order_of_element(1, "other", kSeed), "a",
       {Type::kElement, 0, std::string(8, '\0')});
  EXPECT_EQ(damage(), "element \"a\": it stands at a wrong place");
}

TEST_F(ContentsTest, AnElementWithoutOrder) {
  element(1, "a", "short");
  EXPECT_EQ(damage(), "element \"a\": it is no element");
}

TEST_F(ContentsTest, AnUnknownType) {
  database();
  key(std::string_view("a\x01", 2), static_cast<Type>(60), "v");
  EXPECT_EQ(damage(), "key \"a\\x01\": it is of a type that this weir-server does not know");
}

TEST_F(ContentsTest, AHeaderWithoutLists) {
  database();
  key("h", Type::kHash, "");
  EXPECT_EQ(damage(), "key \"h\": its elements are not named");
}

TEST_F(ContentsTest, ALimiterThatCannotBeRead) {
  database();
  key("u", Type::kLimiter, "\x01\x7f");
  EXPECT_NE(damage(), "");
}

TEST_F(ContentsTest, SystemRecords) {
  const std::string body = "return 1";
  const auto sum = script::sha1(body);
  const std::string script = std::string("\1\1") + std::string(sum.begin(), sum.end()) + body;
  system_record("script/0", script);
  system_record("functions", std::string("\1\3abc\2de", 8));
  system_record("next-incarnation", "\x05");
  system_record("clock-lead-ns", std::string(8, '\0'));
  system_record("policy/api", "decoded by the opening");
  system_record("slots", SlotTable::of_birth({}).encode());
  EXPECT_EQ(damage(), "");
  EXPECT_EQ(contents_.scripts(), 1u);
  EXPECT_EQ(contents_.libraries(), 2u);
  EXPECT_EQ(contents_.policies(), 1u);
}

TEST_F(ContentsTest, SystemRecordsThatMakeNoSense) {
  system_record("script/0", std::string("\1\1") + std::string(20, 'x') + "return 1");
  system_record("functions", std::string("\1\5abc", 5));
  system_record("next-incarnation", "");
  system_record("clock-lead-ns", "short");
  system_record("db/x", "\x05\x01");
  system_record("db/1", "\x05");
  system_record("slots", std::string("\1\1", 2));
  system_record("of-tomorrow", "");
  EXPECT_EQ(contents_.damages(), 8u);
  EXPECT_EQ(contents_.damage().back(),
            "system record \"of-tomorrow\": this weir-server knows no such record");
}

// As a hand, a disk or a hostile member has bent them: any byte, any end.
TEST_F(ContentsTest, SettingsOfAClusterThatMakeNoSense) {
  const auto is_good = [](std::string_view name, std::string_view payload) {
    return fault_of_system_record(name, payload).what.empty();
  };
  const std::string plan = "setting/\1plan";
  const std::string override = "setting/\2" + override_setting_name({"plan", true, "big:"});
  const std::string entry = std::string("\1\7\3\0\5\7", 6) + std::string(16, 'd') + "\2";
  const std::string head = "\1\3" + std::string(8, 'd') + "\2\1";
  const std::string from = "\1" + std::string(16, 'i') + "\3";
  EXPECT_TRUE(is_good("settings", head));
  EXPECT_TRUE(is_good(plan, entry));
  EXPECT_TRUE(is_good(override, entry));
  EXPECT_TRUE(is_good("setting-change/3", "\1plan"));
  EXPECT_TRUE(is_good("settings-from/b", from));
  for (const auto& [name, payload] : {std::pair<std::string, std::string>{"settings", head},
                                      {plan, entry},
                                      {"settings-from/b", from}}) {
    for (size_t size = 0; size < payload.size(); ++size)
      EXPECT_FALSE(is_good(name, payload.substr(0, size))) << name << " of " << size << " bytes";
    EXPECT_FALSE(is_good(name, payload + "x"));
    EXPECT_TRUE(fault_of_system_record(name, "\2" + payload.substr(1)).may_be_newer);
    for (size_t at = 0; at < payload.size(); ++at) {
      std::string bent = payload;
      for (int byte = 0; byte < 256; ++byte) {
        bent[at] = static_cast<char>(byte);
        (void)fault_of_system_record(name, bent);
      }
    }
  }
  EXPECT_FALSE(is_good("setting/", entry));
  EXPECT_FALSE(is_good("setting/\6plan", entry));
  EXPECT_FALSE(is_good("setting/\2plan", entry)) << "an override without a policy";
  EXPECT_FALSE(is_good(plan, std::string("\1\7\3\4\5\7", 6) + std::string(16, 'd') + "\2"));
  EXPECT_FALSE(is_good("setting-change/3", ""));
  EXPECT_FALSE(is_good("setting-change/3", "\2plan"));
  system_record("settings", "\1");
  EXPECT_EQ(damage(), "system record \"settings\": it cannot be read as a setting of a cluster");
}

TEST_F(ContentsTest, AValueOfAnotherFormat) {
  std::string stored_key;
  storage::append_stored_key(&stored_key, {kData, storage::key_order_of("a", kSeed), "a"});
  contents_.take(stored_key, "\x03\x02v");
  EXPECT_NE(damage().find("format version 3"), std::string::npos) << damage();
}

TEST_F(ContentsTest, LinesOfDamageAreBounded) {
  for (int i = 0; i < 1000; ++i) system_record("no" + std::to_string(i), "");
  EXPECT_EQ(contents_.damage().size(), 100u);
  EXPECT_EQ(contents_.damages(), 1000u);
}

}  // namespace
}  // namespace weir::server
