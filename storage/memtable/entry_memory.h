// The memory of an entry: a block with its fixed part, its key and room for a value, and a second
// block for a value that has outgrown the first.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "storage/memtable/entry.h"

namespace weir::storage {

inline constexpr size_t kMallocOverheadBytes = 8;

inline void* allocate(size_t bytes) {
  void* block = std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

// A block for a value outside the entry's own.
inline char* copy_outside(std::string_view value) {
  auto* block = static_cast<char*>(allocate(value.size()));
  std::memcpy(block, value.data(), value.size());
  return block;
}
inline void free_outside(char* block) { std::free(block); }

inline void free_entry(Entry* entry) {
  if (entry->has(Entry::kOutside)) free_outside(entry->outside());
  std::free(entry);
}

inline size_t block_bytes(const Entry* entry) {
  return kEntryHeadBytes + entry->key_size + entry->capacity + kMallocOverheadBytes;
}
inline size_t outside_bytes(const Entry* entry) {
  return entry->has(Entry::kOutside) ? entry->value_size + kMallocOverheadBytes : 0;
}
// What an entry takes, its value included.
inline size_t footprint(const Entry* entry) { return block_bytes(entry) + outside_bytes(entry); }

// How many work units it is to give an entry's memory back: one, and one more for each page.
inline size_t units_to_free(const Entry* entry) {
  constexpr size_t kPageBytes = 4096;
  return 1 + footprint(entry) / kPageBytes;
}

}  // namespace weir::storage
