#include "algorithms/low_water.h"

#include <algorithm>

#include "algorithms/algorithm.h"

namespace weir::algorithms {

void LowWater::note(uint64_t change, int64_t used) {
  while (size_ > 0 && marks_[size_ - 1].used >= used) --size_;
  if (size_ > 0 && marks_[size_ - 1].change >= change) return;
  marks_[size_++] = {.change = change, .used = used};
  if (size_ > kMarksMax) join_nearest();
}

// Of two neighbours the earlier one's use and the later one's change stay.
void LowWater::join_nearest() {
  size_t nearest = 0;
  const auto gap = [this](size_t i) { return marks_[i + 1].used - marks_[i].used; };
  for (size_t i = 1; i + 1 < size_; ++i) {
    if (gap(i) < gap(nearest)) nearest = i;
  }
  marks_[nearest].change = marks_[nearest + 1].change;
  std::copy(marks_.begin() + nearest + 2, marks_.begin() + size_, marks_.begin() + nearest + 1);
  --size_;
}

int64_t LowWater::since(uint64_t change) const {
  for (const Mark& mark : marks()) {
    if (mark.change >= change) return mark.used;
  }
  return kNever;
}

void LowWater::give_back(uint64_t change, int64_t permits) {
  const auto before = marks_;
  const size_t size = size_;
  size_ = 0;
  for (size_t i = 0; i < size; ++i) {
    const Mark& mark = before[i];
    const int64_t less = mark.change >= change ? permits : 0;
    note(mark.change, std::max<int64_t>(0, mark.used - less));
  }
}

void LowWater::write(Writer& out) const {
  out.varint(size_);
  for (const Mark& mark : marks()) {
    out.varint(mark.change);
    out.varint(static_cast<uint64_t>(mark.used));
  }
}

bool LowWater::read(Reader& in, uint64_t newest_change) {
  const uint64_t size = in.varint();
  if (size > kMarksMax) return false;
  size_ = static_cast<size_t>(size);
  for (size_t i = 0; i < size_; ++i) {
    const uint64_t change = in.varint(), used = in.varint();
    if (change > newest_change || used > static_cast<uint64_t>(kNever)) return false;
    marks_[i] = {.change = change, .used = static_cast<int64_t>(used)};
    if (i > 0 && (change <= marks_[i - 1].change || marks_[i].used <= marks_[i - 1].used))
      return false;
  }
  return in.ok();
}

}  // namespace weir::algorithms
