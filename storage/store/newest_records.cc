#include "storage/store/newest_records.h"

#include <algorithm>

namespace weir::storage {

Status NewestRecords::read_log() {
  return store_.replay(turn_ + 1, [this](uint64_t turn, std::string_view record) {
    Status status = apply(record);
    if (!status.ok())
      return Status::corrupt("turn " + std::to_string(turn) + " of the log: " + status.message());
    turn_ = turn;
    ++turns_;
    return status;
  });
}

Status NewestRecords::apply(std::string_view record) {
  int64_t instant_ns = 0;
  Status status = parse_turn_record(record, &instant_ns, [this](const TurnEntry& entry) -> Status {
    KeyView key{.generation = entry.generation, .key = entry.key};
    if (!holds_elements(entry.generation)) {
      if (entry.dropped) return Status::corrupt("a list is dropped that is none");
      key.key_order = key_order_of(entry.key, store_.hash_seed());
    } else {
      Reader name(entry.key);
      const ElementsId id = name.varint();
      if (!name.ok() || id == 0 || id > kElementsIdMax)
        return Status::corrupt("an element names no list");
      if (entry.dropped) {
        dropped_.insert({entry.generation, id});
        return {};
      }
      key.key = name.rest();
      key.key_order = key_order_of_element(id, key.key, store_.hash_seed());
    }
    std::string stored_key;
    append_stored_key(&stored_key, key);
    std::optional<std::string> value;
    if (!entry.erased) append_value(&value.emplace(), entry.value);
    changes_.insert_or_assign(std::move(stored_key), std::move(value));
    return {};
  });
  instant_ns_ = std::max(instant_ns_, instant_ns);
  return status;
}

bool NewestRecords::is_dropped(std::string_view stored_key) const {
  const auto key = parse_stored_key(stored_key);
  return key && holds_elements(key->generation) &&
         dropped_.contains({key->generation, elements_id_at(key->key_order)});
}

Status NewestRecords::visit(
    const std::function<Status(std::string_view key, std::string_view value)>& use) {
  const auto cursor = store_.cursor();
  cursor->seek("");
  auto change = changes_.begin();
  Status status;
  while (status.ok() && (cursor->valid() || change != changes_.end())) {
    const bool from_log =
        change != changes_.end() && (!cursor->valid() || change->first <= cursor->key());
    if (!from_log) {
      if (!is_dropped(cursor->key())) status = use(cursor->key(), cursor->value());
      cursor->next();
      continue;
    }
    if (cursor->valid() && cursor->key() == change->first) cursor->next();
    if (change->second && !is_dropped(change->first)) status = use(change->first, *change->second);
    ++change;
  }
  return status.ok() ? cursor->status() : status;
}

}  // namespace weir::storage
