#include "storage/keyspace/write_back_schedule.h"

#include <algorithm>
#include <utility>

#include "base/time_units.h"

namespace weir::storage {
namespace {

constexpr size_t kUnitsPerTurn = 2000;
// A turn that is late so writes back more than it makes dirty.
constexpr size_t kSpareFactor = 2;
constexpr size_t kUnitsPerChange = kSpareFactor * WriteBack::kUnitsPerEntry;
constexpr size_t kUnitsOwedMax = 50'000;  // however much a turn changed
constexpr int64_t kIdleIntervalNs = kNsPerMinute;

}  // namespace

// True when the unwritten entries or the log's bytes are more than their bound times `factor`.
// Entries that a write-back has taken over do not count: they are written as fast as the disk can,
// and one turn that changed a million entries must not make all clients wait for that.
bool WriteBackSchedule::behind(size_t factor) const {
  if (write_back_.dirty > options_.unwritten_max * factor) return true;
  return end_.bytes_appended - log_bytes_at_written_back_turn_ > options_.log_bytes_max * factor;
}

// True when write-back should hurry, so that no command has to wait for it; see
// DirtyBytes::too_much().
bool WriteBackSchedule::hurries() const {
  return behind(1) || dirty_bytes_.bytes() > dirty_bytes_.bytes_max() / 2;
}

bool WriteBackSchedule::overloaded() const {
  return !store_.failed() && write_back_.failure().ok() && behind(2);
}

bool WriteBackSchedule::stuck() const {
  return !store_.failed() && !write_back_.failure().ok() &&
         (behind(2) || dirty_bytes_.bytes() > dirty_bytes_.bytes_max() / 4 * 3);
}

bool WriteBackSchedule::wants_work() const {
  if (write_back_.wants_step()) return true;
  if (store_.failed() || write_back_.running()) return false;  // the store's worker will notify
  if (reclaimer_.lists_wait() || reclaimer_.indexes_wait()) return true;
  return hurries() && write_back_.failure().ok();
}

// What time did not allow for stays owed.
void WriteBackSchedule::begin_round(int64_t steady_ns) {
  const size_t changed =
      std::exchange(changed_last_turn_, 0) * kUnitsPerChange +
      std::exchange(bytes_last_turn_, 0) * kSpareFactor / WriteBack::kBytesPerUnit;
  if (!write_back_.running()) wanted_ ? begin_when_ready() : begin_when_due(steady_ns);
  const size_t added = std::clamp(changed, kUnitsPerTurn, kUnitsOwedMax);
  owed_units_ = std::min(owed_units_ + added, kUnitsOwedMax);
}

void WriteBackSchedule::begin_now() {
  if (write_back_.running() || store_.failed() || store_->checkpoint_state().running) return;
  wanted_ = true;
  begin_when_ready();
}

void WriteBackSchedule::begin_when_ready() {
  if (reclaimer_.lists_wait() || store_->checkpoint_state().running) return;
  wanted_ = false;
  log_bytes_at_write_back_ = end_.bytes_appended;
  write_back_.begin(end_.turn, end_.instant_ns, reclaimer_.begin_write_back(), store_.get());
}

void WriteBackSchedule::begin_when_due(int64_t steady_ns) {
  const int64_t since_ns = steady_ns - last_steady_ns_;
  const bool idle = write_back_.dirty == 0 && !reclaimer_.wants_write_back();
  const int64_t wait_ns = idle ? std::max(options_.write_back_interval_ns, kIdleIntervalNs)
                               : options_.write_back_interval_ns;
  if (since_ns < wait_ns && !(hurries() && write_back_.failure().ok())) return;
  last_steady_ns_ = steady_ns;
  end_.instant_ns = std::max(end_.instant_ns, turn_.now_ns());
  begin_now();
}

bool WriteBackSchedule::piece(size_t units) {
  if (wanted_ && !write_back_.running()) begin_when_ready();  // what it waited for may be gone now
  if (!write_back_.running() || owed_units_ == 0) return false;
  const size_t spent = write_back_.step(std::min(units, owed_units_), turn_.now_ns(), end_,
                                        set_.tables(), store_.get());
  owed_units_ -= std::min(owed_units_, spent);
  if (!write_back_.running()) end_write_back();
  // The write-back is the worker's now.
  if (spent == 0) owed_units_ = 0;
  return spent > 0;
}

void WriteBackSchedule::end_write_back() {
  owed_units_ = 0;
  reclaimer_.end_write_back(write_back_.failure().ok());
  if (!write_back_.failure().ok()) return;
  log_bytes_at_written_back_turn_ = log_bytes_at_write_back_;
  set_.note_dropped(store_->metrics().records_dropped);
}

void WriteBackSchedule::abandon() {
  write_back_.abandon(set_.tables());
  wanted_ = false;
  reclaimer_.end_write_back(false);
  set_.retired().release();
}

}  // namespace weir::storage
