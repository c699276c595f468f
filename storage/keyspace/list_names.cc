#include "storage/keyspace/list_names.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/one_line.h"

namespace weir::storage {
namespace {

// A limiter keeps its lists while its type changes with what it counts.
Type kind_of(Type type) { return is_limiter(type) ? Type::kLimiterEntries : type; }

constexpr size_t kShownBytes = 100;

Status refused_record(const std::string& what) {
  return Status::refused("a turn's record " + what);
}

std::string shown(const TurnEntry& header) {
  return ": key \"" + one_line(header.key, kShownBytes) + "\"";
}

}  // namespace

void ListNames::begin_batch() {
  fresh_in_batch_ = fresh_from_;
  turns_.clear();
  overlay_.clear();
  overlaid_ = 0;
  taken_.clear();
}

void ListNames::begin_turn(std::string_view record) {
  turns_.push_back(record);
  changed_.clear();
  named_.clear();
  elements_.clear();
  dropped_.clear();
  had_.clear();
  had_is_known_ = false;
}

void ListNames::add_record(const TurnEntry& entry) { changed_.push_back(entry); }

void ListNames::add_header(const TurnEntry& entry, const HeaderView& header,
                           const RecordMeaning& meaning) {
  for (size_t i = 0; i < header.lists; ++i)
    named_.push_back({.list = {entry.generation | kElementsBit, header.ids[i]},
                      .record = changed_.size(),
                      .rule = meaning.rules[i],
                      .may_be_empty = meaning.may_be_empty});
  changed_.push_back(entry);
}

void ListNames::add_element(const TurnEntry& entry, ElementsId id, std::string_view member) {
  elements_.push_back({{entry.generation, id}, member, entry.value.payload});
}

Status ListNames::end_turn() {
  for (Named& named : named_) named.header = &changed_[named.record];
  std::sort(named_.begin(), named_.end(),
            [](const Named& a, const Named& b) { return a.list.id < b.list.id; });
  // An id is used once in whatever database.
  const auto twin =
      std::adjacent_find(named_.begin(), named_.end(),
                         [](const Named& a, const Named& b) { return a.list.id == b.list.id; });
  if (twin != named_.end()) return refused_record("names a list twice" + shown(*twin->header));
  for (const ListName& list : dropped_) {
    if (const Named* named = find_named(list))
      return refused_record("drops a list that it names" + shown(*named->header));
  }
  for (Named& named : named_) {
    if (Status status = judge(&named); !status.ok()) return status;
  }
  if (Status status = judge_elements(); !status.ok()) return status;
  for (const Named& named : named_) {
    if (named.is_new && !named.may_be_empty && !named.has_elements)
      return refused_record("names a list without elements" + shown(*named.header));
  }
  if (!named_.empty()) fresh_in_batch_ = std::max(fresh_in_batch_, named_.back().list.id + 1);
  return {};
}

// Whether a list is new, was named before, or is another record's.
Status ListNames::judge(Named* named) {
  named->is_new = true;
  if (named->list.id >= fresh_in_batch_) return {};
  const Had sought{.list = named->list, .type = kind_of(named->header->value.type)};
  bool had = false;
  if (Status status = had_it(*named->header, sought, &had); !status.ok()) return status;
  if (!had) {
    if (Status status = collect_had(); !status.ok()) return status;
    had = std::binary_search(had_.begin(), had_.end(), sought);
  }
  named->is_new = !had;
  if (had) return {};
  Status status;
  const bool is_used = !taken_.insert(named->list).second || stands_under(named->list, &status);
  if (!status.ok()) return status;
  if (is_used) return refused_record("names a list that is not its own" + shown(*named->header));
  return {};
}

Status ListNames::judge_elements() {
  Named* named = nullptr;
  std::sort(dropped_.begin(), dropped_.end());
  for (const Element& element : elements_) {
    if (named == nullptr || named->list != element.list) named = find_named(element.list);
    if (named != nullptr) {
      named->has_elements = true;
      const bool fits = named->rule == nullptr ||
                        named->rule->allows(element.member, load_u64_be(element.payload.data()),
                                            element.payload.substr(kOrderBytes));
      if (!fits)
        return refused_record("holds an element that its header cannot have" +
                              shown(*named->header));
      continue;
    }
    // Made and dropped by the turn.
    const bool is_dropped = std::binary_search(dropped_.begin(), dropped_.end(), element.list);
    if (element.list.id >= fresh_in_batch_ && !is_dropped)
      return refused_record("holds an element of a list that no header names");
  }
  return {};
}

ListNames::Named* ListNames::find_named(const ListName& list) {
  const auto found =
      std::lower_bound(named_.begin(), named_.end(), list.id,
                       [](const Named& named, ElementsId id) { return named.list.id < id; });
  return found != named_.end() && found->list == list ? &*found : nullptr;
}

// What the record held when the turn began: nothing (Type::kNone) if it was absent. One that had
// expired by now had perhaps not when the turn was made, which may be long ago.
Status ListNames::read_before(const TurnEntry& entry, ValueView* before) {
  overlay_earlier_turns();
  const auto earlier = overlay_.find({entry.generation, entry.key});
  if (earlier != overlay_.end()) {
    const TurnEntry& found = earlier->second;
    if (!found.erased) *before = found.value;
    return {};
  }
  Table* table = set_.table_of(entry.generation);
  if (table == nullptr) return {};
  const Entry* found = records_.find(table, key_order_of(entry.key, set_.seed()), entry.key);
  if (!turn_.failure().ok()) return turn_.failure();
  if (found != nullptr && (found->has(Entry::kPresent) || found->has(Entry::kUnreclaimed)))
    *before = found->view();
  return {};
}

Status ListNames::had_it(const TurnEntry& entry, const Had& sought, bool* had) {
  ValueView before;
  if (Status status = read_before(entry, &before); !status.ok()) return status;
  HeaderView header;
  if (kind_of(before.type) != sought.type || !parse_header(before.payload, &header)) return {};
  const auto ids = header.all();
  *had = std::find(ids.begin(), ids.end(), sought.list.id) != ids.end();
  return {};
}

Status ListNames::collect_had() {
  if (std::exchange(had_is_known_, true)) return {};
  for (const TurnEntry& entry : changed_) {
    ValueView before;
    if (Status status = read_before(entry, &before); !status.ok()) return status;
    HeaderView header;
    if (!owns_elements(before.type) || !parse_header(before.payload, &header)) continue;
    for (const ElementsId id : header.all())
      had_.push_back({.list = {entry.generation | kElementsBit, id}, .type = kind_of(before.type)});
  }
  std::sort(had_.begin(), had_.end());
  return {};
}

// The last form of what the batch's turns before this one have changed. Few batches need it.
void ListNames::overlay_earlier_turns() {
  for (; overlaid_ + 1 < turns_.size(); ++overlaid_) {
    int64_t instant_ns = 0;
    const Status parsed =
        parse_turn_record(turns_[overlaid_], &instant_ns, [this](const TurnEntry& entry) {
          if (entry.generation != kSystemGeneration && !holds_elements(entry.generation))
            overlay_.insert_or_assign({entry.generation, entry.key}, entry);
          return Status();
        });
    WEIR_CHECK(parsed.ok());  // it was looked at
  }
}

// Whether a list has elements, or had some that are not forgotten yet.
bool ListNames::stands_under(const ListName& list, Status* status) const {
  const Table* headers = set_.table_of(list.generation & ~kElementsBit);
  if (headers == nullptr || headers->elements == nullptr) return false;
  const Table* table = headers->elements;
  const KeyOrder last = last_key_order(list.id);
  std::vector<Entry*> entries;
  for (KeyOrder key_order = first_key_order(list.id);;) {
    const Segment* segment = table->segment_at(key_order);
    Table::append_range(segment, key_order, last, &entries);
    if (!entries.empty()) return true;
    if (segment->last() >= last) break;
    key_order = segment->last() + 1;
  }
  if (table->complete) return false;
  if (!store_.is_open()) {
    *status = Status::failed("the store is closed after a failure");
    return false;
  }
  const auto cursor = store_->cursor();
  cursor->seek(stored_key_prefix(list.generation, first_key_order(list.id)));
  *status = cursor->status();
  if (!status->ok() || !cursor->valid()) return false;
  const auto key = parse_stored_key(cursor->key());
  return key && key->generation == list.generation && key->key_order <= last;
}

}  // namespace weir::storage
