// Commands make no name that is longer than they may (storage/format/name_bound.h); what a log or a
// state has is taken whatever its length.
#include "storage/format/header.h"
#include "tests/storage/keyspace_fixture.h"

namespace weir::storage {
namespace {

const std::string kLongest(100, 'k');
const std::string kTooLong(101, 'k');
const std::string kError = "ERR a key may have at most 100 bytes (key-bytes-max), got one of 101";

class NameBound : public KeyspaceTest {
 protected:
  NameBound() { set_bound(100); }

  void set_bound(size_t bytes) {
    options_.name_bytes_max = bytes;
    keys_->set_options(options_);
  }
  // Answers why a change was refused; "" if it was made.
  std::string refusal(const std::function<void()>& change) {
    keys();
    try {
      change();
    } catch (const ChangeRefused&) {
      EXPECT_EQ(keys_->failure().code(), Status::Code::kAborted);
      const std::string why = keys_->failure().message();
      keys_->running().roll_back();
      return why;
    }
    return {};
  }
};

TEST_F(NameBound, AKeyEndsThere) {
  EXPECT_EQ(refusal([&] { put(0, kLongest, "v"); }), "");
  EXPECT_EQ(refusal([&] { put(0, kTooLong, "v"); }), kError);
  EXPECT_EQ(refusal([&] {
              Ref from = keys_->look_up(0, kLongest);
              Ref to = keys_->look_up(0, kTooLong);
              keys_->rename(&from, &to);
            }),
            kError);
  commit();
  expect_same({{{kLongest, {"v"}}}, {}, {}});
}

TEST_F(NameBound, SoDoesAMember) {
  keys();
  const ElementsId id = keys_->lists().make(0, Layout::kScattered);
  std::string header;
  append_list_ids(&header, {{id}});
  Ref ref = keys_->look_up(0, "z");
  keys_->put(&ref, Type::kZset, header, 0);
  EXPECT_TRUE(keys_->lists().open(0, id)->put(kLongest, 1, std::string(1000, 'v')));
  commit();
  EXPECT_EQ(refusal([&] { keys_->lists().open(0, id)->put(kTooLong, 1, ""); }),
            "ERR a field or member may have at most 100 bytes (key-bytes-max), got one of 101");
  EXPECT_EQ(keys_->lists().open(0, id)->size(), 1u);
}

// System records and those that no client can name are short by how they are made.
TEST_F(NameBound, HiddenRecordsAreNotMeant) {
  EXPECT_EQ(refusal([&] { put(options_.hidden_database(), kTooLong, "v"); }), "");
}

TEST_F(NameBound, ALongerKeyThatIsThereStays) {
  set_bound(SIZE_MAX);
  keys();
  put(0, kTooLong, "v");
  commit();
  options_.name_bytes_max = 100;
  disk_ = disk_->after_kill();
  start();  // from the log
  expect_same({{{kTooLong, {"v"}}}, {}, {}});
  write_back();
  disk_ = disk_->after_kill();
  start();  // from the state
  expect_same({{{kTooLong, {"v"}}}, {}, {}});
  keys();
  put(0, kTooLong, "w");  // it makes no name
  erase(0, kTooLong);
  commit();
  expect_same({{}, {}, {}});
}

// A store that keeps the records of its log.
class KeepingStore : public MemoryStore {
 public:
  KeepingStore(std::shared_ptr<MemoryDisk> disk, std::vector<std::string>* records)
      : MemoryStore(std::move(disk)), records_(*records) {}

  Status append(uint64_t turn, std::string_view record) override {
    records_.emplace_back(record);
    return MemoryStore::append(turn, record);
  }

 private:
  std::vector<std::string>& records_;
};

TEST_F(NameBound, AFollowerTakesLongerOnesOfAnotherMember) {
  std::vector<std::string> records;
  disk_ = make_memory_disk({11, 22});
  make_store_ = [&] { return std::make_unique<KeepingStore>(disk_, &records); };
  options_.name_bytes_max = SIZE_MAX;
  start();
  keys();
  put(0, kTooLong, "v");
  commit();

  disk_ = make_memory_disk({11, 22});
  make_store_ = [&] { return std::make_unique<MemoryStore>(disk_); };
  options_.name_bytes_max = 100;
  options_.follows = true;
  start();
  const Status status =
      keys_->follow({.first_turn = 1, .turns = records, .bookmark = "a bookmark"});
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same({{{kTooLong, {"v"}}}, {}, {}});
}

}  // namespace
}  // namespace weir::storage
