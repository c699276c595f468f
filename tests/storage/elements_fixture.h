// Header records beside a model of them.
#pragma once

#include <condition_variable>
#include <mutex>

#include "storage/memtable/elements.h"
#include "storage/rocks/rocks_store.h"
#include "tests/storage/keyspace_fixture.h"
#include "tests/storage/store_driver.h"

namespace weir::storage {

struct ElementValue {
  uint64_t order = 0;
  std::string value;
  bool operator==(const ElementValue&) const = default;
};
using List = std::map<std::string, ElementValue>;

struct Record {
  Type type = Type::kString;
  std::string payload;  // a header's own bytes
  int64_t expire_at_ms = 0;
  std::vector<List> lists;  // of a header
};
using Records = std::map<std::string, Record>;
using Databases = std::vector<Records>;

class ElementsTest : public KeyspaceTest {
 protected:
  static std::string number(uint64_t value) {
    std::string bytes;
    put_u64_be(&bytes, value);
    return bytes;
  }
  ElementsId make_list(int database, const List& elements) {
    const ElementsId id = keys_->lists().make(database, layout_);
    auto list = keys_->lists().open(database, id);
    for (const auto& [member, element] : elements) list->put(member, element.order, element.value);
    return id;
  }
  // Over whatever the key holds.
  void put_header(int database, const std::string& key, const Record& record) {
    Ref ref = keys_->look_up(database, key);
    std::vector<ElementsId> ids;
    for (const List& list : record.lists) ids.push_back(make_list(database, list));
    std::string payload;
    append_list_ids(&payload, ids);
    payload += record.payload;
    keys_->put(&ref, record.type, payload, record.expire_at_ms);
  }
  void put_record(int database, const std::string& key, const Record& record) {
    if (record.lists.empty()) return put(database, key, record.payload, record.expire_at_ms);
    put_header(database, key, record);
  }
  static Record header_of(List elements, int64_t expire_at_ms = 0) {
    return {.type = Type::kZset,
            .payload = "own",
            .expire_at_ms = expire_at_ms,
            .lists = {std::move(elements)}};
  }
  static List numbered(size_t count) {
    List list;
    for (size_t i = 0; i < count; ++i) list["m" + std::to_string(i)] = {i % 7, "v"};
    return list;
  }
  static bool live(const Record& record, int64_t now_ms) {
    return record.expire_at_ms == 0 || record.expire_at_ms >= now_ms;
  }

  // The list that a live key owns.
  std::optional<Elements> list_of(int database, const std::string& key, size_t which = 0) {
    const Ref ref = keys_->look_up(database, key);
    HeaderView header;
    EXPECT_TRUE(ref.exists()) << key;
    EXPECT_TRUE(owns_elements(ref.type()) && parse_header(ref.value(), &header)) << key;
    return keys_->lists().open(database, header.ids[which]);
  }

  static void expect_list(const Elements& list, const List& model) {
    std::vector<std::tuple<uint64_t, std::string, std::string>> expected;
    for (const auto& [member, element] : model)
      expected.emplace_back(element.order, member, element.value);
    std::sort(expected.begin(), expected.end());
    decltype(expected) found;
    list.walk(0, [&](const Element& element) {
      found.emplace_back(element.order, element.member, element.value);
      return true;
    });
    ASSERT_EQ(found, expected);
    ASSERT_EQ(list.size(), model.size());
    decltype(expected) backwards;
    list.walk_back(SIZE_MAX, [&](const Element& element) {
      backwards.emplace_back(element.order, element.member, element.value);
      return true;
    });
    std::reverse(backwards.begin(), backwards.end());
    ASSERT_EQ(backwards, expected);
    for (size_t rank = 0; rank < expected.size(); ++rank) {
      const auto& [order, member, value] = expected[rank];
      ASSERT_EQ(list.at(rank).member, member);
      ASSERT_EQ(list.rank_of(member), rank);
      ASSERT_EQ(list.find(member)->value, value);
      ASSERT_EQ(list.lower_bound(order, member), rank);
    }
    ASSERT_FALSE(list.find("nobody"));
    std::set<std::string> scanned;
    uint64_t cursor = 0;
    do {
      cursor = list.scan(cursor, 3, [&](const Element& element) {
        EXPECT_TRUE(scanned.emplace(element.member).second) << element.member;
      });
    } while (cursor != 0);
    ASSERT_EQ(scanned.size(), model.size());
  }

  void expect_record(int database, const std::string& key, const Record& record) {
    const Ref ref = keys_->look_up(database, key);
    ASSERT_TRUE(ref.exists()) << key;
    ASSERT_EQ(ref.type(), record.type);
    ASSERT_EQ(ref.expire_at_ms(), record.expire_at_ms);
    if (record.lists.empty()) {
      ASSERT_EQ(ref.value(), record.payload);
      return;
    }
    HeaderView header;
    ASSERT_TRUE(parse_header(ref.value(), &header));
    ASSERT_EQ(header.rest, record.payload);
    ASSERT_EQ(header.lists, record.lists.size());
    for (size_t i = 0; i < header.lists; ++i) {
      const auto list = keys_->lists().open(database, header.ids[i]);
      ASSERT_TRUE(list) << keys_->failure().message();
      expect_list(*list, record.lists[i]);
    }
  }

  void expect_records(const Databases& model) {
    keys();
    for (int database = 0; database < kDatabases; ++database) {
      std::set<std::string> alive;
      for (const auto& [key, record] : model[static_cast<size_t>(database)]) {
        SCOPED_TRACE("database " + std::to_string(database) + " key " + key);
        if (!live(record, now_ms())) {
          ASSERT_FALSE(keys_->look_up(database, key).exists());
          continue;
        }
        alive.insert(key);
        ASSERT_NO_FATAL_FAILURE(expect_record(database, key, record));
      }
      std::set<std::string> found;
      for (const auto& [key, value] : scan_all(database)) found.insert(key);
      ASSERT_EQ(found, alive);
    }
  }

  // Write-backs and the work between them until nothing is left to be done.
  void settle() {
    keys();
    commit();  // write-backs learn from it what the instant is
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 80; ++i) work();
      must_write_back();
    }
  }
  void must_write_back() {
    keys_->work().write_back_now();
    for (int i = 0; i < 1'000'000 && keys_->work().writing_back(); ++i) {
      uint64_t seen;
      {
        const std::lock_guard lock(mutex_);
        seen = events_;
      }
      work();
      if (!keys_->work().writing_back() || keys_->work().wanted() || !rocks_) continue;
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return events_ != seen; });
    }
    ASSERT_FALSE(keys_->work().writing_back());
    ASSERT_TRUE(keys_->work().write_back_failure().ok())
        << keys_->work().write_back_failure().message();
  }

  size_t elements_in_state() {
    size_t count = 0;
    const auto cursor = keys_->store_in_use()->cursor();
    for (cursor->seek(""); cursor->valid(); cursor->next()) {
      count += holds_elements(parse_stored_key(cursor->key())->generation);
    }
    EXPECT_TRUE(cursor->status().ok());
    return count;
  }
  static size_t elements_in(const Databases& model, int64_t now_ms) {
    size_t count = 0;
    for (const Records& records : model) {
      for (const auto& [key, record] : records) {
        for (const List& list : record.lists) count += live(record, now_ms) ? list.size() : 0;
      }
    }
    return count;
  }

  void use_rocks() {
    rocks_ = true;
    make_store_ = [this] {
      auto store = make_rocks_store({.directory = directory_ / "data"});
      store->set_notify([this] {
        const std::lock_guard lock(mutex_);
        ++events_;
        changed_.notify_all();
      });
      return store;
    };
    start();
  }
  void crash() {
    if (!rocks_) disk_ = disk_->after_kill();
    start();
  }

  TemporaryDirectory directory_;
  bool rocks_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t events_ = 0;

  Layout layout_ = Layout::kScattered;  // of the lists to be made
};

}  // namespace weir::storage
