#include "server/limiter/entries/stored_entries.h"

#include <string>

#include "base/varint.h"
#include "storage/format/codec.h"
#include "storage/memtable/elements.h"

namespace weir::server {
namespace {

using algorithms::LogEntry;

LogEntry entry_of(const storage::Element& element) {
  const uint64_t coded = storage::Reader(element.value).varint();
  return {.id = id_of_member(element.member),
          .at_ns = storage::integer_of_order(element.order),
          .permits = from_zigzag(coded)};
}

}  // namespace

IdMember member_of_id(int64_t id) {
  IdMember member;
  const auto bits = static_cast<uint64_t>(id);
  for (size_t i = 0; i < member.size(); ++i) {
    member[i] = static_cast<char>(bits >> (56 - 8 * i) & 0xff);
  }
  return member;
}

int64_t id_of_member(std::string_view member) {
  uint64_t bits = 0;
  for (const char byte : member) bits = bits << 8 | static_cast<uint8_t>(byte);
  return static_cast<int64_t>(bits);
}

std::optional<storage::Elements>& StoredEntries::list() const {
  if (!list_ && id_ != 0) list_ = keys_->lists().open(database_, id_);
  return list_;
}

storage::ElementsId StoredEntries::id() {
  if (id_ == 0) id_ = keys_->lists().make(database_, storage::Layout::kScattered);
  return id_;
}

size_t StoredEntries::size() const {
  const auto& elements = list();
  return elements ? elements->size() : 0;
}

LogEntry StoredEntries::entry(size_t rank) const {
  work_.charge_entries(1);
  return entry_of(list()->at(rank));
}

std::optional<LogEntry> StoredEntries::find(int64_t id) const {
  const auto& elements = list();
  if (!elements) return std::nullopt;
  work_.charge_probes(1);
  const auto element = elements->find(view(member_of_id(id)));
  return element ? std::optional(entry_of(*element)) : std::nullopt;
}

size_t StoredEntries::lower_bound(int64_t at_ns) const {
  const auto& elements = list();
  work_.charge_probes(1);
  return elements ? elements->lower_bound(storage::order_of_integer(at_ns)) : 0;
}

void StoredEntries::put(const LogEntry& entry) {
  id();
  auto& elements = list();
  if (!elements) return;
  work_.charge_probes(1);
  std::string value;
  storage::put_varint(&value, to_zigzag(entry.permits));
  elements->put(view(member_of_id(entry.id)), storage::order_of_integer(entry.at_ns), value);
}

void StoredEntries::erase(int64_t id) {
  auto& elements = list();
  work_.charge_probes(1);
  if (elements) elements->erase(view(member_of_id(id)));
}

}  // namespace weir::server
