#include "storage/rocks/log_memtables.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/check.h"
#include "storage/rocks/log_key.h"
#include "storage/rocks/rocks_internal.h"

namespace weir::storage {
namespace {

// Bytes that the system has back as soon as they are not needed: in the heap, what is allocated
// after them would keep their room.
class MappedBytes {
 public:
  MappedBytes() = default;
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;
  ~MappedBytes() { clear(); }

  char* allocate(size_t bytes) {
    if (bytes > left_) add_block(bytes);
    left_ -= bytes;
    bytes_ += bytes;
    return std::exchange(next_, next_ + bytes);
  }
  void clear() {
    for (const auto& [block, bytes] : blocks_) ::munmap(block, bytes);
    blocks_ = {};
    next_ = nullptr;
    left_ = bytes_ = 0;
  }
  // That were handed out.
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kBlockBytes = 1 << 20;

  void add_block(size_t bytes) {
    const size_t size = std::max(bytes, kBlockBytes);
    void* block = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    blocks_.emplace_back(block, size);
    next_ = static_cast<char*>(block);
    left_ = size;
  }

  std::vector<std::pair<void*, size_t>> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  std::atomic<size_t> bytes_{0};  // which any thread may ask for
};

// The list itself is RocksDB's; here are the bytes that it points to.
class LogMemtable : public rocksdb::MemTableRep {
 public:
  LogMemtable(const KeyComparator& compare, rocksdb::Allocator* arena,
              std::shared_ptr<LogMemtables::Shared> shared)
      : MemTableRep(arena), compare_(compare), shared_(std::move(shared)), list_(make_list()) {}

  rocksdb::KeyHandle Allocate(size_t bytes, char** buffer) override {
    if (!shared_->forgets) {
      *buffer = kept_.allocate(bytes);
    } else {
      if (!forgets_) begin_to_forget();
      if (scratch_.size() > kScratchBytes) scratch_ = {};
      if (scratch_.size() < bytes) scratch_.resize(bytes);
      *buffer = scratch_.data();
    }
    return *buffer;
  }

  void Insert(rocksdb::KeyHandle handle) override {
    const auto* key = static_cast<const char*>(handle);
    last_turn_ = std::max(last_turn_, turn_of_turn_key(view_of(UserKey(key))).value_or(0));
    if (!forgets_) list_->Insert(handle);
  }

  bool Contains(const char* key) const override { return readable()->Contains(key); }
  // RocksDB's own makes an iterator for each look-up, and never deletes it.
  void Get(const rocksdb::LookupKey& key, void* reader,
           bool (*read)(void* reader, const char* entry)) override {
    readable()->Get(key, reader, read);
  }
  Iterator* GetIterator(rocksdb::Arena* arena) override { return readable()->GetIterator(arena); }
  size_t ApproximateMemoryUsage() override { return kept_.bytes(); }
  void MarkReadOnly() override {
    list_->MarkReadOnly();
    shared_->closed_turn = std::max(shared_->closed_turn.load(), last_turn_);
  }

 private:
  // Of one record, beyond which a buffer is not kept for the next.
  static constexpr size_t kScratchBytes = 64 << 10;

  std::unique_ptr<MemTableRep> make_list() const {
    return std::unique_ptr<MemTableRep>(
        rocksdb::VectorRepFactory().CreateMemTableRep(compare_, allocator_, nullptr, nullptr));
  }

  void begin_to_forget() {
    forgets_ = true;
    list_ = make_list();
    kept_.clear();
  }

  MemTableRep* readable() const {
    WEIR_CHECK(!forgets_ || last_turn_ <= shared_->dropped_turn);
    return list_.get();
  }

  const KeyComparator& compare_;
  const std::shared_ptr<LogMemtables::Shared> shared_;
  std::unique_ptr<MemTableRep> list_;
  MappedBytes kept_;
  std::vector<char> scratch_;
  uint64_t last_turn_ = 0;
  bool forgets_ = false;
};

}  // namespace

rocksdb::MemTableRep* LogMemtables::CreateMemTableRep(
    const rocksdb::MemTableRep::KeyComparator& compare, rocksdb::Allocator* arena,
    const rocksdb::SliceTransform*, rocksdb::Logger*) {
  return new LogMemtable(compare, arena, shared_);
}

}  // namespace weir::storage
