// A second keyspace follows a loaded first one by its records (storage/keyspace/replay.h), while
// its own lists are open or being opened, its own write-backs run and fail, its memory is short,
// and it dies.
//
// WEIR_FOLLOW_TURNS=1000000 makes it long.
#include "base/crc64.h"
#include "tests/storage/elements_random.h"

namespace weir::storage {
namespace {

constexpr size_t kLongList = 3'000;  // is opened in slices
constexpr int kTurns = 5'000;        // of each seed

int turns() {
  const char* given = std::getenv("WEIR_FOLLOW_TURNS");
  return given != nullptr ? std::atoi(given) : kTurns;
}

// A store that also hands its log's records on.
class ToldStore : public MemoryStore {
 public:
  using Told = std::deque<std::pair<uint64_t, std::string>>;
  ToldStore(std::shared_ptr<MemoryDisk> disk, Told* told)
      : MemoryStore(std::move(disk)), told_(*told) {}

  Status append(uint64_t turn, std::string_view record) override {
    Status status = MemoryStore::append(turn, record);
    if (status.ok()) told_.emplace_back(turn, record);
    return status;
  }

 private:
  Told& told_;
};

class FollowTest : public RandomElements {
 protected:
  void start_both(size_t first_bytes_max, size_t second_bytes_max) {
    options_.memory_bytes_max = first_bytes_max;
    make_store_ = [this] { return std::make_unique<ToldStore>(disk_, &told_); };
    disk_ = make_memory_disk({11, 22});
    start();
    second_options_.memory_bytes_max = second_bytes_max;
    second_disk_->deferred = true;
    start_second();
  }
  void start_second() {
    second_ = std::make_unique<Keyspace>(
        [this] { return std::make_unique<MemoryStore>(second_disk_); }, second_options_);
    OpenReport report;
    const Status status = second_->open(&report);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void crash_second() {
    evicted_ += second_->metrics().evicted;
    second_.reset();
    second_disk_ = second_disk_->after_kill();
    start_second();
  }

  void catch_up() {
    for (; !told_.empty(); told_.pop_front()) {
      const auto& [turn, record] = told_.front();
      const Status status =
          second_->follow({.first_turn = turn, .turns = {&record, 1}, .bookmark = "a bookmark"});
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }

  // The list of a key, or nothing: it does not exist, owns no list, or is not open yet.
  static std::optional<Elements> open(Keyspace* keys, int database, const std::string& key,
                                      size_t which = 0) {
    const Ref ref = keys->look_up(database, key);
    HeaderView header;
    if (!owns_elements(ref.type()) || !parse_header(ref.value(), &header)) return std::nullopt;
    return which < header.lists ? keys->lists().open(database, header.ids[which]) : std::nullopt;
  }

  // A command of the first keyspace that makes a long list, changes it or gives it another expiry.
  void change_long() {
    keys();
    const int database = any_database();
    Ref ref = keys_->look_up(database, "long");
    if (!ref.exists()) {
      if (pick(40) == 0) put_record(database, "long", header_of(numbered(kLongList)));
      return;
    }
    if (pick(60) == 0) keys_->set_expiry(&ref, now_ms() + static_cast<int64_t>(pick(400)));
    auto list = open(keys_.get(), database, "long");
    if (!list) return keys_->running().roll_back();
    for (uint64_t changes = pick(6); changes > 0; --changes) {
      const std::string member = "m" + std::to_string(pick(kLongList));
      pick(3) == 0 ? list->erase(member) : list->put(member, pick(9), "w");
    }
  }

  void run_turn() {
    for (uint64_t commands = pick(4); commands > 0; --commands) run_command(&model_);
    if (pick(3) == 0) change_long();
    commit();
    for (uint64_t steps = pick(4); steps > 0; --steps) work();
    if (pick(20) == 0) keys_->work().write_back_now();
    if (pick(60) == 0) disk_->faults.write_back = 1;
    if (pick(50) == 0) now_ns_ += static_cast<int64_t>(pick(300'000'000));
  }

  // What a reader of the second keyspace does, and the work between its turns.
  void use_second() {
    if (second_->usable() && pick(3) == 0) {  // its databases come with the first turn
      second_->running().begin_command(second_->metrics().instant_ns);
      const std::string key = pick(2) == 0 ? "long" : any_key();
      open(second_.get(), any_database(), key);
      second_->running().roll_back();
      ASSERT_TRUE(second_->commit_turn().ok());
    }
    for (uint64_t steps = pick(4); steps > 0; --steps)
      second_->work().step(steady_ns_ += 1'000'000);
    if (pick(3) == 0) static_cast<MemoryStore&>(*second_->store_in_use()).step();
    if (pick(20) == 0) second_->work().write_back_now();
    if (pick(60) == 0) second_disk_->faults.write_back = 1;
  }

  // One line for each record with its elements, in the order of the lines.
  std::vector<std::string> lines_of(Keyspace* keys, int64_t now_ns) {
    std::vector<std::string> lines;
    keys->running().begin_command(now_ns);
    for (int database = 0; database < kDatabases; ++database) {
      std::set<std::string> found;
      uint64_t cursor = 0;
      do {
        cursor =
            keys->scan(database, cursor, 100, [&](const Seen& seen) { found.emplace(seen.key); });
      } while (cursor != 0);
      for (const std::string& key : found) lines.push_back(line_of(keys, now_ns, database, key));
    }
    keys->visit_system("", [&](std::string_view key, std::string_view value) {
      lines.push_back("system " + std::string(key) + " " + ::testing::PrintToString(value));
    });
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  std::string line_of(Keyspace* keys, int64_t now_ns, int database, const std::string& key) {
    const Ref ref = keys->look_up(database, key);
    std::string line = std::to_string(database) + " " + key + " " +
                       std::to_string(static_cast<int>(ref.type())) + " " +
                       std::to_string(ref.expire_at_ms()) + " " + std::string(ref.value());
    HeaderView header;
    if (!owns_elements(ref.type()) || !parse_header(ref.value(), &header)) return line;
    const size_t lists = header.lists;
    for (size_t i = 0; i < lists; ++i) {
      std::optional<Elements> list;
      while (!(list = open(keys, database, key, i))) {
        if (keys->failure().code() != Status::Code::kNotYet) return line + " is not readable";
        keys->running().begin_command(now_ns);
      }
      line += " [";
      list->walk(0, [&](const Element& element) {
        line.append(element.member).append(std::to_string(element.order)).append(element.value);
        return true;
      });
      elements_ += list->size();
      if (list->size() > 0) line += list->at(list->size() / 2).member;
    }
    return line;
  }
  static uint64_t digest_of(const std::vector<std::string>& lines) {
    uint64_t digest = 0;
    for (const std::string& line : lines) digest = crc64_xz(line, digest);
    return digest;
  }

  // A record that brings the second keyspace to the instant of the first.
  void beat() {
    keys();
    put(0, "beat", std::to_string(now_ns_));
    commit();
    catch_up();
  }

  void expect_equal() {
    beat();
    ASSERT_EQ(second_->turn(), keys_->turn());
    for (int database = 0; database < kDatabases; ++database)
      ASSERT_EQ(second_->size(database), keys_->size(database)) << database;
    const auto first = lines_of(keys_.get(), now_ns_);
    const auto second = lines_of(second_.get(), now_ns_);
    if (digest_of(first) == digest_of(second)) return;
    for (size_t i = 0; i < std::min(first.size(), second.size()); ++i)
      ASSERT_EQ(first[i], second[i]);
    FAIL() << first.size() << " and " << second.size() << " records";
  }

  // Nothing is left in the second state of a list that no record names. A write-back looks at a
  // part of the state only for headers that have expired, so there are many.
  void expect_tidy_state() {
    for (int round = 0; round < 20; ++round) {
      now_ns_ += 1'000'000'000;
      ASSERT_NO_FATAL_FAILURE(beat());
      for (int i = 0; i < 80; ++i) second_->work().step(steady_ns_ += 1'000'000);
      ASSERT_NO_FATAL_FAILURE(write_back_second());
    }
    elements_ = 0;
    lines_of(keys_.get(), now_ns_);
    expect_elements_stored(elements_);
  }
  void expect_elements_stored(size_t elements) {
    size_t stored = 0;
    for (const auto& [key, value] : *second_disk_->state)
      stored += holds_elements(parse_stored_key(key)->generation);
    ASSERT_EQ(stored, elements);
  }
  void write_back_second() {
    second_->work().write_back_now();
    for (int i = 0; i < 100'000 && second_->work().writing_back(); ++i) {
      second_->work().step(steady_ns_ += 1'000'000);
      static_cast<MemoryStore&>(*second_->store_in_use()).step();
    }
    ASSERT_FALSE(second_->work().writing_back());
  }

  // The second keyspace is the primary's from now on.
  void take_over() {
    second_options_.follows = false;
    second_->set_options(second_options_);
    second_disk_->deferred = false;
    keys_ = std::move(second_);
  }

  uint64_t evicted_ = 0;  // by second keyspaces that died
  size_t elements_ = 0;   // met by lines_of()
  ToldStore::Told told_;
  std::shared_ptr<MemoryDisk> second_disk_ = make_memory_disk({33, 44});
  KeyspaceOptions second_options_{
      .databases = kDatabases, .write_back_interval_ns = 1'000'000'000'000, .follows = true};
  std::unique_ptr<Keyspace> second_;
  Databases model_{kDatabases};
};

class FollowRandomTest : public FollowTest, public ::testing::WithParamInterface<uint64_t> {};

TEST_P(FollowRandomTest, ASecondKeyspaceEqualsTheFirst) {
  const uint64_t seed = GetParam() != 0 ? GetParam() : test_seed();
  SCOPED_TRACE("replay with WEIR_SEED=" + std::to_string(seed));
  random_.seed(seed);
  start_both(seed % 2 == 0 ? 15'000 : 400'000, seed % 3 == 0 ? 60'000 : 15'000);
  for (int i = 0, end = turns(); i < end && !HasFatalFailure(); ++i) {
    run_turn();
    if (pick(3) != 0) catch_up();
    use_second();
    if (seed % 2 == 0 && pick(400) == 0) {
      catch_up();
      crash_second();
    }
    if (pick(100) == 0) expect_equal();
    if (seed % 2 == 1 && pick(500) == 0) {
      second_disk_->faults = {};
      expect_tidy_state();
    }
  }
  expect_equal();
  if (std::getenv("WEIR_FOLLOW_TURNS") != nullptr) std::printf("turns followed: %d\n", turns());
  EXPECT_GT(evicted_ + second_->metrics().evicted, 0u);
  second_disk_->faults = {};
  if (seed % 2 == 1) expect_tidy_state();
}

TEST_F(FollowTest, AFollowerTakesOver) {
  random_.seed(5);
  start_both(SIZE_MAX, 15'000);
  for (int i = 0; i < 500 && !HasFatalFailure(); ++i) {
    for (uint64_t commands = pick(4); commands > 0; --commands) run_command(&model_);
    commit();
    catch_up();
    use_second();
  }
  second_disk_->faults = {};
  take_over();
  expect_records(model_);
  for (int i = 0; i < 500 && !HasFatalFailure(); ++i) {
    run_command(&model_);
    commit();
    for (int steps = 0; steps < 3; ++steps) work();
  }
  expect_records(model_);
  for (int i = 0; i < 2'000; ++i) work();
  for (int database = 0; database < kDatabases; ++database)
    EXPECT_EQ(keys_->size(database), scan_all(database).size()) << database;
}

// The first keyspace erases an expired header with its list, and no record says so: it reads the
// header from its state, where it has expired, and a write-back takes both before the next turn.
TEST_F(FollowTest, AListThatDiedUnnamedDiesHereToo) {
  for (const bool expired_here : {false, true}) {
    for (const bool in_memory_here : {false, true}) {
      SCOPED_TRACE(::testing::Message() << expired_here << in_memory_here);
      second_disk_ = make_memory_disk({33, 44});
      told_.clear();
      start_both(SIZE_MAX, SIZE_MAX);
      keys();
      put_record(0, "z", header_of(numbered(100), now_ms() + 10));
      commit();
      catch_up();
      must_write_back();
      write_back_second();
      expect_elements_stored(100);
      start();
      if (!in_memory_here) start_second();
      now_ns_ += 1'000'000'000;
      const Ref z = keys().look_up(0, "z");
      ASSERT_FALSE(z.exists());
      commit();
      must_write_back();
      ASSERT_EQ(elements_in_state(), 0u);
      ASSERT_TRUE(told_.empty());
      if (expired_here) beat();
      keys();
      put(0, "z", "string");
      commit();
      catch_up();
      expect_tidy_state();
    }
  }
}

TEST_F(FollowTest, OnlyTheNextTurnIsApplied) {
  start_both(SIZE_MAX, SIZE_MAX);
  beat();
  ASSERT_EQ(second_->turn(), keys_->turn());
  TurnRecordWriter record;
  record.begin(now_ns_);
  const std::string bytes(record.bytes());
  const auto follow = [&](uint64_t turn) {
    return second_->follow({.first_turn = turn, .turns = {&bytes, 1}, .bookmark = "a bookmark"});
  };
  const uint64_t turn = second_->turn();
  EXPECT_EQ(follow(turn + 2).code(), Status::Code::kRefused);
  EXPECT_TRUE(follow(turn).ok()) << "it is there already";
  EXPECT_EQ(second_->turn(), turn);
  EXPECT_TRUE(follow(turn + 1).ok());
  EXPECT_EQ(second_->turn(), turn + 1);
}

// 0: a fresh seed, printed when it fails.
INSTANTIATE_TEST_SUITE_P(Seeds, FollowRandomTest, ::testing::Range<uint64_t>(0, 4));

}  // namespace
}  // namespace weir::storage
