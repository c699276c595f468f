#include "storage/memtable/segments.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "storage/memtable/entry_memory.h"

namespace weir::storage {
namespace {

constexpr uint16_t kUnitedEntriesMax = 128;

}  // namespace

Segments::Segments(bool of_elements, PartialCount* bytes)
    : child_bits_max_(of_elements ? kChildBitsMaxOfElements : kChildBitsMax),
      root_(new Directory),
      bytes_(bytes) {
  if (of_elements) root_->bits_max = kRootBitsMaxOfElements;
  auto* segment = new Segment;
  segment->hashed = of_elements;
  root_->children.push_back(reinterpret_cast<Node>(segment));
  resize_buckets(segment, kBucketBitsMin);
}

Segments::~Segments() { free_node(node_of(root_)); }

// Answers how many work units it took.
size_t Segments::free_node(Node node) {
  size_t spent = 1;
  if (Directory* directory = as_directory(node)) {
    Node previous = 0;  // a segment shallower than its directory fills neighbouring cells
    for (const Node child : directory->children) {
      if (child != previous) spent += free_node(child);
      previous = child;
    }
    delete directory;
    return spent;
  }
  auto* segment = reinterpret_cast<Segment*>(node);
  for (size_t i = 0; i < segment->bucket_count(); ++i) {
    for (Entry* entry = segment->buckets[i]; entry != nullptr;) {
      Entry* next = entry->next;
      spent += units_to_free(entry);
      free_entry(entry);
      entry = next;
    }
  }
  std::free(segment->buckets);
  delete segment;
  return spent;
}

bool Segments::shrink(size_t units) {
  nearby_ = nullptr;
  while (units > 0 && !root_->children.empty()) {
    std::vector<Node>* cells = &root_->children;
    Directory* below = as_directory(cells->back());
    while (below != nullptr && !below->children.empty()) {
      cells = &below->children;
      below = as_directory(cells->back());
    }
    const Node last = cells->back();
    while (!cells->empty() && cells->back() == last) cells->pop_back();
    units -= std::min(units, free_node(last));
  }
  return !root_->children.empty();
}

void Segments::resize_buckets(Segment* segment, uint8_t bits) {
  Entry** old = segment->buckets;
  const size_t old_count = old == nullptr ? 0 : segment->bucket_count();
  segment->bucket_bits = bits;
  segment->buckets = static_cast<Entry**>(std::calloc(segment->bucket_count(), sizeof(Entry*)));
  if (segment->buckets == nullptr) throw std::bad_alloc();
  for (size_t i = 0; i < old_count; ++i) {
    for (Entry* entry = old[i]; entry != nullptr;) {
      Entry* next = entry->next;
      Entry** bucket = &segment->buckets[segment->bucket_of(entry->key_order)];
      entry->next = *bucket;
      *bucket = entry;
      entry = next;
    }
  }
  bytes_->add(segment->bucket_count() * sizeof(Entry*));
  bytes_->subtract(old_count * sizeof(Entry*));
  std::free(old);
}

void Segments::split(Segment* segment) {
  Directory* directory;
  Node* cell = parent_cell(segment->begin, &directory);
  if (segment->depth == directory->bits && directory->bits == directory->bits_max) {
    auto* below = new Directory;
    below->bits_max = child_bits_max_;
    below->consumed = segment->prefix_bits;
    below->children.push_back(*cell);
    *cell = node_of(below);
    segment->depth = 0;
    directory = below;
  }
  if (segment->depth == directory->bits) {
    std::vector<Node> doubled;
    doubled.reserve(directory->children.size() * 2);
    for (const Node child : directory->children) doubled.insert(doubled.end(), 2, child);
    directory->children.swap(doubled);
    ++directory->bits;
  }
  divide(directory, segment);
}

// Gives the upper half of a segment's range to a new segment. REQUIRES: the directory tells the
// halves apart.
void Segments::divide(Directory* directory, Segment* segment) {
  auto* upper = new Segment;
  upper->hashed = segment->hashed;
  ++segment->depth;
  ++segment->prefix_bits;
  upper->depth = segment->depth;
  upper->prefix_bits = segment->prefix_bits;
  upper->begin = segment->begin + (KeyOrder{1} << (64 - segment->prefix_bits));
  const size_t cells = size_t{1} << (directory->bits - segment->depth);
  const size_t first = directory->index_of(upper->begin);
  for (size_t i = 0; i < cells; ++i) directory->children[first + i] = reinterpret_cast<Node>(upper);

  Entry** old = segment->buckets;
  const size_t old_count = segment->bucket_count();
  segment->buckets = nullptr;
  segment->dirty = nullptr;
  segment->count = segment->dirty_count = 0;
  const uint8_t bits = std::max<uint8_t>(segment->bucket_bits - 1, kBucketBitsMin);
  bytes_->subtract(old_count * sizeof(Entry*));
  resize_buckets(segment, bits);
  resize_buckets(upper, bits);
  for (size_t i = 0; i < old_count; ++i) {
    for (Entry* entry = old[i]; entry != nullptr;) {
      Entry* next = entry->next;
      Segment* home = entry->key_order >= upper->begin ? upper : segment;
      Entry** bucket = &home->buckets[home->bucket_of(entry->key_order)];
      entry->next = *bucket;
      *bucket = entry;
      ++home->count;
      if (entry->has(Entry::kDirty)) home->add_dirty(entry);
      entry = next;
    }
  }
  std::free(old);
}

// Undoes splits from a segment on upwards, as long as the two halves together are small.
void Segments::unite(Segment* segment) {
  while (true) {
    if (segment->depth == 0) {
      if (!replace_directory(segment)) return;
      continue;
    }
    Directory* directory;
    parent_cell(segment->begin, &directory);
    const KeyOrder half = KeyOrder{1} << (64 - segment->prefix_bits);
    const Node other = directory->children[directory->index_of(segment->begin ^ half)];
    if (as_directory(other) != nullptr) return;
    auto* sibling = reinterpret_cast<Segment*>(other);
    if (sibling->depth != segment->depth) return;
    if (segment->count + sibling->count > kUnitedEntriesMax) return;
    segment = (segment->begin & half) == 0 ? join(directory, segment, sibling)
                                           : join(directory, sibling, segment);
  }
}

Segment* Segments::join(Directory* directory, Segment* lower, Segment* upper) {
  const size_t cells = size_t{1} << (directory->bits - upper->depth);
  const size_t first = directory->index_of(upper->begin);
  for (size_t i = 0; i < cells; ++i) directory->children[first + i] = reinterpret_cast<Node>(lower);
  Entry** const old[] = {lower->buckets, upper->buckets};
  const size_t old_counts[] = {lower->bucket_count(), upper->bucket_count()};
  const uint8_t bits = std::max(lower->bucket_bits, upper->bucket_bits);
  --lower->depth;
  --lower->prefix_bits;
  lower->count = static_cast<uint16_t>(lower->count + upper->count);
  lower->buckets = nullptr;
  lower->dirty = nullptr;
  lower->dirty_count = 0;
  resize_buckets(lower, bits);
  for (size_t half = 0; half < 2; ++half) {
    for (size_t i = 0; i < old_counts[half]; ++i) {
      for (Entry* entry = old[half][i]; entry != nullptr;) {
        Entry* next = entry->next;
        Entry** bucket = &lower->buckets[lower->bucket_of(entry->key_order)];
        entry->next = *bucket;
        *bucket = entry;
        if (entry->has(Entry::kDirty)) lower->add_dirty(entry);
        entry = next;
      }
    }
    bytes_->subtract(old_counts[half] * sizeof(Entry*));
    std::free(old[half]);
  }
  if (nearby_ == upper) nearby_ = nullptr;
  delete upper;
  return lower;
}

// Puts the only segment of a directory in the directory's place in the directory above. False if
// there is none above.
bool Segments::replace_directory(Segment* only) {
  Directory* above = nullptr;
  Node* cell = nullptr;
  Directory* at = root_;
  while (true) {
    Node* next_cell = &at->children[at->index_of(only->begin)];
    Directory* below = as_directory(*next_cell);
    if (below == nullptr) break;
    above = at;
    cell = next_cell;
    at = below;
  }
  if (above == nullptr) return false;
  *cell = reinterpret_cast<Node>(only);
  only->depth = above->bits;
  delete at;
  return true;
}

}  // namespace weir::storage
