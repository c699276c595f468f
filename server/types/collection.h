// What hashes, lists, sets and sorted sets have in common: a key owns one list of elements
// (storage/memtable/elements.h), and a byte beside it says in which form Redis keeps it.
//
// To read:   const auto hash = read_collection(call, key, Type::kHash);
//            if (!hash) return;                       // the error has been replied
//            if (const auto found = hash->find(field)) ...
// To write:  auto hash = write_collection(call, key, Type::kHash);
//            if (!hash) return;
//            hash->create_if_absent().put(field, order, value);
//            call.notify(EventClass::kHash, "hset", key);
// and after the last removal:
//            note_removal(call, &*hash, {EventClass::kHash, "hdel"});
//
// Invariants
// 1. No collection is left empty at the end of a command: a command that removes elements calls
//    note_removal() or erase_if_empty(), one that creates a collection puts something into it.
// 2. A change of elements never touches the header record, so it costs what those elements cost,
//    and the expiry stays.
// 3. The form goes from compact to large and never back, whatever is removed.
// 4. A command that finds a collection without elements fails as one whose record cannot be read:
//    only data that this process has not made can hold one (storage/keyspace/list_names.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/command/command.h"
#include "server/command/error_replied.h"
#include "storage/memtable/elements.h"

namespace weir::server {

// Compact is Redis' listpack or intset, large its hashtable or skiplist. A collection is compact as
// long as it has always been small; each type says what small means. On disk: DO NOT CHANGE.
enum class Form : uint8_t { kCompact = 0, kLarge = 1 };
// Tells whether these can be a header's own bytes: a form, and what a later version may add, which
// means nothing here.
inline bool is_form(std::string_view own_bytes) {
  return own_bytes.empty() || static_cast<uint8_t>(own_bytes[0]) <= uint8_t{1};
}

// What a key holds of a type, or its absence. Valid until the end of the command.
class Collection {
 public:
  bool exists() const { return elements_.has_value(); }
  size_t size() const { return exists() ? elements_->size() : 0; }
  Form form() const { return form_; }
  bool is_compact() const { return form_ == Form::kCompact; }
  std::string_view key() const { return key_; }

  // REQUIRES: exists().
  storage::Elements elements() const { return *elements_; }
  // Finds an element; nothing if the collection is absent, too.
  std::optional<storage::Element> find(std::string_view member) const;
  // Visits the elements from the first on, or from a rank on, upwards or downwards; none if the
  // collection is absent.
  void walk(const storage::Elements::Visit& visit) const { walk_from(0, visit); }
  void walk_from(size_t rank, const storage::Elements::Visit& visit) const;
  void walk_back_from(size_t rank, const storage::Elements::Visit& visit) const;
  // Erases `count` elements from a rank on. REQUIRES: exists(), and there are as many.
  void erase_ranks(size_t first_rank, size_t count);

  // Makes an absent collection one without elements, compact and without expiry.
  storage::Elements create_if_absent();
  void make_large();
  bool erase_if_empty();  // true if it was empty

 private:
  friend Result<Collection, ErrorReplied> collection_of(Call& call, const storage::Ref& ref,
                                                        storage::Type type);
  friend Collection replace_with_collection(Call& call, std::string_view key, storage::Type type);

  Collection(const Call& call, const storage::Ref& ref, storage::Type type)
      : work_(&call.work()),
        keys_(&call.keys),
        database_(ref.database()),
        key_(ref.key()),
        type_(type) {}
  void put_header(storage::Ref* ref, int64_t expire_at_ms);

  WorkMeter* work_;  // charged for what is found, visited and erased here
  storage::Keyspace* keys_;
  int database_;
  std::string_view key_;
  storage::Type type_;
  std::optional<storage::Elements> elements_;
  Form form_ = Form::kCompact;
};

// Answers the collection at a key, absent or not. A key of another type is answered WRONGTYPE. The
// key's bytes must outlive the answer.
Result<Collection, ErrorReplied> collection_of(Call& call, const storage::Ref& ref,
                                               storage::Type type);
// Does the same by the key's name; as a read it counts as a hit or a miss in INFO.
Result<Collection, ErrorReplied> read_collection(Call& call, std::string_view key,
                                                 storage::Type type);
Result<Collection, ErrorReplied> write_collection(Call& call, std::string_view key,
                                                  storage::Type type);
// Puts a collection without elements in place of whatever the key held, its expiry included: for
// the STORE commands. Views into what the key held must not be used any more, but an open list of
// it stays as it is until the end of the command.
Collection replace_with_collection(Call& call, std::string_view key, storage::Type type);
// Does the same if there is nothing to store: the key is deleted, and an event tells of it.
void replace_with_nothing(Call& call, std::string_view key);
// Puts a copy of a key's collection at another key, with its form and the expiry given, in place of
// whatever was there. REQUIRES: `from` exists and owns elements.
Result<void, ErrorReplied> copy_collection(Call& call, const storage::Ref& from, storage::Ref* to,
                                           int64_t expire_at_ms);

// The name of a key's event (command/event_class.h).
struct KeyEventName {
  EventClass event_class;
  std::string_view name;
};
// Tells by an event that elements were removed, and removes an empty collection, of which another
// event tells.
void note_removal(Call& call, Collection* collection, const KeyEventName& event);

// Answers what the elements of a key take in memory, without their share of tables, estimated from
// `samples` of them, 0 for all. REQUIRES: storage::owns_elements(ref.type()).
size_t element_bytes(Call& call, const storage::Ref& ref, size_t samples);

// Answers the form of the collection at a key. REQUIRES: storage::owns_elements(ref.type()).
Form form_of(const storage::Ref& ref);

}  // namespace weir::server
