// What a policy is for some keys: for one, or for all with a prefix. There may be millions, so each
// is records of its own, which leave memory as keys do.
//
// They lie in the database that no client can select (take/remembered.h), apart from requests that
// are remembered by a number that is no database's:
//
//     key     := 2^32(varint) set(varint) 0(u8) scope(u8) name      an override, found by its name
//              | 2^32(varint) set(varint) 1(u8) ordinal(varint)     the same, found by its number
//     value   := ordinal(varint) version(varint) kind(u8) limits    of the first
//              | scope(u8) name                                     of the second
//     scope   := 0 (a key) | 1 (a prefix)                           DO NOT CHANGE
//
// Kind and limits are as in a policy's record, which holds what is to be known of the set: its
// number, how many overrides it has, and how long its prefixes are (policies.h).
//
// Invariants
// 1. A request costs one look-up for its key, if any key has an override, and one for each length
//    of the prefixes, of which there are at most kPrefixLengthsMax.
// 2. The ordinals are 0 to count - 1: the last override takes the place of one that is erased. So a
//    walk downwards misses none that stays, and a set is dropped from its end, a slice at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/limit_text.h"
#include "base/result.h"
#include "server/limiter/policy/policy_kind.h"
#include "storage/format/codec.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

inline constexpr size_t kPrefixLengthsMax = 8;
inline constexpr size_t kOverrideNameBytesMax = 4096;

struct OverrideSet {
  uint64_t id = 0;                                          // 0: there has been no override
  uint64_t count = 0;                                       // of keys and prefixes
  uint64_t exact = 0;                                       // of keys
  std::vector<std::pair<uint64_t, uint64_t>> lengths = {};  // of prefixes, and how many; rising
};

struct OverrideScope {
  bool is_prefix = false;
  std::string_view name;
};

struct Override {
  uint64_t version = 0;
  PolicyKind kind = PolicyKind::kLimits;
  algorithms::ParsedLimits parsed = {};
};

void put_override_set(std::string* record, const OverrideSet& set);
OverrideSet read_override_set(storage::Reader* reader);

// Finds the override for a key: the key's own, or else that of the longest prefix.
std::optional<Override> find_override(storage::Keyspace& keys, const OverrideSet& set,
                                      const algorithms::Zones& zones, std::string_view key);

// The override of exactly this scope.
std::optional<Override> override_at(storage::Keyspace& keys, const OverrideSet& set,
                                    const algorithms::Zones& zones, const OverrideScope& scope);

// Puts an override or replaces it. The error is a whole line, and nothing has changed.
Result<void, std::string> put_override(storage::Keyspace& keys, OverrideSet* set,
                                       const OverrideScope& scope, const Override& override);
// Erases an override; false if there was none.
bool erase_override(storage::Keyspace& keys, OverrideSet* set, const OverrideScope& scope);

// Visits overrides, the newest first, from a cursor (0: from the newest) on; answers the cursor to
// go on from, 0 at the end.
uint64_t visit_overrides(
    storage::Keyspace& keys, const OverrideSet& set, const algorithms::Zones& zones,
    uint64_t cursor, size_t count,
    const std::function<void(const OverrideScope& scope, const Override& override)>& visit);

// Erases the records of the last `most` overrides of a set that has `count`; answers how many stay.
uint64_t erase_last_overrides(storage::Keyspace& keys, uint64_t set, uint64_t count, uint64_t most);

}  // namespace weir::server
