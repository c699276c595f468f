#include "server/script/lua/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace weir::server::script {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kArenaBytes = 0;  // none, so that the sanitizer sees each block
#else
constexpr size_t kArenaBytes = 2 << 20;
#endif

}  // namespace

// The arena is not cleared, so its pages that are never used take no memory.
Memory::Memory() : arena_bytes_(kArenaBytes), arena_(new std::byte[kArenaBytes]) {}

void Memory::allow(size_t more_bytes) {
  exceeded_ = false;
  bytes_max_ = used_ + more_bytes;
}

void* Memory::take(size_t bytes) {
  if (bytes > kSmallMax) return std::malloc(bytes);
  const size_t list = size_class(bytes);
  if (Free* block = free_[list]; block != nullptr) {
    free_[list] = block->next;
    return block;
  }
  const size_t size = (list + 1) * kGrain;
  if (arena_bytes_ - arena_used_ < size) return std::malloc(bytes);
  arena_used_ += size;
  return arena_.get() + (arena_used_ - size);
}

void Memory::give(void* block, size_t bytes) {
  if (!in_arena(block)) return std::free(block);
  give_to_list(block, bytes);
}

void* Memory::resize_otherwise(void* block, size_t old_bytes, size_t bytes) {
  if (bytes == 0) {
    used_ -= old_bytes;
    if (block != nullptr) give(block, old_bytes);
    return nullptr;
  }
  if (bytes > old_bytes && bytes - old_bytes > room()) {
    exceeded_ = true;
    return nullptr;
  }
  void* moved = nullptr;
  if (block == nullptr) {
    moved = take(bytes);
  } else if (!in_arena(block) && bytes > kSmallMax) {
    moved = std::realloc(block, bytes);
  } else if (in_arena(block) && size_class(bytes) == size_class(old_bytes)) {
    moved = block;
  } else {
    moved = take(bytes);
    // Lua relies on shrinking a block to succeed.
    if (moved == nullptr && bytes <= old_bytes) return block;
    if (moved != nullptr) {
      std::memcpy(moved, block, std::min(old_bytes, bytes));
      give(block, old_bytes);
    }
  }
  if (moved != nullptr) used_ += bytes - old_bytes;
  return moved;
}

}  // namespace weir::server::script
