// The bytes that a session has received and not yet used: the beginning of a request, or requests
// that are kept for later.
//
// Invariants
// 1. The unused bytes are contiguous, because a request is parsed in place.
// 2. Using bytes from the front moves nothing. Appending moves the unused bytes only if no more of
//    them are left than were used, so that the work is linear in the bytes received.
#pragma once

#include <string>
#include <string_view>

namespace weir::server {

class InputBuffer {
 public:
  bool empty() const { return bytes_.empty(); }
  size_t size() const { return bytes_.size() - used_; }
  size_t capacity() const { return bytes_.capacity(); }
  std::string_view unused() const { return std::string_view(bytes_).substr(used_); }

  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    if (used_ > 0 && size() <= used_) {
      bytes_.erase(0, used_);
      used_ = 0;
    }
    bytes_.append(bytes);
  }

  // Takes note that the first `bytes` of unused() have been used.
  void use(size_t bytes) {
    used_ += bytes;
    if (used_ < bytes_.size()) return;
    bytes_.clear();
    used_ = 0;
    if (bytes_.capacity() > kKeptCapacity) bytes_.shrink_to_fit();
  }

 private:
  static constexpr size_t kKeptCapacity = 64 << 10;

  std::string bytes_;  // used | unused; empty when there is nothing unused
  size_t used_ = 0;
};

}  // namespace weir::server
