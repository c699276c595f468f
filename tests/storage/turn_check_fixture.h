// A keyspace that follows turns which nobody has made.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include "storage/keyspace/turn_commit.h"
#include "tests/storage/elements_fixture.h"

namespace weir::storage {

inline constexpr Generation kFirst = 1;  // of database 0
inline constexpr Generation kNext = kDatabases + 2;
inline constexpr Generation kNobodys = 77;

inline std::string varints(std::initializer_list<uint64_t> numbers) {
  std::string bytes;
  for (const uint64_t number : numbers) put_varint(&bytes, number);
  return bytes;
}

inline ValueView system_value(std::string_view payload) {
  return {.type = Type::kSystem, .expire_at_ms = 0, .payload = payload};
}

// A keyspace that follows. It has databases and a list, 1, of which the set "s" is the header.
class TurnCheckTest : public ::testing::Test {
 protected:
  TurnCheckTest() {
    Keyspace::StoreFactory make_store = [this] { return std::make_unique<MemoryStore>(disk_); };
    keys_ = std::make_unique<Keyspace>(make_store, options_);
    OpenReport report;
    EXPECT_TRUE(keys_->open(&report).ok());
    EXPECT_TRUE(follow(first_turn()).ok());
  }

  std::string first_turn() {
    writer_.begin(kStartNs);
    for (int i = 0; i < kDatabases; ++i)
      put_database(std::to_string(i), {kFirst + static_cast<uint64_t>(i), 0});
    put_database("hidden", {kNext - 1, 0});
    put_system("next-incarnation", varints({kNext}));
    put_system("next-elements-id", varints({4096}));
    put(kFirst, "s", Type::kSet, varints({1, 1}));
    put_element(kFirst | kElementsBit, varints({1}) + "m");
    return std::string(writer_.bytes());
  }
  void begin(int64_t instant_ns = kStartNs) { writer_.begin(instant_ns); }
  void put_system(std::string_view name, const std::string& payload) {
    writer_.put(kSystemGeneration, name, system_value(payload));
  }
  void put_database(const std::string& name, std::initializer_list<uint64_t> numbers) {
    put_system("db/" + name, varints(numbers));
  }
  void put(Generation generation, std::string_view key, Type type, const std::string& payload,
           int64_t expire_at_ms = 0) {
    writer_.put(generation, key, {.type = type, .expire_at_ms = expire_at_ms, .payload = payload});
  }
  void put_element(Generation generation, const std::string& name) {
    put(generation, name, Type::kElement, std::string(8, '\1') + "v");
  }

  Status follow(const std::string& record) {
    return keys_->follow(
        {.first_turn = keys_->turn() + 1, .turns = {&record, 1}, .bookmark = "a bookmark"});
  }
  Status follow_written() { return follow(std::string(writer_.bytes())); }
  void expect_refused(const std::string& why, int line = __builtin_LINE()) {
    SCOPED_TRACE(line);
    const uint64_t turn = keys_->turn();
    const Status status = follow_written();
    EXPECT_TRUE(status.is_refusal()) << status.message();
    EXPECT_NE(status.message().find(why), std::string::npos) << status.message();
    EXPECT_EQ(keys_->turn(), turn);
    EXPECT_EQ(keys_->logged_turn(), turn) << "it is not in the own log either";
  }

  std::shared_ptr<MemoryDisk> disk_ = make_memory_disk({11, 22});
  KeyspaceOptions options_{
      .databases = kDatabases, .write_back_interval_ns = 1'000'000'000'000, .follows = true};
  std::unique_ptr<Keyspace> keys_;
  TurnRecordWriter writer_;
};

}  // namespace weir::storage
