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
  const bool ended = watched.expire_at_ms != 0 && turn_.now_ms() > watched.expire_at_ms;
  return watched.touched || ended;
}

// Notes that a database gets other contents: those of database `instead`, or none if that is -1.
void Keyspace::note_replaced(int database, int instead) {
  for (const WatchId id : watches_.untouched(database)) {
    const Watched& watched = watches_.at(id);
    const std::string key = watched.key;
    const bool changes = watched.existed || (instead >= 0 && look_up(instead, key).exists());
    if (changes || !turn_.failure().ok()) watches_.touch(id);
  }
}

void Keyspace::note_event(KeyEvent::Kind kind, const Table* table, const Entry* entry) {
  const int database = set_.database_of(table);
  if (database < 0 || database == hidden_database()) return;
  events_.note(kind, database, entry->key());
}

}  // namespace weir::storage
