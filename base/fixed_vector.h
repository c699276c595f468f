// A vector of at most so many elements, which are where the vector is: nothing is allocated. It is
// for what a function needs while it runs.
//
// It must not hold more than kMax elements: that is a bug and throws BrokenCheck.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "base/check.h"

namespace weir {

template <typename T, size_t kMax>
class FixedVector {
 public:
  FixedVector() = default;
  ~FixedVector() { clear(); }
  FixedVector(const FixedVector&) = delete;
  FixedVector& operator=(const FixedVector&) = delete;

  T& push_back(T value) { return emplace_back(std::move(value)); }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    WEIR_REQUIRE(size_ < kMax);
    T* const added = new (room_ + size_ * sizeof(T)) T(std::forward<Args>(args)...);
    ++size_;
    return *added;
  }
  void clear() {
    std::destroy_n(data(), size_);
    size_ = 0;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return std::launder(reinterpret_cast<T*>(room_)); }
  const T* data() const { return std::launder(reinterpret_cast<const T*>(room_)); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t index) { return data()[index]; }
  const T& operator[](size_t index) const { return data()[index]; }
  T& back() { return data()[size_ - 1]; }

 private:
  alignas(T) std::byte room_[kMax * sizeof(T)];
  size_t size_ = 0;
};

}  // namespace weir
