// Things that are used again: who needs one for a moment is lent one that has memory already, so in
// a steady state nothing is allocated. It is for what is too large, or lives too long, for a
// FixedVector.
//
// What lends must outlive what it has lent, and is of one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace weir {

inline constexpr size_t kSpareMax = 16;  // so many wait to be lent

// Lends objects, which are cleared by their clear() when they come back.
template <typename T>
class SpareObjects {
 public:
  std::unique_ptr<T> take() {
    if (spare_.empty()) return std::make_unique<T>();
    std::unique_ptr<T> taken = std::move(spare_.back());
    spare_.pop_back();
    return taken;
  }
  void give_back(std::unique_ptr<T> object) {
    if (spare_.size() == kSpareMax) return;
    object->clear();
    spare_.push_back(std::move(object));
  }

 private:
  std::vector<std::unique_ptr<T>> spare_;
};

// An object that goes back at its end. One that was moved from holds none.
template <typename T>
class Lent {
 public:
  explicit Lent(SpareObjects<T>* owner) : owner_(owner), object_(owner->take()) {}
  ~Lent() {
    if (object_ != nullptr) owner_->give_back(std::move(object_));
  }
  Lent(Lent&&) noexcept = default;
  Lent& operator=(Lent&& other) noexcept {
    std::swap(owner_, other.owner_);
    object_.swap(other.object_);
    return *this;
  }

  T& operator*() const { return *object_; }
  T* operator->() const { return object_.get(); }

 private:
  SpareObjects<T>* owner_;
  std::unique_ptr<T> object_;
};

// Lends vectors, which come back emptied.
template <typename T>
class SpareVectors {
 public:
  std::vector<T> take() {
    if (spare_.empty()) return {};
    std::vector<T> taken = std::move(spare_.back());
    spare_.pop_back();
    return taken;
  }
  void give_back(std::vector<T> vector) {
    if (vector.capacity() == 0 || spare_.size() == kSpareMax) return;
    vector.clear();
    spare_.push_back(std::move(vector));
  }

 private:
  std::vector<std::vector<T>> spare_;
};

}  // namespace weir
