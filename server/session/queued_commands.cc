#include "server/session/queued_commands.h"

#include <algorithm>
#include <cstring>

namespace weir::server {
namespace {

constexpr size_t kFirstBlockBytes = 512;
constexpr size_t kBlockBytes = 256 << 10;

template <typename T>
void put(std::string* block, const T& value) {
  block->append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T take(const std::string& block, size_t* at) {
  T value;
  std::memcpy(&value, block.data() + *at, sizeof value);
  *at += sizeof value;
  return value;
}

}  // namespace

void QueuedCommands::add(const Command& command, Args args) {
  size_t argument_bytes = 0;
  for (const std::string_view arg : args) argument_bytes += arg.size();
  const size_t bytes = sizeof(const Command*) + sizeof(size_t) * (1 + args.size()) + argument_bytes;
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < bytes) {
    blocks_.emplace_back().reserve(
        std::max(bytes, blocks_.size() < 2 ? kFirstBlockBytes : kBlockBytes));
    block_bytes_ += blocks_.back().capacity();
  }
  std::string* block = &blocks_.back();
  put(block, &command);
  put(block, args.size());
  for (const std::string_view arg : args) {
    put(block, arg.size());
    block->append(arg);
  }
  ++count_;
}

bool QueuedCommands::Walk::next() {
  const auto& blocks = commands_.blocks_;
  if (block_ < blocks.size() && at_ == blocks[block_].size()) {
    ++block_;
    at_ = 0;
  }
  if (block_ == blocks.size()) return false;
  const std::string& block = blocks[block_];
  command_ = take<const Command*>(block, &at_);
  args_.resize(take<size_t>(block, &at_));
  for (std::string_view& arg : args_) {
    const auto size = take<size_t>(block, &at_);
    arg = std::string_view(block).substr(at_, size);
    at_ += size;
  }
  return true;
}

}  // namespace weir::server
