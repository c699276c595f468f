#include "storage/keyspace/evictor.h"

#include <algorithm>

#include "base/check.h"
#include "base/time_units.h"
#include "storage/lists/list_opening.h"
#include "storage/memtable/entry_memory.h"
#include "storage/memtable/open_lists.h"
#include "storage/memtable/recount.h"

namespace weir::storage {
namespace {

constexpr size_t kUnitsPerScan = 5000;
constexpr int64_t kIntervalNs = 25 * kNsPerMs;
constexpr size_t kRecordsPerScan = 1000;
constexpr size_t kRecordsPerPiece = 200;  // each may have to be read from the disk
constexpr size_t kHeadersPerScan = 64;
constexpr size_t kHeadersPerPiece = 8;  // likewise

}  // namespace

void Evictor::begin_round(int64_t steady_ns) {
  const bool evict = memory_is_short();
  if (owed_units_ > 0) return;
  if (!evict && steady_ns - last_scan_steady_ns_ < kIntervalNs) return;
  last_scan_steady_ns_ = steady_ns;
  if (steady_ns - last_recount_steady_ns_ >= kIntervalNs) {
    last_recount_steady_ns_ = steady_ns;
    owed_records_ = kRecordsPerScan;
  }
  gained_ = false;
  owed_units_ = kUnitsPerScan;
  owed_headers_ = kHeadersPerScan;
}

bool Evictor::scan_piece(size_t units) {
  if (owed_units_ == 0) return false;
  const bool evict = memory_is_short();
  const size_t wanted = std::min(units, owed_units_);
  const size_t spent = scan(wanted, evict);
  const bool ended = spent < wanted || (evict && !memory_is_short());
  owed_units_ = ended ? 0 : owed_units_ - std::min(owed_units_, spent);
  return true;
}

bool Evictor::recount_piece(Store* store) {
  if (owed_records_ == 0) return false;
  owed_records_ -= kRecordsPerPiece;
  recount_slice(&set_, store, turn_.now_ms(), kRecordsPerPiece);
  return true;
}

// Answers how many work units were taken: fewer than were allowed if memory is not short any more,
// or there is nothing left to look at.
size_t Evictor::scan(size_t units, bool evict) {
  size_t spent = 0;
  size_t rounds = 0;
  while (spent < units && rounds < 2) {
    Table* table = next_table();
    if (table == nullptr) {
      table_ = 0;
      key_order_ = 0;
      ++rounds;
      continue;
    }
    Segment* segment = table->segment_at(key_order_);
    spent += 1 + segment->count;
    const KeyOrder last = segment->last();
    spent += scan_segment(table, segment, evict);
    key_order_ = last + 1;
    if (key_order_ == 0) ++table_;
    if (evict && !memory_is_short()) break;
  }
  return spent;
}

// The table where the scan goes on. Null at the end of a round.
Table* Evictor::next_table() {
  const auto& tables = set_.tables();
  const auto table = std::find_if(tables.begin() + 1, tables.end(), [&](const auto& candidate) {
    return candidate->generation() >= table_;
  });
  if (table == tables.end()) return nullptr;
  if ((*table)->generation() != table_) {
    table_ = (*table)->generation();
    key_order_ = 0;
  }
  return table->get();
}

// Answers how many work units it took to give memory back, beside one for each entry.
size_t Evictor::scan_segment(Table* table, Segment* segment, bool evict) {
  victims_.clear();
  ListSeen seen;
  for (size_t i = 0; i < segment->bucket_count(); ++i) {
    for (Entry* entry = segment->buckets[i]; entry != nullptr; entry = entry->next)
      scan_entry(table, entry, evict, &seen);
  }
  size_t spent = 0;
  for (Entry* entry : victims_) {
    spent += units_to_free(entry);
    table->erase(entry);
  }
  gained_ |= !victims_.empty();
  return spent;
}

void Evictor::scan_entry(Table* table, Entry* entry, bool evict, ListSeen* seen) {
  if (active_expiry_ && entry->has(Entry::kPresent) && entry->expired(turn_.now_ms()))
    records_.expire(table, entry);
  if (!entry->clean()) return;
  if (table->has_elements() && elements_id_at(entry->key_order) != seen->id) {
    seen->id = elements_id_at(entry->key_order);
    seen->open = table->open->find(seen->id) != nullptr;
  }
  if (!entry->has(Entry::kPresent)) {
    victims_.push_back(entry);
  } else if (seen->open || !evict || stays(table, entry)) {
    return;
  } else if (entry->has(Entry::kReferenced)) {
    entry->flags &= static_cast<uint8_t>(~Entry::kReferenced);
    gained_ = true;
  } else {
    this->evict(table, entry);
  }
}

// True for the header of a long list that was used just now: opening it again costs too much.
bool Evictor::stays(const Table* table, const Entry* entry) const {
  HeaderView header;
  if (table->elements == nullptr || !owns_elements(entry->type)) return false;
  WEIR_CHECK(parse_header(entry->value(), &header));
  const auto ids = header.all();
  return std::any_of(ids.begin(), ids.end(), [&](ElementsId id) {
    const ElementsIndex* list = table->elements->open->find(id);
    return list != nullptr && turn_.now_ms() < list->long_used_ms + kLongListKeptMs;
  });
}

void Evictor::evict(Table* table, Entry* entry) {
  table->complete = false;
  if (!table->has_elements()) ++evicted_;
  if (owns_elements(entry->type)) reclaimer_.close_lists(table, entry);
  victims_.push_back(entry);
}

// The store never drops an expired header but tells of it. Reading such a header notes it as
// unreclaimed, which is all that is needed.
bool Evictor::headers_piece(Store* store) {
  if (owed_headers_ == 0) return false;
  const std::vector<std::string> stored_keys = store->take_expired_headers(kHeadersPerPiece);
  owed_headers_ = stored_keys.size() < kHeadersPerPiece ? 0 : owed_headers_ - kHeadersPerPiece;
  for (const std::string& stored_key : stored_keys) {
    const auto key = parse_stored_key(stored_key);
    Table* table = key ? set_.table_of(key->generation) : nullptr;
    if (table != nullptr) records_.read_if_missing(table, key->key_order, key->key);
  }
  return true;
}

}  // namespace weir::storage
