// The keyspace's work after commands, in slices: write-back, expiry and giving up memory.
#include <algorithm>

#include "base/check.h"
#include "storage/elements_index.h"
#include "storage/keyspace.h"
#include "storage/list_opening.h"
#include "storage/open_lists.h"

namespace weir::storage {
namespace {

constexpr size_t kLooksPerStep = 2000;
// A turn that is late so writes back more entries than it makes dirty.
constexpr size_t kLooksPerChange = 8;
constexpr size_t kLooksPerStepMax = 50'000;  // takes some milliseconds, however much a turn changed
constexpr size_t kSweepLooks = 5000;
constexpr int64_t kSweepIntervalNs = 25'000'000;
constexpr int64_t kIdlePassIntervalNs = 60'000'000'000;

}  // namespace

// True when the unwritten entries or the log's bytes are more than their bound times `factor`.
// Entries that a pass has taken over do not count: they are written as fast as the disk can, and
// one turn that changed a million entries must not make all clients wait for that.
bool Keyspace::behind(size_t factor) const {
  if (pass_.dirty > options_.unwritten_max * factor) return true;
  return end_.bytes_appended - log_bytes_at_w_ > options_.log_bytes_max * factor;
}

// True when write-back should hurry, so that no command has to wait for it; see owes_too_much().
bool Keyspace::hurries() const { return behind(1) || debt_.bytes() > debt_.bytes_max() / 2; }

bool Keyspace::overloaded() const { return !store_.failed && pass_.failure().ok() && behind(2); }

bool Keyspace::stuck() const {
  return !store_.failed && !pass_.failure().ok() &&
         (behind(2) || debt_.bytes() > debt_.bytes_max() / 4 * 3);
}

bool Keyspace::wants_work() const {
  if (pass_.wants_step()) return true;
  if (store_.failed || pass_.running()) return false;  // the store's worker will notify
  if (drops_.lists_wait() || drops_.indexes_wait()) return true;
  return (sweep_gained_ && set_.bytes() > options_.memory_bytes_max) ||
         (hurries() && pass_.failure().ok());
}

void Keyspace::write_back_now() {
  if (pass_.running() || store_.failed || store_->checkpoint_state().running) return;
  pass_wanted_ = true;
  begin_pass_when_ready();
}

void Keyspace::begin_pass_when_ready() {
  if (drops_.lists_wait() || store_->checkpoint_state().running) return;
  pass_wanted_ = false;
  ++passes_begun_;
  log_bytes_at_pass_ = end_.bytes_appended;
  StateSlice ranges = std::exchange(drops_.ranges, {});
  for (const Incarnation incarnation : dropped_) {
    ranges.erase_range(stored_key_prefix(incarnation), stored_key_prefix(incarnation + 1));
  }
  dropping_.swap(dropped_);
  dropped_.clear();
  drops_.erasing.swap(drops_.to_erase);
  drops_.unlogged_in_pass.swap(drops_.unlogged);
  pass_.begin(end_.turn, end_.instant_ns, std::move(ranges), store_.get());
}

void Keyspace::start_pass_when_due(int64_t steady_ns) {
  const int64_t since_ns = steady_ns - last_pass_steady_ns_;
  const bool idle = pass_.dirty == 0 && dropped_.empty() && drops_.to_erase.empty();
  const int64_t wait_ns = idle ? std::max(options_.write_back_interval_ns, kIdlePassIntervalNs)
                               : options_.write_back_interval_ns;
  if (since_ns < wait_ns && !(hurries() && pass_.failure().ok())) return;
  last_pass_steady_ns_ = steady_ns;
  end_.instant_ns = std::max(end_.instant_ns, turn_.now_ns());
  write_back_now();
}

void Keyspace::step_pass() {
  pass_.step(std::clamp(changed_last_turn_ * kLooksPerChange, kLooksPerStep, kLooksPerStepMax),
             turn_.now_ns(), set_.tables(), store_.get());
  changed_last_turn_ = 0;
  if (pass_.running()) return;
  drops_.end_pass(pass_.failure().ok());
  if (pass_.failure().ok()) {
    log_bytes_at_w_ = log_bytes_at_pass_;
    set_.recount().note_dropped(&set_, store_->figures().records_dropped);
  } else {
    dropped_.insert(dropped_.end(), dropping_.begin(), dropping_.end());
  }
  dropping_.clear();
}

void Keyspace::work(int64_t steady_ns) {
  if (store_.failed) return;
  const bool passing = pass_.running();
  do_work(steady_ns);
  if (passing && !turn_has_changes()) debt_.begin_turn();
}

void Keyspace::do_work(int64_t steady_ns) {
  if (drops_.indexes_wait()) shrink_closed();
  if (pass_.running()) {
    step_pass();
  } else {
    set_.free_retired();
    if (drops_.lists_wait()) {
      bury_expired();
      free_dying();
    }
    pass_wanted_ ? begin_pass_when_ready() : start_pass_when_due(steady_ns);
  }
  const bool evict = set_.bytes() > options_.memory_bytes_max;
  if (!evict && steady_ns - last_sweep_steady_ns_ < kSweepIntervalNs) return;
  last_sweep_steady_ns_ = steady_ns;
  sweep(kSweepLooks, evict);
  if (!evict) set_.recount().step(&set_, store_.get(), turn_.now_ms());
  look_at_expired_owners();
}

// Looks at entries of all tables in turn, like the hand of a clock.
void Keyspace::sweep(size_t looks, bool evict) {
  sweep_gained_ = false;
  size_t looked = 0;
  size_t turns_around = 0;
  while (looked < looks && turns_around < 2) {
    const auto& tables = set_.tables();
    const auto table = std::find_if(tables.begin() + 1, tables.end(), [&](const auto& candidate) {
      return candidate->incarnation() >= sweep_table_;
    });
    if (table == tables.end()) {
      sweep_table_ = 0;
      sweep_position_ = 0;
      ++turns_around;
      continue;
    }
    if ((*table)->incarnation() != sweep_table_) {
      sweep_table_ = (*table)->incarnation();
      sweep_position_ = 0;
    }
    Segment* segment = (*table)->segment_at(sweep_position_);
    looked += 1 + segment->count;
    const Position last = segment->last();
    sweep_segment(table->get(), segment, evict);
    sweep_position_ = last + 1;
    if (sweep_position_ == 0) ++sweep_table_;
    if (evict && set_.bytes() <= options_.memory_bytes_max) return;
  }
}

void Keyspace::sweep_segment(Table* table, Segment* segment, bool evict) {
  victims_.clear();
  const auto stays = [&](const Entry* entry) {
    OwnerView owner;
    if (table->elements == nullptr || !owns_elements(entry->type)) return false;
    WEIR_CHECK(parse_owner(entry->value(), &owner));
    const auto ids = owner.all();
    return std::any_of(ids.begin(), ids.end(), [&](ElementsId id) {
      const Elements* list = table->elements->open->find(id);
      return list != nullptr && turn_.now_ms() < list->index().long_used_ms + kLongListKeptMs;
    });
  };
  ElementsId id = 0;  // the list of the element looked at last, and whether it is open
  bool is_open = false;
  for (size_t i = 0; i < segment->bucket_count(); ++i) {
    for (Entry* entry = segment->buckets[i]; entry != nullptr; entry = entry->next) {
      if (active_expiry_ && entry->has(Entry::kPresent) && entry->expired(turn_.now_ms()))
        expire(table, entry);
      if (!entry->clean()) continue;
      if (table->has_elements() && elements_id_at(entry->position) != id) {
        id = elements_id_at(entry->position);
        is_open = table->open->find(id) != nullptr;
      }
      if (!entry->has(Entry::kPresent)) {
        victims_.push_back(entry);
      } else if (is_open || (evict && stays(entry))) {
        continue;
      } else if (evict && entry->has(Entry::kReferenced)) {
        entry->flags &= static_cast<uint8_t>(~Entry::kReferenced);
        sweep_gained_ = true;
      } else if (evict) {
        table->complete = false;
        if (!table->has_elements()) ++figures_.evicted;
        if (owns_elements(entry->type)) close_lists(table, entry);
        victims_.push_back(entry);
      }
    }
  }
  for (Entry* entry : victims_) table->erase(entry);
  sweep_gained_ |= !victims_.empty();
}

}  // namespace weir::storage
