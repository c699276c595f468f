// How much memory of the heap a thing holds beside itself, for what is charged to a client. The
// sizes are as the C library rounds them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace weir {

// What a block of so many bytes takes; none takes nothing.
constexpr size_t block_bytes(size_t bytes) {
  constexpr size_t kHead = 8, kStep = 16, kLeast = 32;
  return bytes == 0 ? 0 : std::max(kLeast, (bytes + kHead + kStep - 1) / kStep * kStep);
}

inline size_t heap_bytes(const std::string& text) {
  constexpr size_t kWithin = 15;  // so many are kept in the string itself
  return text.capacity() > kWithin ? block_bytes(text.capacity() + 1) : 0;
}
// Of the elements themselves, not of what they hold.
template <typename Value>
size_t heap_bytes(const std::vector<Value>& values) {
  return block_bytes(values.capacity() * sizeof(Value));
}
inline size_t heap_bytes(const std::vector<std::string>& texts) {
  size_t bytes = block_bytes(texts.capacity() * sizeof(std::string));
  for (const std::string& text : texts) bytes += heap_bytes(text);
  return bytes;
}

// What an element takes in a std::map or std::set, and in a std::unordered_map with its share of
// the buckets.
template <typename Value>
constexpr size_t tree_node_bytes() {
  return block_bytes(sizeof(Value) + 4 * sizeof(void*));
}
template <typename Value>
constexpr size_t hash_node_bytes() {
  return block_bytes(sizeof(Value) + 2 * sizeof(void*)) + 2 * sizeof(void*);
}

}  // namespace weir
