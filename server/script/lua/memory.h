// The memory of a Lua state: bounded, and small blocks come from an arena of its own.
//
// Scripts make and drop a dozen small objects per run. Taking those from lists by size takes a
// third of the time of the system's allocator. Blocks that are large, or find the arena full, come
// from the system.
//
// Invariant: a block lies in the arena or came from malloc, and its address alone tells which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace weir::server::script {

class Memory {
 public:
  Memory();

  // Resizes a block as Lua's allocator: 0 bytes frees it; null when no memory is left, or none
  // allowed. Most blocks are small, and taken or freed: that is here.
  void* resize(void* block, size_t old_bytes, size_t bytes) {
    if (block == nullptr && bytes - 1 < kSmallMax && used_ + bytes <= bytes_max_) {
      Free*& first = free_[size_class(bytes)];
      if (first != nullptr) [[likely]] {
        used_ += bytes;
        return std::exchange(first, first->next);
      }
    } else if (bytes == 0 && in_arena(block)) {
      used_ -= old_bytes;
      give_to_list(block, old_bytes);
      return nullptr;
    }
    return resize_otherwise(block, old_bytes, bytes);
  }

  size_t used() const { return used_; }
  size_t room() const { return used_ < bytes_max_ ? bytes_max_ - used_ : 0; }
  // Sets the bound. Beyond it an allocation fails, which Lua answers with "not enough memory".
  void allow(size_t more_bytes);
  void allow_all() { bytes_max_ = SIZE_MAX; }
  // True if something was refused since allow().
  bool exceeded() const { return exceeded_; }
  void note_exceeded() { exceeded_ = true; }

 private:
  static constexpr size_t kGrain = 16;
  static constexpr size_t kSmallMax = 256;

  struct Free {
    Free* next;
  };

  static size_t size_class(size_t bytes) { return (bytes - 1) / kGrain; }
  bool in_arena(const void* block) const {
    return block >= arena_.get() && block < arena_.get() + arena_bytes_;
  }
  void* resize_otherwise(void* block, size_t old_bytes, size_t bytes);
  void* take(size_t bytes);
  void give(void* block, size_t bytes);
  void give_to_list(void* block, size_t bytes) {
    auto* free = static_cast<Free*>(block);
    free->next = std::exchange(free_[size_class(bytes)], free);
  }

  size_t arena_bytes_;
  std::unique_ptr<std::byte[]> arena_;
  size_t arena_used_ = 0;
  Free* free_[kSmallMax / kGrain] = {};
  size_t used_ = 0;
  size_t bytes_max_ = SIZE_MAX;
  bool exceeded_ = false;
};

}  // namespace weir::server::script
