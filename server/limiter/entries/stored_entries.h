// A limit's entries as elements of its key: member id (8 bytes be), order at_ns, value permits
// (varint, zigzag). The list is opened when it is first asked for, and made with the first put.
//
// It must not outlive the command.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "algorithms/entries.h"
#include "server/command/command.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

// The member by which an id is stored: its 8 bytes, big-endian. DO NOT CHANGE: on disk.
using IdMember = std::array<char, 8>;
IdMember member_of_id(int64_t id);
// Answers the id. REQUIRES: the member has 8 bytes.
int64_t id_of_member(std::string_view member);
inline std::string_view view(const IdMember& member) { return {member.data(), member.size()}; }

// Answers the type of a limiter's record, by its lists and by whether it counts its changes.
inline storage::Type type_of_limiter(bool has_lists, bool counts_changes) {
  if (counts_changes) return storage::Type::kLimiterCharges;
  return has_lists ? storage::Type::kLimiterEntries : storage::Type::kLimiter;
}

class StoredEntries : public algorithms::Entries {
 public:
  // `id` is 0 if there is no list yet.
  StoredEntries(const Call& call, storage::ElementsId id)
      : work_(call.work()), keys_(&call.keys), database_(call.database), id_(id) {}

  // Answers the id of the list, which is made now if there is none.
  storage::ElementsId id();

  size_t size() const override;
  algorithms::LogEntry entry(size_t rank) const override;
  std::optional<algorithms::LogEntry> find(int64_t id) const override;
  size_t lower_bound(int64_t at_ns) const override;
  void put(const algorithms::LogEntry& entry) override;
  void erase(int64_t id) override;

 private:
  // The list; nothing if there is none, or if it cannot be read (the keyspace knows, and the
  // verdict is discarded).
  std::optional<storage::Elements>& list() const;

  WorkMeter& work_;
  storage::Keyspace* keys_;
  int database_;
  storage::ElementsId id_;
  mutable std::optional<storage::Elements> list_;
};

}  // namespace weir::server
