// A count of bytes that a larger count includes, so that nobody has to add the parts up.
#pragma once

#include <cstddef>

namespace weir::storage {

class PartialCount {
 public:
  // `whole` outlives this; null: nothing includes it.
  explicit PartialCount(size_t* whole) : whole_(whole) {}
  ~PartialCount() { leave(); }
  PartialCount(const PartialCount&) = delete;
  PartialCount& operator=(const PartialCount&) = delete;

  size_t bytes() const { return bytes_; }
  void add(size_t bytes) {
    bytes_ += bytes;
    if (whole_ != nullptr) *whole_ += bytes;
  }
  void subtract(size_t bytes) { add(0 - bytes); }
  // From now on the whole does not include it any more.
  void leave() {
    if (whole_ != nullptr) *whole_ -= bytes_;
    whole_ = nullptr;
  }

 private:
  size_t* whole_;
  size_t bytes_ = 0;
};

}  // namespace weir::storage
