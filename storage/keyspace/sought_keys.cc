#include "storage/keyspace/sought_keys.h"

#include <utility>

namespace weir::storage {
namespace {

constexpr size_t kLineBytes = 64;  // of a cache; where lines are longer, some are asked for twice
// With so many entries before it in its bucket, an entry is left to the look-up.
constexpr int kEntriesPassedMax = 4;

void ask_for(const void* bytes) { __builtin_prefetch(bytes); }

// The entry's fixed part and, in most cases, its key and value.
void ask_for_entry(const Entry* entry) {
  ask_for(entry);
  ask_for(reinterpret_cast<const char*>(entry) + kLineBytes);
}

// How far the search for one key has come.
struct Search {
  const Table* table;
  KeyOrder key_order;
  const Segment* segment = nullptr;
  Entry* const* bucket = nullptr;
  const Entry* entry = nullptr;

  bool has_other_entry() const { return entry != nullptr && entry->key_order != key_order; }
};

}  // namespace

size_t SoughtKeys::fetch() {
  std::array<Search, kMax> searches;
  const size_t count = std::exchange(count_, 0);
  if (count == 0 || !set_.usable()) return 0;
  for (size_t i = 0; i < count; ++i) {
    searches[i] = {.table = set_.table(keys_[i].database), .key_order = keys_[i].key_order};
    ask_for(searches[i].table->directory_cell(searches[i].key_order));
  }
  const auto each = [&](const auto& step) {
    for (size_t i = 0; i < count; ++i) step(searches[i]);
  };
  each([](Search& search) {
    search.segment = search.table->segment_at(search.key_order);
    ask_for(search.segment);
  });
  each([](Search& search) {
    search.bucket = &search.segment->buckets[search.segment->bucket_of(search.key_order)];
    ask_for(search.bucket);
  });
  each([](Search& search) {
    search.entry = *search.bucket;
    if (search.entry != nullptr) ask_for_entry(search.entry);
  });
  bool is_passed = true;
  for (int i = 0; i < kEntriesPassedMax && std::exchange(is_passed, false); ++i) {
    each([&is_passed](Search& search) {
      if (!search.has_other_entry()) return;
      is_passed = true;
      search.entry = search.entry->next;
      if (search.entry != nullptr) ask_for_entry(search.entry);
    });
  }
  size_t found = 0;
  each([&found](const Search& search) {
    if (search.entry == nullptr || search.has_other_entry()) return;
    ++found;
    ask_for(search.entry->value_data());
  });
  return found;
}

}  // namespace weir::storage
