// Watched keys, and the events of keys that time ended or that were newly created.
#include <algorithm>
#include <utility>

#include "storage/keyspace.h"
#include "storage/owner.h"

namespace weir::storage {

WatchId Keyspace::watch(const Ref& ref) {
  Watched watched{.database = ref.database(),
                  .position = ref.position(),
                  .key = std::string(ref.key()),
                  .existed = ref.exists(),
                  .expire_at_ms = ref.expire_at_ms(),
                  .lists = {}};
  OwnerView owner;
  if (owns_elements(ref.type()) && parse_owner(ref.value(), &owner)) {
    const auto ids = owner.all();
    watched.lists.assign(ids.begin(), ids.end());
  }
  return watches_.add(std::move(watched));
}

bool Keyspace::watch_changed(WatchId id) const {
  const Watched& watched = watches_.at(id);
  const bool ended = watched.expire_at_ms != 0 && now_ms_ > watched.expire_at_ms;
  return watched.touched || ended;
}

void Keyspace::note_change(const Table* table, const Entry* entry) {
  if (table->has_elements()) return watches_.element_changes(elements_id_at(entry->position));
  const int database = set_.database_of(table);
  if (database >= 0) watches_.record_changes(database, entry->position, entry->key());
}

// Notes that a database gets other contents: those of database `instead`, or none if that is -1.
void Keyspace::note_replaced(int database, int instead) {
  for (const WatchId id : watches_.untouched(database)) {
    const Watched& watched = watches_.at(id);
    const std::string key = watched.key;
    const bool changes = watched.existed || (instead >= 0 && look_up(instead, key).exists());
    if (changes || !failure_.ok()) watches_.touch(id);
  }
}

void Keyspace::note_event(KeyEvent::Kind kind, const Table* table, const Entry* entry) {
  const int database = set_.database_of(table);
  if (database < 0 || database == hidden_database()) return;
  events_.push_back({.kind = kind, .database = database, .key = std::string(entry->key())});
}

// Forgets the creations noted since a mark. Expiries stay noted: what time has ended stays ended
// when a command is taken back.
void Keyspace::forget_created(size_t mark) {
  const auto begin = events_.begin() + static_cast<std::ptrdiff_t>(std::min(mark, events_.size()));
  events_.erase(
      std::remove_if(begin, events_.end(),
                     [](const KeyEvent& event) { return event.kind == KeyEvent::Kind::kCreated; }),
      events_.end());
}

std::vector<KeyEvent> Keyspace::take_events() {
  command_mark_.events = 0;
  return std::exchange(events_, {});
}

}  // namespace weir::storage
