#include "storage/memtable/scan.h"

#include <algorithm>
#include <vector>

#include "storage/format/record.h"

namespace weir::storage {
namespace {

struct Place {
  KeyOrder key_order = 0;
  std::string_view key;

  bool operator<(const Place& other) const {
    return key_order != other.key_order ? key_order < other.key_order : key < other.key;
  }
};

Place place_of(const Entry* entry) { return {entry->key_order, entry->key()}; }

// Answers the entries of one segment from a key order on, in order.
std::vector<const Entry*> entries_from(const Segment* segment, KeyOrder key_order) {
  std::vector<const Entry*> entries;
  for (size_t i = segment->bucket_of(std::max(key_order, segment->begin));
       i < segment->bucket_count(); ++i) {
    const size_t bucket_begin = entries.size();
    for (const Entry* entry = segment->buckets[i]; entry != nullptr; entry = entry->next) {
      if (entry->key_order >= key_order) entries.push_back(entry);
    }
    std::sort(entries.begin() + static_cast<std::ptrdiff_t>(bucket_begin), entries.end(),
              [](const Entry* a, const Entry* b) { return place_of(a) < place_of(b); });
  }
  return entries;
}

// Walks the state's records of one generation, in order; there are none if the table has
// everything.
class StateWalk {
 public:
  StateWalk(Store* store, const Table* table, KeyOrder from) : generation_(table->generation()) {
    if (table->complete) return;
    if (store == nullptr) {
      status_ = Status::failed("the store is closed after a failure");
      return;
    }
    cursor_ = store->cursor();
    cursor_->seek(stored_key_prefix(generation_, from));
    read();
  }

  bool valid() const { return valid_; }
  Place place() const { return {key_.key_order, key_.key}; }
  const ValueView& value() const { return value_; }
  const Status& status() const { return status_; }
  void next() {
    cursor_->next();
    read();
  }

 private:
  void read() {
    valid_ = false;
    if (!cursor_->valid()) {
      status_ = cursor_->status();
      return;
    }
    const auto key = parse_stored_key(cursor_->key());
    if (!key || key->generation != generation_) return;
    key_ = *key;
    status_ = parse_value(cursor_->value(), &value_);
    valid_ = status_.ok();
  }

  Generation generation_;
  std::unique_ptr<StateCursor> cursor_;
  bool valid_ = false;
  KeyView key_;
  ValueView value_;
  Status status_;
};

}  // namespace

void visit_entries(const Table* table, std::string_view prefix,
                   const std::function<void(std::string_view key, std::string_view value)>& visit) {
  KeyOrder key_order = 0;
  do {
    const Segment* segment = table->segment_at(key_order);
    for (const Entry* entry : entries_from(segment, key_order)) {
      if (entry->has(Entry::kPresent) && entry->key().starts_with(prefix)) {
        visit(entry->key(), entry->value());
      }
    }
    key_order = segment->last() + 1;
  } while (key_order != 0);
}

Status walk_records(const Table* table, Store* store, const Walk& walk, uint64_t* next,
                    const std::function<void(const Seen&)>& visit) {
  KeyOrder key_order = key_order_of_cursor(walk.cursor);
  StateWalk state(store, table, key_order);
  const size_t looks_max = walk.count > SIZE_MAX / 10 ? SIZE_MAX : walk.count * 10;
  size_t visited = 0;
  size_t looked = 0;
  uint64_t unit = walk.cursor;  // keys of one cursor value are visited in one call
  const auto stops_before = [&](KeyOrder place) {
    const bool enough = visited >= walk.count || looked >= looks_max;
    if (enough && cursor_of(place) != unit) return true;
    unit = cursor_of(place);
    return false;
  };
  *next = 0;
  while (true) {
    const Segment* segment = table->segment_at(key_order);
    const auto entries = entries_from(segment, key_order);
    size_t at = 0;
    while (true) {
      if (!state.status().ok()) return state.status();  // what is not seen must not look absent
      const bool state_here = state.valid() && state.place().key_order <= segment->last();
      const bool memory_here = at < entries.size();
      if (!state_here && !memory_here) break;
      const bool memory_first =
          memory_here && (!state_here || !(state.place() < place_of(entries[at])));
      const Place place = memory_first ? place_of(entries[at]) : state.place();
      if (stops_before(place.key_order)) {
        *next = cursor_of(place.key_order);
        return {};
      }
      ++looked;
      const ValueView value = memory_first ? entries[at]->view() : state.value();
      const bool present = !memory_first || entries[at]->has(Entry::kPresent);
      const bool expired = value.expire_at_ms != 0 && walk.now_ms > value.expire_at_ms;
      if (present) {
        visit({.key = place.key,
               .type = value.type,
               .expire_at_ms = value.expire_at_ms,
               .in_memory = memory_first,
               .expired = expired});
        if (!expired) ++visited;
      }
      const bool both = memory_first && state_here && !(place < state.place());
      if (!memory_first || both) state.next();
      if (memory_first) ++at;
    }
    ++looked;
    if (segment->last() == ~KeyOrder{0}) return {};
    key_order = segment->last() + 1;
    if (stops_before(key_order)) {
      *next = cursor_of(key_order);
      return {};
    }
  }
}

}  // namespace weir::storage
