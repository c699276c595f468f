// The memory of the indexes of open lists: how much they take, counted in one place, and nodes that
// were given back and wait to be used again. A log that takes an entry in for each that it drops
// then allocates none.
//
// The indexes must not outlive it.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace weir::storage {

class IndexMemory {
 public:
  static constexpr size_t kNodeBytes = 48;  // three links, a count, an order and a pointer

  IndexMemory() = default;
  ~IndexMemory() {
    for (void* node : spare_) ::operator delete(node);
  }
  IndexMemory(const IndexMemory&) = delete;
  IndexMemory& operator=(const IndexMemory&) = delete;

  void* take_node() {
    if (spare_.empty()) return ::operator new(kNodeBytes);
    void* const node = spare_.back();
    spare_.pop_back();
    return node;
  }
  void give_node(void* node) {
    if (spare_.size() == kSpareMax) return ::operator delete(node);
    if (spare_.capacity() == 0) spare_.reserve(kSpareMax);
    spare_.push_back(node);
  }

  size_t bytes = 0;  // of the nodes in use, with what the allocator adds

 private:
  static constexpr size_t kSpareMax = 256;

  std::vector<void*> spare_;
};

// An allocator of nodes, one at a time.
template <typename Node>
struct NodeAllocator {
  using value_type = Node;

  explicit NodeAllocator(IndexMemory* of) : memory(of) {}
  template <typename Other>
  NodeAllocator(const NodeAllocator<Other>& other) : memory(other.memory) {}

  Node* allocate(size_t count) {
    void* const nodes = is_node(count) ? memory->take_node() : ::operator new(count * sizeof(Node));
    return static_cast<Node*>(nodes);
  }
  void deallocate(Node* nodes, size_t count) {
    is_node(count) ? memory->give_node(nodes) : ::operator delete(nodes);
  }
  template <typename Other>
  bool operator==(const NodeAllocator<Other>& other) const {
    return memory == other.memory;
  }

  static bool is_node(size_t count) {
    return count == 1 && sizeof(Node) == IndexMemory::kNodeBytes;
  }

  IndexMemory* memory;
};

}  // namespace weir::storage
