#include "storage/lists/lists.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "storage/lists/list_opening.h"
#include "storage/memtable/elements_index.h"
#include "storage/memtable/open_lists.h"

namespace weir::storage {
namespace {

constexpr uint64_t kNotBornHere = UINT64_MAX;
constexpr ElementsId kIdsPerRecord = 4096;

}  // namespace

ElementsId Lists::make(int database, Layout layout) {
  Table* table = set_.elements_table(set_.table(database));
  if (layout_of(next_) != layout) ++next_;
  const ElementsId id = next_++;
  WEIR_REQUIRE(id <= kElementsIdMax);
  table->open->add(std::make_unique<ElementsIndex>(ListBirth{id, reclaimer_.write_backs_at_birth()},
                                                   set_.index_memory()));
  turn_.note_newborn({table->generation(), id});
  return id;
}

std::optional<Elements> Lists::open(int database, ElementsId id) {
  Table* table = set_.elements_table(set_.table(database));
  ElementsIndex* index = table->open->find(id);
  if (index == nullptr) {
    index = table->open->add(
        std::make_unique<ElementsIndex>(ListBirth{id, kNotBornHere}, set_.index_memory()));
    index->opening.reset(new ElementsIndex::Opening{.key_order = first_key_order(id)});
  }
  const Elements list(set_.seed(), &turn_, table, index);
  if (index->long_used_ms != 0) index->long_used_ms = turn_.now_ms();
  if (index->whole()) return list;
  if (!turn_.failure().ok()) return std::nullopt;  // what the command once found absent stays so
  Status status = open_slice(table, index, store_.get(), set_.seed());
  if (status.ok()) {
    index->opening.reset();
    return list;
  }
  if (status.code() == Status::Code::kNotYet) {
    index->long_used_ms = turn_.now_ms();
  } else {
    reclaimer_.close(table->open->take(id));
  }
  turn_.fail_to_read(std::move(status));
  return std::nullopt;
}

bool Lists::copy(int from_database, ElementsId from, int to_database, ElementsId to) {
  const auto source = open(from_database, from);
  auto target = open(to_database, to);
  if (!source || !target) return false;
  source->walk(0, [&target](const Element& element) {
    target->put(element.member, element.order, element.value);
    return true;
  });
  return true;
}

// The bound runs ahead of the ids: an id that this process has used must not be used again by the
// next process, even if this one dies now.
std::optional<ElementsId> Lists::new_bound() {
  if (next_ <= bound_) return std::nullopt;
  bound_ = std::min(next_ + kIdsPerRecord, kElementsIdMax + 1);
  return bound_;
}

}  // namespace weir::storage
