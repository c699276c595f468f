#include "storage/memory/memory_state.h"

#include <algorithm>

#include "base/check.h"

namespace weir::storage {
namespace {

constexpr size_t kRecordsDroppedPerWriteBack = 1000;

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

Lookup MemoryState::get(std::string_view stored_key, std::string* value, Status* failure) const {
  if (strikes(&disk_->faults.get)) {
    *failure = Status::failed("injected failure of a read");
    return Lookup::kFailed;
  }
  const auto found = disk_->state->find(stored_key);
  if (found == disk_->state->end()) return Lookup::kAbsent;
  *value = found->second;
  return Lookup::kFound;
}

std::unique_ptr<StateCursor> MemoryState::cursor() const {
  return std::make_unique<MemoryCursor>(disk_);
}

void MemoryState::add_to_write_back(StateSlice slice) {
  (void)slice.for_each([&](StateSlice::Op op, std::string_view first, std::string_view) -> Status {
    if (op == StateSlice::kEraseRange) return {};
    WEIR_CHECK(last_key_of_write_back_ < first);
    last_key_of_write_back_ = first;
    return {};
  });
  slices_.push_back(std::move(slice));
}

void MemoryState::apply_write_back(uint64_t written_back_turn, int64_t instant_ns) {
  if (disk_->state.use_count() > 1)
    disk_->state = std::make_shared<MemoryDisk::State>(*disk_->state);
  apply_slices();
  disk_->written_back_turn = written_back_turn;
  disk_->instant_ns = instant_ns;
  drop_expired();
}

void MemoryState::end_write_back() {
  slices_.clear();
  last_key_of_write_back_.clear();
}

void MemoryState::apply_slices() {
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
  // Ranges go first: a range never covers what the same write-back puts, whatever their order in
  // the slices.
  for (const bool ranges : {true, false}) {
    for (const StateSlice& slice : slices_) (void)slice.for_each(apply(ranges));
  }
}

void MemoryState::drop_expired() {
  MemoryDisk::State& state = *disk_->state;
  const int64_t gc_watermark_ms = disk_->instant_ns / kNsPerMs;
  size_t budget = kRecordsDroppedPerWriteBack;
  for (const StateSlice& slice : slices_) budget += 2 * slice.size();
  auto at = state.lower_bound(dropped_up_to_);
  for (; budget != 0 && at != state.end(); --budget) {
    const auto here = at++;
    const Fate fate = fate_of(here->first, here->second, gc_watermark_ms);
    if (fate == Fate::kExpiredHeader) expired_headers_.note(here->first);
    if (fate != Fate::kDropped) continue;
    erase(here);
    ++records_dropped_;
  }
  dropped_up_to_ = at == state.end() ? std::string() : at->first;
}

void MemoryState::put(std::string_view stored_key, std::string_view value) {
  const auto found = disk_->state->find(stored_key);
  if (found == disk_->state->end()) {
    disk_->state->emplace(stored_key, value);
    bytes_ += stored_key.size() + value.size();
  } else {
    bytes_ += value.size() - found->second.size();
    found->second = value;
  }
}

void MemoryState::erase(MemoryDisk::State::iterator at) {
  if (at == disk_->state->end()) return;
  bytes_ -= at->first.size() + at->second.size();
  disk_->state->erase(at);
}

void MemoryState::add_metrics(StoreMetrics* metrics) const {
  metrics->state_bytes = bytes_;
  metrics->state_records_estimate = disk_->state->size();
  metrics->records_dropped = records_dropped_;
}

}  // namespace weir::storage
