// The bytes that a session has received and not yet used: the beginning of a request, or requests
// that are kept for later.
//
// Invariants
// 1. The unused bytes are contiguous, because a request is parsed in place.
// 2. Using bytes from the front moves nothing. Appending moves the unused bytes only if no more of
//    them are left than were used, so that the work is linear in the bytes received. Growing moves
//    no more than realloc() does: large blocks keep their pages, so a request of any length is
//    received without a pause.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

namespace weir::server {

class InputBuffer {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_ - used_; }
  size_t capacity() const { return capacity_; }
  std::string_view unused() const { return {bytes_.get() + used_, size()}; }

  // `told`: how many bytes the request at the front has in all, as far as it says; 0: it does not.
  // A request that is longer than what came gets no more room than it says, nor than twice that.
  void append(std::string_view bytes, size_t told = 0) {
    if (bytes.empty()) return;
    if (used_ > 0 && size() <= used_) {
      size_ -= used_;
      std::memmove(bytes_.get(), bytes_.get() + used_, size_);
      used_ = 0;
    }
    const size_t needed = size_ + bytes.size();
    if (capacity_ < needed) {
      const size_t most = used_ + told >= needed ? used_ + told : SIZE_MAX;
      grow(std::max(std::min(2 * capacity_, most), needed));
    }
    std::memcpy(bytes_.get() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }

  // Takes note that the first `bytes` of unused() have been used.
  void use(size_t bytes) {
    used_ += bytes;
    if (used_ < size_) return;
    size_ = used_ = 0;
    if (capacity_ <= kKeptCapacity) return;
    bytes_.reset();
    capacity_ = 0;
  }

 private:
  static constexpr size_t kKeptCapacity = 64 << 10;

  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  void grow(size_t capacity) {
    auto* grown = static_cast<char*>(std::realloc(bytes_.get(), capacity));
    if (grown == nullptr) throw std::bad_alloc();
    (void)bytes_.release();  // realloc() has freed it, or it is the same
    bytes_.reset(grown);
    capacity_ = capacity;
  }

  std::unique_ptr<char, Free> bytes_;  // used | unused | room
  size_t capacity_ = 0;
  size_t size_ = 0;  // used and unused; 0 when there is nothing unused
  size_t used_ = 0;
};

}  // namespace weir::server
