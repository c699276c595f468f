#include "storage/memory/memory_store.h"

#include <algorithm>
#include <random>

#include "base/check.h"

namespace weir::storage {

Status MemoryStore::open(OpenReport* report) {
  report->created = !disk_->opened_before;
  report->written_back_turn = disk_->written_back_turn;
  report->instant_ns = disk_->instant_ns;
  report->tail_note = std::exchange(disk_->tail_note, {});
  log_.open(report);
  disk_->opened_before = true;
  return {};
}

Status MemoryStore::append(uint64_t turn, std::string_view record) {
  if (!log_.failure().ok()) return log_.failure();
  if (late_appends_ > 0 || (disk_->deferred && disk_->appends_late)) {
    append_late(turn, record);
    return {};
  }
  log_.append(turn, record);
  return log_.failure();
}

void MemoryStore::append_late(uint64_t turn, std::string_view record) {
  ++late_appends_;
  late_turn_ = turn;
  soon([this, turn, record = std::string(record)] {
    --late_appends_;
    if (log_.failure().ok()) log_.append(turn, record);
  });
}

Status MemoryStore::append_batch(const TurnBatch& batch) {
  if (log_.failure().ok()) log_.append_batch(batch);
  return log_.failure();
}

Status MemoryStore::bookmarks(std::vector<KeptBookmark>* bookmarks) {
  log_.bookmarks(bookmarks);
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

SyncState MemoryStore::sync_state() const {
  SyncState state = sync_;
  state.synced_turn = disk_->synced_turn;
  return state;
}

void MemoryStore::start_sync() {
  WEIR_CHECK(!sync_.running);
  sync_.running = true;
  soon([this, turn = std::max(late_turn_, log_.last_turn()), begin_ns = disk_->steady_ns()] {
    sync_.failure = log_.last_turn() < turn ? log_.failure() : log_.sync(turn);
    sync_.running = false;
    if (sync_.failure.ok()) sync_.last_begin_steady_ns = begin_ns;
  });
}

Status MemoryStore::sync_now() {
  while (late_appends_ > 0) step();
  if (log_.last_turn() < late_turn_) return log_.failure();
  const int64_t begin_ns = disk_->steady_ns();
  Status status = log_.sync(log_.last_turn());
  if (status.ok()) sync_.last_begin_steady_ns = begin_ns;
  return status;
}

void MemoryStore::add_to_write_back(StateSlice slice) {
  WEIR_CHECK(!write_back_.running);
  state_.add_to_write_back(std::move(slice));
}

void MemoryStore::finish_write_back(uint64_t written_back_turn, int64_t instant_ns) {
  WEIR_CHECK(!write_back_.running);
  write_back_.running = true;
  soon([this, written_back_turn, instant_ns] {
    write_back_.failure = apply_write_back(written_back_turn, instant_ns);
    write_back_.running = false;
    state_.end_write_back();
  });
}

Status MemoryStore::apply_write_back(uint64_t written_back_turn, int64_t instant_ns) {
  if (Status status =
          log_.sync(disk_->log.empty() ? disk_->written_back_turn : disk_->log.back().turn);
      !status.ok()) {
    return status;
  }
  if (strikes(&disk_->faults.write_back) || disk_->faults.disk_full)
    return Status::failed("injected failure of a write-back");
  state_.apply_write_back(written_back_turn, instant_ns);
  log_.drop_turns(written_back_turn);
  ++write_backs_;
  return {};
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

StoreMetrics MemoryStore::metrics() const {
  StoreMetrics metrics;
  metrics.log_bytes = log_.bytes();
  metrics.syncs = log_.syncs();
  metrics.write_backs = write_backs_;
  state_.add_metrics(&metrics);
  return metrics;
}

std::unique_ptr<Store> make_memory_store() {
  std::random_device device;
  const auto word = [&] { return static_cast<uint64_t>(device()) << 32 | device(); };
  const uint64_t first = word();
  return std::make_unique<MemoryStore>(make_memory_disk({first, word()}));
}

}  // namespace weir::storage
