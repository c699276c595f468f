#include "storage/memtable/write_back.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "storage/memtable/entry_memory.h"

namespace weir::storage {
namespace {

constexpr size_t kSliceBytes =
    32 << 10;  // handed over at once; waking the worker costs more than a few
constexpr uint8_t kNotWriting = static_cast<uint8_t>(~Entry::kWriting);

Table* first_table_from(const WriteBack::Tables& tables, Generation generation) {
  for (const auto& table : tables) {
    if (table->generation() >= generation) return table.get();
  }
  return nullptr;
}

Table* table_of(const WriteBack::Tables& tables, Generation generation) {
  Table* table = first_table_from(tables, generation);
  return table != nullptr && table->generation() == generation ? table : nullptr;
}

bool in_key_order(const Entry* a, const Entry* b) {
  const KeyOrder a_place = stored_part(a->key_order);
  const KeyOrder b_place = stored_part(b->key_order);
  return a_place != b_place ? a_place < b_place : a->key() < b->key();
}

}  // namespace

void WriteBack::begin(uint64_t turn, int64_t instant_ns, StateSlice ranges, Store* store) {
  WEIR_CHECK(phase_ == Phase::kIdle);
  phase_ = Phase::kCollecting;
  turn_ = turn;
  instant_ns_ = instant_ns;
  table_ = 0;
  key_order_ = 0;
  failure_ = {};
  if (!ranges.empty()) store->add_to_write_back(std::move(ranges));
}

size_t WriteBack::step(size_t units, int64_t now_ns, const LogEnd& end, const Tables& tables,
                       Store* store) {
  if (phase_ == Phase::kSettling) return settle(units, tables);
  size_t spent = 0;
  if (phase_ == Phase::kCollecting) {
    instant_ns_ = std::max(instant_ns_, now_ns);
    spent = collect(units, tables, store);
    newest_collected_ = end.turn;
  }
  if (phase_ == Phase::kLogging && end.logged_turn >= newest_collected_) {
    phase_ = Phase::kStoring;
    turn_ = store->bookmarked_turn(turn_);
    store->finish_write_back(turn_, instant_ns_);
  }
  if (phase_ != Phase::kStoring) return spent;
  const JobState state = store->write_back_state();
  if (state.running) return spent;
  failure_ = state.failure;
  if (failure_.ok()) written_back_turn_ = turn_;
  phase_ = Phase::kSettling;
  return spent + 1;
}

size_t WriteBack::collect(size_t units, const Tables& tables, Store* store) {
  size_t spent = 0;
  while (spent < units) {
    Table* table = first_table_from(tables, table_);
    if (table == nullptr) {
      phase_ = Phase::kLogging;
      break;
    }
    if (table->generation() != table_) {
      table_ = table->generation();
      key_order_ = 0;
    }
    spent += collect_segment(table, table->segment_at(key_order_), units - spent, store);
    if (key_order_ == 0) ++table_;
  }
  if (phase_ == Phase::kLogging && !slice_.empty())
    store->add_to_write_back(std::exchange(slice_, {}));
  return spent;
}

// Hands over a segment's dirty entries from key_order_ on, as many as `units` allow for by their
// bytes, and answers how many work units that took: what stands before it was passed when that was
// a segment of its own, and waits for the next write-back. REQUIRES: no entry holds uncommitted
// changes, so that only committed values leave.
size_t WriteBack::collect_segment(Table* table, Segment* segment, size_t units, Store* store) {
  KeyOrder last = segment->last();
  gathered_.clear();
  if (segment->dirty != nullptr)
    last = table->take_dirty(segment, key_order_, units * kBytesPerUnit, &gathered_);
  key_order_ = last + 1;
  dirty -= gathered_.size();
  std::sort(gathered_.begin(), gathered_.end(), in_key_order);
  const size_t bytes_before = writing_bytes_;
  for (Entry* entry : gathered_) {
    hand_over(entry);
    if (slice_.bytes() > kSliceBytes) store->add_to_write_back(std::exchange(slice_, {}));
  }
  writing_.insert(writing_.end(), gathered_.begin(), gathered_.end());
  return 1 + gathered_.size() * kUnitsPerEntry + (writing_bytes_ - bytes_before) / kBytesPerUnit;
}

void WriteBack::hand_over(Entry* entry) {
  WEIR_CHECK(!entry->has(Entry::kChanged));
  entry->flags |= Entry::kWriting;
  writing_bytes_ += footprint(entry);
  key_.clear();
  append_stored_key(&key_, entry->key_view());
  if (entry->has(Entry::kPresent) || entry->has(Entry::kUnreclaimed)) {
    value_.clear();
    append_value(&value_, entry->view());
    slice_.put(key_, value_);
    entry->flags &= static_cast<uint8_t>(~Entry::kUnstored);
  } else if (!entry->has(Entry::kUnstored)) {
    slice_.erase(key_);
  }
}

size_t WriteBack::settle(size_t units, const Tables& tables) {
  size_t spent = 0;
  Table* table = nullptr;
  for (; settled_ < writing_.size() && spent < units; ++settled_) {
    Entry* entry = writing_[settled_];
    ++spent;
    entry->flags &= kNotWriting;
    if (entry->has(Entry::kDirty) || (failure_.ok() && entry->has(Entry::kPresent))) continue;
    if (table == nullptr || table->generation() != entry->generation)
      table = table_of(tables, entry->generation);
    if (table == nullptr) continue;
    if (!failure_.ok()) {
      table->mark_dirty(entry);
      ++dirty;
    } else if (entry->clean()) {
      spent += units_to_free(entry);
      table->erase(entry);  // absent from the state too
    }
  }
  if (settled_ == writing_.size()) {
    writing_.clear();
    settled_ = 0;
    writing_bytes_ = 0;
    phase_ = Phase::kIdle;
  }
  return spent;
}

void WriteBack::abandon(const Tables& tables) {
  if (phase_ == Phase::kIdle) return;
  if (phase_ != Phase::kSettling) failure_ = Status::failed("the store was closed");
  phase_ = Phase::kSettling;
  slice_ = {};
  settle(SIZE_MAX, tables);
}

}  // namespace weir::storage
