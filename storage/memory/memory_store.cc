#include "storage/memory/memory_store.h"

#include <algorithm>
#include <random>

#include "base/check.h"

namespace weir::storage {
namespace {

constexpr size_t kRecordsSweptPerPass = 1000;

bool strikes(uint64_t* countdown) { return *countdown != 0 && --*countdown == 0; }

class MemoryCursor : public StateCursor {
 public:
  MemoryCursor(std::shared_ptr<MemoryDisk> disk)
      : disk_(std::move(disk)), state_(disk_->state), at_(state_->end()) {}

  void seek(std::string_view stored_key) override { reach(state_->lower_bound(stored_key)); }
  bool valid() const override { return status_.ok() && at_ != state_->end(); }
  void next() override { reach(std::next(at_)); }
  std::string_view key() const override { return at_->first; }
  std::string_view value() const override { return at_->second; }
  Status status() const override { return status_; }

 private:
  void reach(MemoryDisk::State::const_iterator at) {
    at_ = at;
    if (strikes(&disk_->faults.cursor)) status_ = Status::failed("injected failure of a cursor");
  }

  const std::shared_ptr<MemoryDisk> disk_;
  const std::shared_ptr<const MemoryDisk::State> state_;
  MemoryDisk::State::const_iterator at_;
  Status status_;
};

}  // namespace

Status MemoryStore::open(OpenReport* report) {
  report->created = !disk_->opened_before;
  report->written_back_turn = disk_->written_back_turn;
  report->instant_ns = disk_->instant_ns;
  report->last_turn = last_turn();
  report->tail_note = std::exchange(disk_->tail_note, {});
  if (disk_->faults.opens_read_only) {
    report->read_only = log_failure_ = Status::no_space("injected full disk at the opening");
  }
  disk_->opened_before = true;
  // The turns found here have survived, so a machine that dies now would find them too.
  disk_->synced_turn = last_turn();
  sync_.synced_turn = disk_->synced_turn;
  disk_->synced_stamps = disk_->stamps;
  disk_->unsynced_stamps.clear();
  find_stamps();
  return {};
}

// The size of each turn counts for the next stamp.
void MemoryStore::find_stamps() {
  auto logged = disk_->log.begin();
  for (const auto& [turn, bytes] : disk_->stamps) {
    uint64_t since = 0;
    for (; logged != disk_->log.end() && logged->turn <= turn; ++logged)
      since += logged->record.size();
    stamped_.add(turn, since);
  }
}

Status MemoryStore::append(uint64_t turn, std::string_view record) {
  if (!log_failure_.ok()) return log_failure_;
  if (late_appends_ > 0 || (disk_->deferred && disk_->appends_late)) {
    append_late(turn, record);
    return {};
  }
  append_now(turn, record);
  return log_failure_;
}

void MemoryStore::append_late(uint64_t turn, std::string_view record) {
  ++late_appends_;
  late_turn_ = turn;
  soon([this, turn, record = std::string(record)] {
    --late_appends_;
    if (log_failure_.ok()) append_now(turn, record);
  });
}

void MemoryStore::append_now(uint64_t turn, std::string_view record) {
  WEIR_CHECK(disk_->log.empty() || disk_->log.back().turn + 1 == turn);
  const Fault fault = next_fault();
  if (fault != Fault::kLost) {
    figures_.log_bytes += record.size();
    disk_->log.push_back({turn, std::string(record)});
  }
  if (fault != Fault::kNone) log_failure_ = Status::failed("injected failure of an append");
}

MemoryStore::Fault MemoryStore::next_fault() {
  const bool lost = strikes(&disk_->faults.append_lost) || disk_->faults.disk_full;
  const bool kept = strikes(&disk_->faults.append_kept) && !lost;
  return lost ? Fault::kLost : kept ? Fault::kKept : Fault::kNone;
}

Status MemoryStore::append_batch(const TurnBatch& batch) {
  if (!log_failure_.ok()) return log_failure_;
  WEIR_CHECK(batch.first_turn <= last_turn() + 1);
  const Fault fault = next_fault();
  if (fault != Fault::kLost) {
    uint64_t turn = batch.first_turn;
    uint64_t bytes = 0;
    for (const std::string& record : batch.turns) {
      if (turn > last_turn()) {
        bytes += record.size();
        disk_->log.push_back({turn, record});
      }
      ++turn;
    }
    figures_.log_bytes += bytes;
    put_stamp(batch, bytes);
  }
  if (fault != Fault::kNone) log_failure_ = Status::failed("injected failure of an append");
  return log_failure_;
}

void MemoryStore::put_stamp(const TurnBatch& batch, uint64_t bytes) {
  const StampWrite write{.newest_turn = last_turn(),
                         .first_replaced = batch.first_stamp_replaced(),
                         .stamp = {batch.last_turn(), std::string(batch.stamp)}};
  apply_stamp(write, &disk_->stamps);
  disk_->unsynced_stamps.push_back(write);
  stamped_.remove_from(write.first_replaced);
  stamped_.add(write.stamp.turn, bytes);
}

Status MemoryStore::stamps(std::vector<KeptStamp>* stamps) {
  for (const auto& [turn, bytes] : disk_->stamps) stamps->push_back({turn, bytes});
  return {};
}

Lookup MemoryStore::kept_turn(uint64_t turn, std::string* record, Status*) {
  if (disk_->log.empty() || turn < disk_->log.front().turn || turn > disk_->log.back().turn)
    return Lookup::kAbsent;
  *record = disk_->log[turn - disk_->log.front().turn].record;
  return Lookup::kFound;
}

Status MemoryStore::replay(
    uint64_t first, const std::function<Status(uint64_t turn, std::string_view record)>& visit) {
  uint64_t expected = first;
  for (const LoggedTurn& logged : disk_->log) {
    if (logged.turn < first) continue;
    if (logged.turn != expected++)
      return Status::corrupt("the log lacks turn " + std::to_string(expected - 1));
    if (Status status = visit(logged.turn, logged.record); !status.ok()) return status;
  }
  return {};
}

bool MemoryStore::step() {
  if (pending_.empty()) return false;
  const auto work = std::move(pending_.front());
  pending_.pop_front();
  work();
  return true;
}

void MemoryStore::soon(std::function<void()> work) {
  pending_.push_back([this, work = std::move(work)] {
    work();
    notify();
  });
  if (!disk_->deferred) step();
}

uint64_t MemoryStore::last_turn() const {
  return std::max(disk_->written_back_turn, disk_->log.empty() ? 0 : disk_->log.back().turn);
}

Status MemoryStore::sync_log(uint64_t turn) {
  if (strikes(&disk_->faults.sync)) return Status::failed("injected failure of a sync");
  ++figures_.syncs;
  disk_->synced_turn = std::max(disk_->synced_turn, turn);
  sync_.synced_turn = disk_->synced_turn;
  const auto later =
      std::find_if(disk_->unsynced_stamps.begin(), disk_->unsynced_stamps.end(),
                   [&](const StampWrite& write) { return write.newest_turn > turn; });
  for (auto at = disk_->unsynced_stamps.begin(); at != later; ++at)
    apply_stamp(*at, &disk_->synced_stamps);
  disk_->unsynced_stamps.erase(disk_->unsynced_stamps.begin(), later);
  return {};
}

void MemoryStore::start_sync() {
  WEIR_CHECK(!sync_.running);
  sync_.running = true;
  soon([this, turn = std::max(late_turn_, last_turn()), begin_ns = disk_->steady_ns()] {
    sync_.failure = last_turn() < turn ? log_failure_ : sync_log(turn);
    sync_.running = false;
    if (sync_.failure.ok()) sync_.last_begin_steady_ns = begin_ns;
  });
}

Status MemoryStore::sync_now() {
  while (late_appends_ > 0) step();
  if (last_turn() < late_turn_) return log_failure_;
  const int64_t begin_ns = disk_->steady_ns();
  Status status = sync_log(last_turn());
  if (status.ok()) sync_.last_begin_steady_ns = begin_ns;
  return status;
}

Lookup MemoryStore::get(std::string_view stored_key, std::string* value, Status* failure) {
  if (strikes(&disk_->faults.get)) {
    *failure = Status::failed("injected failure of a read");
    return Lookup::kFailed;
  }
  const auto found = disk_->state->find(stored_key);
  if (found == disk_->state->end()) return Lookup::kAbsent;
  *value = found->second;
  return Lookup::kFound;
}

std::unique_ptr<StateCursor> MemoryStore::cursor() { return std::make_unique<MemoryCursor>(disk_); }

void MemoryStore::add_to_pass(StateSlice slice) {
  WEIR_CHECK(!pass_.running);
  (void)slice.for_each([&](StateSlice::Op op, std::string_view first, std::string_view) -> Status {
    if (op == StateSlice::kEraseRange) return {};
    WEIR_CHECK(last_key_of_pass_ < first);
    last_key_of_pass_ = first;
    return {};
  });
  slices_.push_back(std::move(slice));
}

void MemoryStore::finish_pass(uint64_t written_back_turn, int64_t instant_ns) {
  WEIR_CHECK(!pass_.running);
  pass_.running = true;
  soon([this, written_back_turn, instant_ns] {
    pass_.failure = apply_pass(written_back_turn, instant_ns);
    pass_.running = false;
    slices_.clear();
    last_key_of_pass_.clear();
  });
}

Status MemoryStore::apply_pass(uint64_t written_back_turn, int64_t instant_ns) {
  if (Status status =
          sync_log(disk_->log.empty() ? disk_->written_back_turn : disk_->log.back().turn);
      !status.ok()) {
    return status;
  }
  if (strikes(&disk_->faults.pass) || disk_->faults.disk_full)
    return Status::failed("injected failure of a pass");
  if (disk_->state.use_count() > 1)
    disk_->state = std::make_shared<MemoryDisk::State>(*disk_->state);
  apply_slices();
  disk_->written_back_turn = written_back_turn;
  disk_->instant_ns = instant_ns;
  drop_expired();
  drop_turns(written_back_turn);
  ++figures_.passes;
  return {};
}

void MemoryStore::drop_turns(uint64_t written_back_turn) {
  uint64_t dropped = written_back_turn;
  if (!stamped_.empty()) {
    dropped = stamped_.drop_up_to(written_back_turn, needed_turn_);
    for (auto* stamps : {&disk_->stamps, &disk_->synced_stamps})
      stamps->erase(stamps->begin(), stamps->lower_bound(dropped));
  }
  while (!disk_->log.empty() && disk_->log.front().turn <= dropped) {
    figures_.log_bytes -= std::min<uint64_t>(figures_.log_bytes, disk_->log.front().record.size());
    disk_->log.pop_front();
  }
}

void MemoryStore::apply_slices() {
  const auto apply = [this](bool ranges) {
    return [this, ranges](StateSlice::Op op, std::string_view first,
                          std::string_view second) -> Status {
      if (ranges != (op == StateSlice::kEraseRange)) return {};
      MemoryDisk::State& state = *disk_->state;
      if (op == StateSlice::kPut) put(first, second);
      if (op == StateSlice::kErase) erase(state.find(first));
      if (op == StateSlice::kEraseRange) {
        for (auto at = state.lower_bound(first); at != state.end() && at->first < second;)
          erase(at++);
      }
      return {};
    };
  };
  // Ranges go first: a range never covers what the same pass puts, whatever their order in the
  // slices.
  for (const bool ranges : {true, false}) {
    for (const StateSlice& slice : slices_) (void)slice.for_each(apply(ranges));
  }
}

void MemoryStore::drop_expired() {
  MemoryDisk::State& state = *disk_->state;
  const int64_t horizon_ms = disk_->instant_ns / kNsPerMs;
  size_t budget = kRecordsSweptPerPass;
  for (const StateSlice& slice : slices_) budget += 2 * slice.size();
  auto at = state.lower_bound(swept_up_to_);
  for (; budget != 0 && at != state.end(); --budget) {
    const auto here = at++;
    const Fate fate = fate_of(here->first, here->second, horizon_ms);
    if (fate == Fate::kExpiredOwner) expired_owners_.note(here->first);
    if (fate != Fate::kDropped) continue;
    erase(here);
    ++figures_.records_dropped;
  }
  swept_up_to_ = at == state.end() ? std::string() : at->first;
}

void MemoryStore::put(std::string_view stored_key, std::string_view value) {
  const auto found = disk_->state->find(stored_key);
  if (found == disk_->state->end()) {
    disk_->state->emplace(stored_key, value);
    figures_.state_bytes += stored_key.size() + value.size();
  } else {
    figures_.state_bytes += value.size() - found->second.size();
    found->second = value;
  }
}

void MemoryStore::erase(MemoryDisk::State::iterator at) {
  if (at == disk_->state->end()) return;
  figures_.state_bytes -= at->first.size() + at->second.size();
  disk_->state->erase(at);
}

void MemoryStore::start_checkpoint(const std::string& directory) {
  WEIR_CHECK(!checkpoint_.running);
  checkpoint_.running = true;
  soon([this, directory] {
    const bool fails = strikes(&disk_->faults.checkpoint) || disk_->faults.disk_full;
    checkpoint_.failure = fails ? Status::failed("injected failure of a checkpoint") : Status();
    if (checkpoint_.failure.ok()) disk_->checkpoints[directory] = disk_->after_kill();
    checkpoint_.running = false;
  });
}

StoreFigures MemoryStore::figures() const {
  StoreFigures figures = figures_;
  figures.state_records_estimate = disk_->state->size();
  return figures;
}

std::unique_ptr<Store> make_memory_store() {
  std::random_device device;
  const auto word = [&] { return static_cast<uint64_t>(device()) << 32 | device(); };
  const uint64_t first = word();
  return std::make_unique<MemoryStore>(make_memory_disk({first, word()}));
}

}  // namespace weir::storage
