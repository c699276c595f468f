// The bound of the keys of a request (key-bytes-max), of those that it reads as of those that it
// writes: to look a key up takes time in proportion to its length, and so do the rules of users.
//
// The keyspace has the same bound for what commands make (storage/format/name_bound.h): members and
// fields, and keys that no row tells of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "server/command/command.h"

namespace weir::server {

// Tells whether all words of a request that may be keys are short enough. It looks at lengths only,
// and at those of no words that cannot be keys. REQUIRES: the arity fits.
inline bool are_short(const Command& command, Args args, int64_t bytes_max) {
  const KeyPositions& keys = command.keys;
  const bool has_one = keys.first == keys.last && keys.numkeys == 0 && command.more_keys == nullptr;
  const auto most = static_cast<size_t>(bytes_max);
  const Args may_be_keys = has_one ? args.subspan(static_cast<size_t>(keys.first), 1) : args;
  return std::all_of(may_be_keys.begin(), may_be_keys.end(),
                     [most](std::string_view word) { return word.size() <= most; });
}

// check_keys() for a request that has a longer word.
Result<void, std::string> check_keys_among(const Command& command, Args args, int64_t bytes_max);

// Tells whether all keys of a request are short enough; the error is a whole line. REQUIRES: the
// arity fits.
inline Result<void, std::string> check_keys(const Command& command, Args args, int64_t bytes_max) {
  if (are_short(command, args, bytes_max)) [[likely]]
    return {};
  return check_keys_among(command, args, bytes_max);
}

}  // namespace weir::server
