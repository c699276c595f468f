// The worked example of storage/FORMAT.md, byte for byte.
#include <gtest/gtest.h>

#include "storage/format/codec.h"
#include "storage/format/element_key.h"
#include "storage/format/header.h"
#include "storage/format/record.h"

namespace weir::storage {
namespace {

std::string hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

TEST(FormatExample, TurnRecord) {
  TurnRecordWriter writer;
  writer.begin(1'700'000'000'000'000'000);
  std::string database;
  put_varint(&database, 1);
  put_varint(&database, 1);
  writer.put(0, "db/0", {.type = Type::kSystem, .expire_at_ms = 0, .payload = database});
  writer.put(1, "u", {.type = Type::kString, .expire_at_ms = 0, .payload = "hi"});
  writer.erase(1, "old");
  EXPECT_EQ(hex(writer.bytes()),
            "0100002a36fe9c9717"
            "01000464622f300401010101"
            "01010175"
            "0401026869"
            "0201036f6c64");
}

TEST(FormatExample, Elements) {
  TurnRecordWriter writer;
  writer.begin(1'700'000'000'000'000'000);
  const KeyOrder key_order = key_order_of_element(1, "m", {1, 2});
  std::string header;
  append_list_ids(&header, {{1}});
  std::string element;
  put_u64_be(&element, order_of_double(1.5));
  element += "x";
  std::string name;
  append_element_name(&name, key_order, "m");
  const ValueView value{.type = Type::kElement, .expire_at_ms = 0, .payload = element};
  writer.put(1, "z", {.type = Type::kZset, .expire_at_ms = 0, .payload = header});
  writer.put(1 | kElementsBit, name, value);
  writer.drop(1 | kElementsBit, 1);
  EXPECT_EQ(hex(writer.bytes()),
            "0100002a36fe9c9717"
            "0101017a0401130101"
            "01818080800802016d0b010fbff800000000000078"
            "0381808080080101");
  std::string key;
  append_stored_key(&key, {.generation = 1 | kElementsBit, .key_order = key_order, .key = "m"});
  EXPECT_EQ(hex(key), "80000001278dde6e5fd5655c6d");
  std::string stored;
  append_value(&stored, value);
  EXPECT_EQ(hex(stored), "010fbff800000000000078");
}

TEST(FormatExample, ElementsInSequence) {
  const auto stored_key = [](uint64_t number) {
    std::string member;
    put_u64_be(&member, number);
    std::string key;
    append_stored_key(&key, {.generation = 1 | kElementsBit,
                             .key_order = key_order_of_element(2, member, {1, 2}),
                             .key = member});
    return hex(key);
  };
  constexpr uint64_t kFirst = uint64_t{1} << 63;
  EXPECT_EQ(stored_key(kFirst), "800000010f1bbcdcbfa800008000000000000000");
  EXPECT_EQ(stored_key(kFirst + (6 << 20)), "800000010f1bbcdcbfa800018000000000600000");
}

TEST(FormatExample, StoredKeyAndValue) {
  std::string key;
  append_stored_key(
      &key,
      {.generation = 1, .key_order = key_order_of("u", {1, 2}), .key = std::string_view("u")});
  EXPECT_EQ(hex(key), "000000012e32548b33f82a9475");
  std::string value;
  append_value(&value, {.type = Type::kString, .expire_at_ms = 0, .payload = "hi"});
  EXPECT_EQ(hex(value), "01026869");
  value.clear();
  append_value(&value, {.type = Type::kString, .expire_at_ms = 1'700'000'002'000, .payload = "hi"});
  EXPECT_EQ(hex(value), "0182d06fe5cf8b0100006869");
}

TEST(FormatExample, UnknownVersionsAreRefusedNamingBoth) {
  ValueView value;
  const Status of_value = parse_value("\x07\x02hi", &value);
  EXPECT_EQ(of_value.code(), Status::Code::kRefused);
  EXPECT_NE(of_value.message().find("version 7"), std::string::npos);
  EXPECT_NE(of_value.message().find("versions 1 and 2"), std::string::npos);
  int64_t instant_ns = 0;
  const std::string record = std::string("\x07", 1) + std::string(8, '\0');
  const Status of_turn =
      parse_turn_record(record, &instant_ns, [](const TurnEntry&) { return Status(); });
  EXPECT_EQ(of_turn.code(), Status::Code::kRefused);
}

}  // namespace
}  // namespace weir::storage
