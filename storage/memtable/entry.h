// One record in the working set: fixed part, key and (up to its first size) value in one block of
// memory.
//
// A value is bytes: a limiter's record is decoded, decided on and encoded again at each use, which
// takes some nanoseconds. So the keyspace needs no types, and an entry is one block. What is given
// up are decoded forms that stay; what collections need besides bytes is an index
// (elements_index.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "storage/format/key_order.h"
#include "storage/format/record.h"

namespace weir::storage {

struct Entry {
  enum Flag : uint8_t {
    kPresent = 1,       // holds a value; otherwise it stands for a key known to be absent
    kChanged = 2,       // changed by the turn in progress, not committed
    kDirty = 4,         // committed, newer than the state, on its segment's dirty list
    kWriting = 8,       // handed to the write-back in progress
    kReferenced = 16,   // used since the eviction scan last came by
    kOutside = 32,      // the value has outgrown the block, which holds a pointer to it
    kUnreclaimed = 64,  // a header that has expired, with its value: its elements are still there
    kUnstored = 128,  // the state has nothing under this key, and no write-back was handed anything
  };

  Entry* next;        // in the same bucket
  Entry* dirty_next;  // on the same segment's dirty list
  KeyOrder key_order;
  int64_t expire_at_ms;  // 0: never
  uint32_t saved_by;     // the command that last saved an undo for this entry
  Generation generation;
  uint32_t key_size;
  uint32_t value_size;
  uint32_t capacity;  // bytes for a value after the key, at least sizeof(char*)
  Type type;
  uint8_t flags;
  // After this fixed part the block goes on with the key, then the value or the pointer to it.

  bool has(uint8_t flag) const { return (flags & flag) != 0; }
  // No other part of the keyspace points at it and the state holds its last value.
  bool clean() const { return !has(kChanged | kDirty | kWriting | kUnreclaimed); }
  bool live(int64_t now_ms) const { return has(kPresent) && !expired(now_ms); }
  bool expired(int64_t now_ms) const { return expire_at_ms != 0 && now_ms > expire_at_ms; }

  inline char* tail();
  const char* tail() const { return const_cast<Entry*>(this)->tail(); }
  std::string_view key() const { return {tail(), key_size}; }
  std::string_view value() const { return {value_data(), value_size}; }
  const char* value_data() const { return has(kOutside) ? outside() : tail() + key_size; }
  char* inline_data() { return tail() + key_size; }

  char* outside() const {
    char* pointer;
    std::memcpy(&pointer, tail() + key_size, sizeof pointer);
    return pointer;
  }
  void set_outside(char* pointer) {
    std::memcpy(inline_data(), &pointer, sizeof pointer);
    flags |= kOutside;
  }

  ValueView view() const {
    return {.type = type, .expire_at_ms = expire_at_ms, .payload = value()};
  }
  KeyView key_view() const {
    return {.generation = generation, .key_order = key_order, .key = key()};
  }
};

inline constexpr size_t kEntryHeadBytes = offsetof(Entry, flags) + 1;
static_assert(kEntryHeadBytes == 54, "each entry in memory pays for this head");

inline char* Entry::tail() { return reinterpret_cast<char*>(this) + kEntryHeadBytes; }

}  // namespace weir::storage
