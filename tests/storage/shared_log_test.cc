// Keyspaces over one log that several machines share: one appends turns to it and has some of them
// committed later or never, the others follow. Machines die, the primary changes, and the log
// loses its end and gets the same turns again in other records. Whatever happens, each machine
// holds what the log holds up to some turn, and its disk never holds more.
//
// WEIR_SHARED_STEPS=1000000 makes it long.
#include <deque>

#include "tests/storage/keyspace_fixture.h"

namespace weir::storage {
namespace {

constexpr int kLogKeys = 60;
constexpr int kMoreKeys = 1'500;  // changed by some turns, so that a write-back takes long
constexpr int kSteps = 1'500;     // of each seed

int steps() {
  const char* given = std::getenv("WEIR_SHARED_STEPS");
  return given != nullptr ? std::atoi(given) : kSteps;
}

struct SharedRecord {
  uint64_t id = 0;  // ascending; not used again
  uint64_t first_turn = 0;
  std::vector<std::string> turns;

  uint64_t last_turn() const { return first_turn + turns.size() - 1; }
};

// What the primary has sealed, and nobody has committed.
class Sealed final : public TurnLog {
 public:
  Status append(uint64_t turn, std::string_view record) override {
    if (turns.empty()) first_turn = turn;
    turns.emplace_back(record);
    return {};
  }

  uint64_t first_turn = 0;
  std::deque<std::string> turns;
};

constexpr size_t kRecordsLostMax = 4;

// A machine: its disk, and its process while it lives.
class LogMachine {
 public:
  explicit LogMachine(size_t memory_bytes_max) {
    disk_->deferred = true;
    disk_->bookmarked_kept = {.bytes = 300, .bookmarks = kRecordsLostMax};
    options_.memory_bytes_max = memory_bytes_max;
  }

  void start() {
    options_.follows = true;
    options_.log = &sealed;
    sealed.turns.clear();
    keys = std::make_unique<Keyspace>([this] { return std::make_unique<MemoryStore>(disk_); },
                                      options_);
    OpenReport report;
    const Status status = keys->open(&report);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void kill() {
    keys.reset();
    disk_ = disk_->after_kill();
  }
  void cut_power(uint64_t unsynced_turns_kept) {
    keys.reset();
    disk_ = disk_->after_power_cut({.unsynced_turns_kept = unsynced_turns_kept});
  }
  void promote() { follow(false); }
  // What was sealed and not committed is dropped.
  void demote() {
    sealed.turns.clear();
    follow(true);
    const Status status = keys->reopen(Keep::kCommitted);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  Status follow(const SharedRecord& record) {
    const std::string id = std::to_string(record.id);
    return keys->follow({.first_turn = record.first_turn, .turns = record.turns, .bookmark = id});
  }
  Status commit(const SharedRecord& record) {
    const std::string id = std::to_string(record.id);
    return keys->follow({.first_turn = record.first_turn, .turns = record.turns, .bookmark = id});
  }
  // The places in the log of the oldest and the newest bookmark that it confirms.
  std::pair<size_t, size_t> confirmed(const std::vector<SharedRecord>& log) const {
    std::vector<size_t> places;
    for (const auto& [turn, bookmark] : disk_->bookmarks) {
      const uint64_t id = std::stoull(bookmark);
      const auto found = std::lower_bound(
          log.begin(), log.end(), id,
          [](const SharedRecord& record, uint64_t wanted) { return record.id < wanted; });
      if (found != log.end() && found->id == id)
        places.push_back(static_cast<size_t>(found - log.begin()));
    }
    EXPECT_FALSE(places.empty()) << "the log confirms none of the bookmarks";
    return places.empty() ? std::pair<size_t, size_t>() : std::pair(places.front(), places.back());
  }
  // The record that comes after the newest bookmark that the log confirms; null at its end. What
  // follows it in the machine's own log is needed until the log has it again.
  const SharedRecord* next_record(const std::vector<SharedRecord>& log) const {
    if (disk_->bookmarks.empty()) return log.empty() ? nullptr : &log.front();
    const size_t newest = confirmed(log).second;
    keys->store_in_use()->keep_turns_from(log[newest].last_turn() + 1);
    return newest + 1 == log.size() ? nullptr : &log[newest + 1];
  }
  uint64_t written_back() const { return disk_->written_back_turn; }

  void work(int64_t steady_ns) { keys->work().step(steady_ns); }
  void work_and_step_disk(int64_t steady_ns) { work(steady_ns), step_disk(); }
  void step_disk() { static_cast<MemoryStore&>(*keys->store_in_use()).step(); }
  std::shared_ptr<MemoryDisk> disk() const { return disk_; }

  std::unique_ptr<Keyspace> keys;
  Sealed sealed;

 private:
  void follow(bool follows) {
    options_.follows = follows;
    keys->set_options(options_);
  }

  std::shared_ptr<MemoryDisk> disk_ = make_memory_disk({11, 22});
  KeyspaceOptions options_{.databases = kDatabases, .write_back_interval_ns = 5'000'000};
};

// What a keyspace shows at an instant, or at its newest one if that is later.
Model contents_of(Keyspace* keys, int64_t now_ns) {
  Model model(kDatabases);
  if (!keys->usable()) return model;
  keys->running().begin_command(std::max(now_ns, keys->metrics().instant_ns));
  for (int database = 0; database < kDatabases; ++database) {
    for (int i = 0; i < kLogKeys; ++i) {
      const std::string key = "k" + std::to_string(i);
      const Ref ref = keys->look_up(database, key);
      if (ref.exists())
        model[static_cast<size_t>(database)][key] = {std::string(ref.value()), ref.expire_at_ms()};
    }
  }
  keys->running().roll_back();
  EXPECT_TRUE(keys->commit_turn().ok());
  return model;
}

class SharedLogTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  uint64_t pick(uint64_t bound) { return random_() % bound; }

  void start_all() {
    for (const size_t memory_bytes_max : {SIZE_MAX, size_t{8'000}, SIZE_MAX}) {
      machines_.emplace_back(memory_bytes_max).start();
      ASSERT_FALSE(::testing::Test::HasFatalFailure());
    }
    make_databases();
  }

  // The first primary's first turn makes the databases, which a member never does at its opening.
  void make_databases() {
    LogMachine& primary = machines_[primary_];
    primary.promote();
    primary.keys->running().begin_command(now_ns_);
    for (int database = 0; database <= kDatabases; ++database) primary.keys->clear(database);
    ASSERT_TRUE(primary.keys->commit_turn().ok());
    append_record();
    read_all();
  }

  void run_turn() {
    Keyspace& keys = *machines_[primary_].keys;
    if (pick(100) == 0) change_many(&keys);
    for (uint64_t commands = pick(5); commands > 0; --commands) {
      keys.running().begin_command(now_ns_);
      const int database = static_cast<int>(pick(kDatabases));
      const std::string key = "k" + std::to_string(pick(kLogKeys));
      Ref ref = keys.look_up(database, key);
      const auto expire_at_ms =
          pick(4) == 0 ? now_ns_ / 1'000'000 + static_cast<int64_t>(pick(400)) : 0;
      if (pick(30) == 0) {
        keys.clear(database);
      } else if (pick(4) == 0) {
        if (ref.exists()) keys.erase(&ref);
      } else {
        keys.put(&ref, Type::kString, std::string(pick(90), 'v') + std::to_string(pick(1'000'000)),
                 expire_at_ms);
      }
    }
    ASSERT_TRUE(keys.commit_turn().ok());
    if (pick(10) == 0) now_ns_ += static_cast<int64_t>(pick(200'000'000));
  }

  void change_many(Keyspace* keys) {
    keys->running().begin_command(now_ns_);
    for (int i = 0; i < kMoreKeys; ++i) {
      const std::string key = "more" + std::to_string(i);
      Ref ref = keys->look_up(0, key);
      keys->put(&ref, Type::kString, std::to_string(pick(1'000)), 0);
    }
  }

  // The shared log takes some of what is sealed, as one record.
  void append_record() {
    Sealed& sealed = machines_[primary_].sealed;
    if (sealed.turns.empty()) return;
    take_record(&sealed.first_turn, &sealed.turns);
  }
  void take_record(uint64_t* first_turn, std::deque<std::string>* turns) {
    SharedRecord record{.id = ++newest_id_, .first_turn = *first_turn, .turns = {}};
    for (size_t n = 1 + pick(turns->size()); n > 0; --n) {
      record.turns.push_back(std::move(turns->front()));
      turns->pop_front();
      ++*first_turn;
    }
    ends_.insert(record.last_turn());
    log_.push_back(std::move(record));
  }

  // The log loses its end, and whoever holds those turns appends them again.
  void rewind() {
    std::deque<std::string> turns;
    uint64_t first_turn = 0;
    size_t kept = 1;
    for (const LogMachine& machine : machines_)
      kept = std::max(kept, machine.confirmed(log_).first + 1);
    for (uint64_t n = 1 + pick(kRecordsLostMax); n > 0 && log_.size() > kept; --n) {
      SharedRecord& lost = log_.back();
      first_turn = lost.first_turn;
      turns.insert(turns.begin(), lost.turns.begin(), lost.turns.end());
      log_.pop_back();
    }
    while (!turns.empty()) take_record(&first_turn, &turns);
  }

  // A machine reads a record; for the primary that is the acknowledgement. False: nothing came.
  bool read_next(size_t i) {
    LogMachine& machine = machines_[i];
    const SharedRecord* record = machine.next_record(log_);
    if (record == nullptr) return false;
    const Status status = i == primary_ ? machine.commit(*record) : machine.follow(*record);
    EXPECT_TRUE(status.ok()) << status.message();
    return status.ok();
  }
  void read_all() {
    for (size_t i = 0; i < machines_.size(); ++i) {
      while (read_next(i)) continue;
    }
  }

  // What is sealed and not in the log is lost; another machine goes on, after it has read all.
  void change_primary(size_t next) {
    machines_[primary_].demote();
    primary_ = machines_.size();
    read_all();
    primary_ = next;
    machines_[primary_].promote();
    now_ns_ = std::max(now_ns_, machines_[primary_].keys->metrics().instant_ns);
  }

  void die(size_t i) {
    if (i == primary_) change_primary((i + 1) % machines_.size());
    pick(2) == 0 ? machines_[i].kill() : machines_[i].cut_power(pick(20));
    check_disk(machines_[i]);
    machines_[i].start();
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    ASSERT_TRUE(ends_.contains(machines_[i].keys->turn())) << "records are whole";
  }

  // What the log holds up to a turn.
  Model expected_at(uint64_t turn, int64_t now_ns) {
    LogMachine reference(SIZE_MAX);
    reference.start();
    for (const SharedRecord& record : log_) {
      uint64_t at = record.first_turn;
      for (const std::string& bytes : record.turns) {
        if (at > turn) break;
        const TurnBatch turn_alone{
            .first_turn = at, .turns = {&bytes, 1}, .bookmark = "a bookmark"};
        EXPECT_TRUE(reference.keys->follow(turn_alone).ok());
        ++at;
      }
    }
    return contents_of(reference.keys.get(), now_ns);
  }

  // What is found on a disk, without the records of the log that it lacks.
  void check_disk(const LogMachine& machine) {
    auto copy = machine.disk()->after_kill();
    Keyspace found([&] { return std::make_unique<MemoryStore>(copy); },
                   {.databases = kDatabases, .follows = true});
    OpenReport report;
    ASSERT_TRUE(found.open(&report).ok());
    const int64_t now_ns = found.metrics().instant_ns;
    const Model model = contents_of(&found, now_ns);
    const Model expected = expected_at(found.turn(), now_ns);
    for (size_t i = 0; i < model.size(); ++i) ASSERT_EQ(model[i], expected[i]) << "database " << i;
    ASSERT_LE(found.turn(), log_.back().last_turn());
    ASSERT_TRUE(report.written_back_turn == 0 || ends_.contains(report.written_back_turn));
  }

  void step() {
    run_turn();
    if (pick(3) == 0) append_record();
    for (size_t i = 0; i < machines_.size(); ++i) {
      if (pick(2) == 0) read_next(i);
      for (uint64_t n = pick(4); n > 0; --n) machines_[i].work(steady_ns_ += 1'000'000);
      if (pick(3) == 0) machines_[i].step_disk();
    }
    if (pick(150) == 0) change_primary(pick(machines_.size()));
    if (pick(80) == 0) rewind();
    if (pick(60) == 0) die(pick(machines_.size()));
    if (pick(100) == 0) check_disk(machines_[pick(machines_.size())]);
  }

  std::mt19937_64 random_;
  std::deque<LogMachine> machines_;
  size_t primary_ = 0;
  std::vector<SharedRecord> log_;
  uint64_t newest_id_ = 0;
  std::set<uint64_t> ends_;  // turns with which some record has ended
  int64_t now_ns_ = kStartNs;
  int64_t steady_ns_ = 0;
};

TEST_P(SharedLogTest, EveryMachineHoldsWhatTheLogHolds) {
  const uint64_t seed = GetParam() != 0 ? GetParam() : test_seed();
  SCOPED_TRACE("replay with WEIR_SEED=" + std::to_string(seed));
  random_.seed(seed);
  start_all();
  for (int i = 0, end = steps(); i < end && !HasFatalFailure(); ++i) step();
  if (HasFatalFailure()) return;
  while (!machines_[primary_].sealed.turns.empty()) append_record();
  read_all();
  const uint64_t newest = log_.back().last_turn();
  const Model expected = expected_at(newest, now_ns_);
  for (LogMachine& machine : machines_) {
    EXPECT_EQ(machine.keys->turn(), newest);
    EXPECT_GT(machine.written_back(), 0u);
    EXPECT_EQ(contents_of(machine.keys.get(), now_ns_), expected);
  }
}

Keyspace& begin_as_primary(LogMachine* machine) {
  machine->start();
  machine->promote();
  machine->keys->running().begin_command(kStartNs);
  for (int database = 0; database <= kDatabases; ++database) machine->keys->clear(database);
  return *machine->keys;
}

// A write-back begins when all is committed. A value that it collects later, of a turn that is not
// committed, must not reach the disk.
TEST(SharedLog, AWriteBackWaitsForTheNewestTurnThatItHasCollected) {
  LogMachine machine(SIZE_MAX);
  Keyspace& keys = begin_as_primary(&machine);
  const auto put = [&](int database, const std::string& key, const std::string& value) {
    Ref ref = keys.look_up(database, key);
    keys.put(&ref, Type::kString, value, 0);
  };
  for (int i = 0; i < 15'000; ++i) put(0, "more" + std::to_string(i), "v");
  put(2, "k1", "committed");
  ASSERT_TRUE(keys.commit_turn().ok());
  ASSERT_TRUE(machine.commit({.id = 1, .first_turn = 1, .turns = {machine.sealed.turns[0]}}).ok());

  keys.work().write_back_now();
  machine.work(1);
  keys.running().begin_command(kStartNs);
  put(2, "k1", "lost");
  ASSERT_TRUE(keys.commit_turn().ok());
  for (int64_t at = 2; at < 100; ++at) machine.work_and_step_disk(at);
  EXPECT_EQ(machine.written_back(), 0u);
  ASSERT_TRUE(keys.work().writing_back());
  machine.demote();
  EXPECT_EQ(contents_of(&keys, kStartNs)[2].at("k1").payload, "committed");

  machine.promote();
  for (int64_t at = 100; at < 300; ++at) machine.work_and_step_disk(at * 1'000'000);
  EXPECT_EQ(machine.written_back(), 1u);
}

// Reads were later than the newest turn; who follows is no later than the turns that come.
TEST(SharedLog, WhoIsDemotedIsAtTheInstantOfTheNewestTurn) {
  LogMachine machine(SIZE_MAX);
  Keyspace& keys = begin_as_primary(&machine);
  ASSERT_TRUE(keys.commit_turn().ok());
  ASSERT_TRUE(machine.commit({.id = 1, .first_turn = 1, .turns = {machine.sealed.turns[0]}}).ok());
  keys.running().begin_command(kStartNs + kNsPerS);
  EXPECT_FALSE(keys.look_up(0, "k1").exists());
  ASSERT_TRUE(keys.commit_turn().ok());
  machine.demote();
  EXPECT_EQ(keys.metrics().instant_ns, kStartNs);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SharedLogTest, ::testing::Values(0, 1, 2, 3, 4));

}  // namespace
}  // namespace weir::storage
