// Feeds a keyspace that follows turns that no keyspace has made: right ones with one thing changed,
// and some whose bytes are bent. Demands that each is applied, or refused without a trace; that
// what was applied can be read, written back, opened anew and gone on with by a primary; and that
// nothing ends the process.
//
// Input: steps, each with a byte that says what it is.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "storage/format/codec.h"
#include "storage/keyspace/keyspace.h"
#include "storage/memory/memory_store.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using namespace weir::storage;
using weir::fuzz::check;
using weir::fuzz::Input;

constexpr int kDatabases = 3;
constexpr int64_t kStartNs = 1'700'000'000 * weir::kNsPerS;
constexpr Generation kGenerations[] = {1, 2, 3, 4, 5, 6, 7, 0, 77, 0x7fffffff};
constexpr uint64_t kNumbers[] = {0,
                                 1,
                                 2,
                                 3,
                                 4,
                                 5,
                                 6,
                                 7,
                                 9,
                                 100,
                                 5000,
                                 uint64_t{1} << 31,
                                 kElementsIdMax,
                                 kElementsIdMax + 1,
                                 UINT64_MAX};
constexpr std::string_view kKeys[] = {"a", "b", "c", ""};
constexpr std::string_view kSystemKeys[] = {
    "db/0", "db/1", "db/2", "db/hidden", "next-incarnation", "next-elements-id",
    "db/",  "db/7", "db/x", "script/1",  "scripts",          "functions"};
constexpr uint8_t kTypes[] = {2, 3, 16, 17, 18, 19, 20, 1, 4, 15, 21, 127};

std::string varint(uint64_t number) {
  std::string bytes;
  put_varint(&bytes, number);
  return bytes;
}

class Follower {
 public:
  Follower() { open(); }

  void step(Input* input) {
    switch (input->byte() % 12) {
      case 0:
        return use();
      case 1:
        return work(input);
      case 2:
        return open_anew();
      case 3:
        return be_owner(input);
      default:
        follow(input);
    }
  }
  void follow_first() {
    begin(0);
    for (const std::string_view name : {"0", "1", "2", "hidden"})
      put_system("db/" + std::string(name), varint(++generations_) + varint(0));
    put_system("next-incarnation", varint(5));
    put_system("next-elements-id", varint(100));
    follow_written(std::string(writer_.bytes()));
  }

 private:
  void open() {
    keys_ = std::make_unique<Keyspace>([this] { return std::make_unique<MemoryStore>(disk_); },
                                       options_);
    OpenReport report;
    const Status opened = keys_->open(&report);
    check(opened.ok());
  }
  void open_anew() {
    keys_.reset();
    disk_ = disk_->after_kill();
    open();
  }

  void begin(uint8_t later) { writer_.begin(kStartNs + later * weir::kNsPerS); }
  void put_system(std::string_view name, const std::string& payload) {
    writer_.put(kSystemGeneration, name,
                {.type = Type::kSystem, .expire_at_ms = 0, .payload = payload});
  }
  static std::string header_of(Input* input) {
    const uint64_t lists = input->byte() % 4 == 0 ? input->choose(kNumbers) : 1;
    std::string payload = varint(lists);
    for (uint64_t i = 0; i < lists % 20; ++i) payload += varint(input->choose(kNumbers));
    return payload + "rest";
  }
  void put_entry(Input* input) {
    const uint8_t how = input->byte();
    const Generation generation = input->choose(kGenerations);
    const std::string name = varint(input->choose(kNumbers)) + std::string(input->choose(kKeys));
    const std::string_view key = input->choose(kKeys);
    switch (how % 8) {
      case 0:
        return put_system(input->choose(kSystemKeys),
                          varint(input->choose(kNumbers)) + varint(how / 8));
      case 1:
        return put_system(input->choose(kSystemKeys), varint(input->choose(kNumbers)));
      case 2:
        return writer_.erase(generation, key);
      case 3:
        return writer_.erase(generation | kElementsBit, name);
      case 4:
        return writer_.drop(generation | kElementsBit, input->choose(kNumbers));
      case 5:
        return writer_.put(generation | kElementsBit, name,
                           {.type = Type::kElement,
                            .expire_at_ms = 0,
                            .payload = std::string_view("12345678value").substr(0, 6 + how / 8)});
      default: {
        const auto type = static_cast<Type>(input->choose(kTypes));
        const int64_t expires_ms = how / 8 % 4 == 0 ? kStartNs / weir::kNsPerMs + how * 100 : 0;
        const std::string payload = owns_elements(type) ? header_of(input) : "value";
        return writer_.put(generation, key,
                           {.type = type, .expire_at_ms = expires_ms, .payload = payload});
      }
    }
  }
  void follow(Input* input) {
    begin(later_ += input->byte() % 3);
    for (int entries = input->byte() % 6; entries > 0; --entries) put_entry(input);
    std::string record(writer_.bytes());
    const uint8_t bend = input->byte();
    if (bend >= 240) record[input->byte() % record.size()] ^= static_cast<char>(bend);
    if (bend == 239) record.resize(input->byte() % record.size());
    follow_written(record);
  }
  void follow_written(const std::string& record) {
    const uint64_t turn = keys_->turn();
    const Status status =
        keys_->follow({.first_turn = turn + 1, .turns = {&record, 1}, .bookmark = "a bookmark"});
    check(status.ok() || status.is_refusal());
    check(keys_->turn() == (status.ok() ? turn + 1 : turn));
    check(keys_->logged_turn() == keys_->turn());
  }

  // REQUIRES: there are databases.
  void open_lists(int database, std::string_view key) {
    const Ref ref = keys_->look_up(database, key);
    HeaderView header;
    if (!owns_elements(ref.type()) || !parse_header(ref.value(), &header)) return;
    for (const ElementsId id : header.all()) {
      const auto list = keys_->lists().open(database, id);
      if (!list) continue;
      size_t walked = 0;
      list->walk(0, [&](const Element&) { return ++walked < 100; });
      check(walked == std::min<size_t>(list->size(), 100));
    }
  }
  void use() {
    if (!keys_->usable()) return;
    keys_->running().begin_command(keys_->metrics().instant_ns);
    for (int database = 0; database < kDatabases; ++database) {
      for (const std::string_view key : kKeys) open_lists(database, key);
      keys_->scan(database, 0, 10, [](const Seen&) {});
    }
    keys_->running().roll_back();
    check(keys_->commit_turn().ok());
  }
  void work(Input* input) {
    if (input->byte() % 2 == 0) keys_->work().write_back_now();
    for (int i = 0; i < 20; ++i) keys_->work().step(steady_ns_ += weir::kNsPerMs);
  }

  // The member is promoted, does something and is demoted.
  void be_owner(Input* input) {
    set_follows(false);
    keys_->running().begin_command(keys_->metrics().instant_ns);
    try {
      const int database = input->byte() % kDatabases;
      if (input->byte() % 3 == 0) keys_->clear(database);
      if (input->byte() % 3 == 0) keys_->swap(database, 0);
      Ref ref = keys_->look_up(database, input->choose(kKeys));
      const ElementsId id = keys_->lists().make(database, Layout::kScattered);
      keys_->lists().open(database, id)->put("m", 1, "v");
      keys_->put(&ref, Type::kSet, varint(1) + varint(id), 0);
      for (const std::string_view key : kKeys) open_lists(database, key);
    } catch (const weir::BrokenCheck&) {  // it has no numbers left, and says so
      keys_->running().roll_back();
    }
    check(keys_->commit_turn().ok());
    work(input);
    set_follows(true);
    check(keys_->reopen(Keep::kCommitted).ok());
  }
  void set_follows(bool follows) {
    options_.follows = follows;
    keys_->set_options(options_);
  }

  std::shared_ptr<MemoryDisk> disk_ = make_memory_disk({1, 2});
  KeyspaceOptions options_{
      .databases = kDatabases, .write_back_interval_ns = 1'000'000'000'000, .follows = true};
  std::unique_ptr<Keyspace> keys_;
  TurnRecordWriter writer_;
  uint64_t generations_ = 0;
  uint8_t later_ = 0;
  int64_t steady_ns_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::process_hash_key = {};  // the same each time
  Input input(data, std::min<size_t>(size, 4096));
  Follower follower;
  if (input.byte() % 8 != 0) follower.follow_first();
  while (!input.empty()) follower.step(&input);
  return 0;
}
