#include "storage/keyspace/passes.h"

#include <algorithm>
#include <utility>

#include "base/time_units.h"

namespace weir::storage {
namespace {

constexpr size_t kLooksPerTurn = 2000;
// A turn that is late so writes back more than it makes dirty.
constexpr size_t kSpareFactor = 2;
constexpr size_t kLooksPerChange = kSpareFactor * WriteBack::kLooksPerEntry;
constexpr size_t kLooksOwedMax = 50'000;  // however much a turn changed
constexpr int64_t kIdleIntervalNs = kNsPerMinute;

}  // namespace

// True when the unwritten entries or the log's bytes are more than their bound times `factor`.
// Entries that a pass has taken over do not count: they are written as fast as the disk can, and
// one turn that changed a million entries must not make all clients wait for that.
bool Passes::behind(size_t factor) const {
  if (pass_.dirty > options_.unwritten_max * factor) return true;
  return end_.bytes_appended - log_bytes_at_w_ > options_.log_bytes_max * factor;
}

// True when write-back should hurry, so that no command has to wait for it; see Debt::too_much().
bool Passes::hurries() const { return behind(1) || debt_.bytes() > debt_.bytes_max() / 2; }

bool Passes::overloaded() const { return !store_.failed() && pass_.failure().ok() && behind(2); }

bool Passes::stuck() const {
  return !store_.failed() && !pass_.failure().ok() &&
         (behind(2) || debt_.bytes() > debt_.bytes_max() / 4 * 3);
}

bool Passes::wants_work() const {
  if (pass_.wants_step()) return true;
  if (store_.failed() || pass_.running()) return false;  // the store's worker will notify
  if (burial_.lists_wait() || burial_.indexes_wait()) return true;
  return hurries() && pass_.failure().ok();
}

// What time did not allow for stays owed.
void Passes::begin_round(int64_t steady_ns) {
  const size_t changed =
      std::exchange(changed_last_turn_, 0) * kLooksPerChange +
      std::exchange(bytes_last_turn_, 0) * kSpareFactor / WriteBack::kBytesPerLook;
  if (!pass_.running()) wanted_ ? begin_when_ready() : begin_when_due(steady_ns);
  const size_t added = std::clamp(changed, kLooksPerTurn, kLooksOwedMax);
  owed_looks_ = std::min(owed_looks_ + added, kLooksOwedMax);
}

void Passes::begin_now() {
  if (pass_.running() || store_.failed() || store_->checkpoint_state().running) return;
  wanted_ = true;
  begin_when_ready();
}

void Passes::begin_when_ready() {
  if (burial_.lists_wait() || store_->checkpoint_state().running) return;
  wanted_ = false;
  log_bytes_at_pass_ = end_.bytes_appended;
  pass_.begin(end_.turn, end_.instant_ns, burial_.begin_pass(), store_.get());
}

void Passes::begin_when_due(int64_t steady_ns) {
  const int64_t since_ns = steady_ns - last_steady_ns_;
  const bool idle = pass_.dirty == 0 && !burial_.wants_pass();
  const int64_t wait_ns = idle ? std::max(options_.write_back_interval_ns, kIdleIntervalNs)
                               : options_.write_back_interval_ns;
  if (since_ns < wait_ns && !(hurries() && pass_.failure().ok())) return;
  last_steady_ns_ = steady_ns;
  end_.instant_ns = std::max(end_.instant_ns, turn_.now_ns());
  begin_now();
}

bool Passes::piece(size_t looks) {
  if (wanted_ && !pass_.running()) begin_when_ready();  // what it waited for may be gone now
  if (!pass_.running() || owed_looks_ == 0) return false;
  const size_t looked =
      pass_.step(std::min(looks, owed_looks_), turn_.now_ns(), end_, set_.tables(), store_.get());
  owed_looks_ -= std::min(owed_looks_, looked);
  if (!pass_.running()) end_pass();
  // The pass is the worker's now.
  if (looked == 0) owed_looks_ = 0;
  return looked > 0;
}

void Passes::end_pass() {
  owed_looks_ = 0;
  burial_.end_pass(pass_.failure().ok());
  if (!pass_.failure().ok()) return;
  log_bytes_at_w_ = log_bytes_at_pass_;
  set_.note_dropped(store_->metrics().records_dropped);
}

void Passes::abandon() {
  pass_.abandon(set_.tables());
  wanted_ = false;
  burial_.end_pass(false);
  set_.retired().release();
}

}  // namespace weir::storage
