#include "server/types/collection.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/one_line.h"
#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/types/lookups.h"

namespace weir::server {
namespace {

constexpr size_t kShownBytes = 100;

storage::HeaderView header_at(const storage::Ref& ref) {
  storage::HeaderView header;
  WEIR_REQUIRE(storage::parse_header(ref.value(), &header));
  return header;
}

Form form_of(const storage::HeaderView& header) {
  return header.rest.empty() ? Form::kCompact : static_cast<Form>(header.rest[0]);
}

// What only damage leaves behind, or somebody who means harm: no command may rely on it, or hand it
// on.
ErrorReplied without_elements(storage::Keyspace* keys, std::string_view key) {
  keys->running().fail_to_read(storage::Status::corrupt("key \"" + one_line(key, kShownBytes) +
                                                        "\" has lost all of its elements"));
  return reading_failed();
}

}  // namespace

std::optional<storage::Element> Collection::find(std::string_view member) const {
  work_->charge_probes(1);
  return exists() ? elements_->find(member) : std::nullopt;
}

void Collection::walk_from(size_t rank, const storage::Elements::Visit& visit) const {
  if (exists()) work_->charge_entries(elements_->walk(rank, visit));
}

void Collection::walk_back_from(size_t rank, const storage::Elements::Visit& visit) const {
  if (exists()) work_->charge_entries(elements_->walk_back(rank, visit));
}

void Collection::erase_ranks(size_t first_rank, size_t count) {
  work_->charge_entries(count);
  elements_->erase_ranks(first_rank, count);
}

storage::Elements Collection::create_if_absent() {
  if (exists()) return *elements_;
  const auto layout =
      type_ == storage::Type::kList ? storage::Layout::kInSequence : storage::Layout::kScattered;
  elements_ = keys_->lists().open(database_, keys_->lists().make(database_, layout));
  storage::Ref ref = keys_->look_up(database_, key_);
  put_header(&ref, 0);
  return *elements_;
}

void Collection::make_large() {
  if (form_ == Form::kLarge) return;
  form_ = Form::kLarge;
  if (!exists()) return;
  storage::Ref ref = keys_->look_up(database_, key_);
  put_header(&ref, ref.expire_at_ms());
}

bool Collection::erase_if_empty() {
  if (!exists() || !elements_->empty()) return false;
  storage::Ref ref = keys_->look_up(database_, key_);
  keys_->erase(&ref);
  elements_.reset();
  form_ = Form::kCompact;
  return true;
}

void Collection::put_header(storage::Ref* ref, int64_t expire_at_ms) {
  const storage::ElementsId id = elements_->id();
  std::string payload;
  storage::append_list_ids(&payload, std::span(&id, 1));
  payload.push_back(static_cast<char>(form_));
  keys_->put(ref, type_, payload, expire_at_ms);
}

Result<Collection, ErrorReplied> collection_of(Call& call, const storage::Ref& ref,
                                               storage::Type type) {
  Collection collection(call, ref, type);
  if (!ref.exists()) return collection;
  if (ref.type() != type) return reply_error(call, kWrongType);
  const storage::HeaderView header = header_at(ref);
  collection.form_ = form_of(header);
  collection.elements_ = call.keys.lists().open(ref.database(), header.ids[0]);
  if (!collection.elements_) return reading_failed();
  if (collection.elements_->empty()) return without_elements(&call.keys, ref.key());
  return collection;
}

Result<Collection, ErrorReplied> read_collection(Call& call, std::string_view key,
                                                 storage::Type type) {
  return collection_of(call, read_key(call, key), type);
}

Result<Collection, ErrorReplied> write_collection(Call& call, std::string_view key,
                                                  storage::Type type) {
  return collection_of(call, call.look_up(key), type);
}

Collection replace_with_collection(Call& call, std::string_view key, storage::Type type) {
  Collection collection(call, call.look_up(key), type);
  collection.create_if_absent();
  return collection;
}

void replace_with_nothing(Call& call, std::string_view key) {
  storage::Ref old = call.look_up(key);
  if (!old.exists()) return;
  call.keys.erase(&old);
  call.notify(EventClass::kGeneric, "del", key);
}

void note_removal(Call& call, Collection* collection, const KeyEventName& event) {
  call.notify(event.event_class, event.name, collection->key());
  if (collection->erase_if_empty()) call.notify(EventClass::kGeneric, "del", collection->key());
}

Result<void, ErrorReplied> copy_collection(Call& call, const storage::Ref& from, storage::Ref* to,
                                           int64_t expire_at_ms) {
  const storage::Type type = from.type();
  const int database = from.database();
  const storage::HeaderView header = header_at(from);
  const std::string rest(header.rest);
  std::vector<storage::ElementsId> copies;
  for (const storage::ElementsId id : header.all()) {
    copies.push_back(call.keys.lists().make(to->database(), storage::layout_of(id)));
    if (!call.keys.lists().copy(database, id, to->database(), copies.back()))
      return reading_failed();
    const auto copy = call.keys.lists().open(to->database(), copies.back());
    if (!copy) return reading_failed();
    if (copy->empty() && !storage::is_limiter(type))
      return without_elements(&call.keys, from.key());
    call.work().charge_entries(copy->size());
  }
  std::string payload;
  storage::append_list_ids(&payload, copies);
  payload.append(rest);
  call.keys.put(to, type, payload, expire_at_ms);
  return {};
}

size_t element_bytes(Call& call, const storage::Ref& ref, size_t samples) {
  size_t bytes = 0;
  const storage::HeaderView header = header_at(ref);
  for (const storage::ElementsId id : header.all()) {
    const auto list = call.keys.lists().open(ref.database(), id);
    if (!list || list->empty()) continue;
    const size_t looks = samples == 0 ? list->size() : std::min(samples, list->size());
    size_t seen_bytes = 0, seen = 0;
    call.work().charge_entries(looks);
    list->walk(0, [&](const storage::Element& element) {
      seen_bytes += storage::kEntryHeadBytes + element.member.size() + storage::kOrderBytes +
                    element.value.size();
      return ++seen < looks;
    });
    bytes += seen_bytes * list->size() / seen;
  }
  return bytes;
}

Form form_of(const storage::Ref& ref) { return form_of(header_at(ref)); }

}  // namespace weir::server
