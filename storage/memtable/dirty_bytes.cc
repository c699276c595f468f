#include "storage/memtable/dirty_bytes.h"

#include <algorithm>
#include <string>

namespace weir::storage {
namespace {

constexpr size_t kBytesLeast = 8 << 20;
constexpr size_t kBytesMost = 1 << 30;

}  // namespace

size_t DirtyBytes::bytes_max() const {
  return std::clamp(options_.memory_bytes_max / 2, kBytesLeast, kBytesMost);
}

void DirtyBytes::begin_turn() {
  turn_bytes_ = command_begin_bytes_ = 0;
  owed_bytes_ = write_back_.writing_bytes() + set_.dirty_bytes();
  const size_t most = bytes_max();
  turn_bytes_max_ = most - std::min(most, owed_bytes_);
  worry_bytes_ = late_ ? 0 : turn_bytes_max_ - std::min(turn_bytes_max_, most / 4);
}

Status DirtyBytes::refusal() const {
  const bool alone_too_much = turn_bytes_ - command_begin_bytes_ > bytes_max();
  if (!alone_too_much && can_write_back()) return Status::behind();
  return Status::too_much("more was changed than memory may owe the disk (half of maxmemory, " +
                          std::to_string(bytes_max()) +
                          " bytes), what the command changed is undone");
}

}  // namespace weir::storage
