// What a command's row says, in the words of COMMAND: flags, ACL categories, where the keys are.
//
// Pure functions of a row; categories and flags are written down nowhere else.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "resp/numbers.h"
#include "server/command/command.h"

namespace weir::server {

// Answers "write", "readonly", "fast" ..., in Redis' order.
std::vector<std::string_view> flag_names(const Command& command);

// Answers "keyspace", "write", "fast" ..., without '@', in Redis' order. Limiters are in
// "ratelimit", "ratelimitadmin".
std::vector<std::string_view> acl_categories(const Command& command);
// Answers all categories, Redis' own in Redis' order and then weir's.
std::span<const std::string_view> all_acl_categories();

// Answers "nondeterministic_output", "request_policy:all_shards" ...
std::vector<std::string_view> tips(const Command& command);

// Answers "string", "generic" ..., as COMMAND DOCS has them.
std::string_view group_name(const Command& command);

inline bool has_keys(const Command& command) {
  return (command.keys.first > 0 || command.keys.numkeys > 0) && command.keys.use != KeyUse::kNoKey;
}

// Calls visit(position) for each key whose place among the arguments the row tells: all but those
// that options name.
template <typename Visit>
void each_placed_key(const Command& command, Args args, const Visit& visit) {
  const int count = static_cast<int>(args.size());
  const auto walk = [&](int first, int last, int step) {
    for (int i = first; i <= last && i < count; i += step) visit(static_cast<size_t>(i));
  };
  if (command.keys.first > 0) {
    const int last = command.keys.last < 0 ? count + command.keys.last : command.keys.last;
    walk(command.keys.first, last, command.keys.step);
  }
  const int numkeys = command.keys.numkeys;
  if (numkeys > 0 && numkeys < count) {
    const auto number = resp::parse_int64(args[static_cast<size_t>(numkeys)]);
    // If they cannot all be keys, the command will refuse the request.
    const bool fits = number && *number > 0 && *number <= count - numkeys - 1;
    if (fits) walk(numkeys + 1, numkeys + static_cast<int>(*number), 1);
  }
}

// Finds the keys among the arguments of a request whose arity fits, and what the command does with
// each.
std::vector<KeyReference> find_keys(const Command& command, Args args);
std::vector<std::string_view> keys_of(const Command& command, Args args);

// Answer the uses of a row's first key and of its other keys, with kAsFlags resolved.
KeyUse first_use(const Command& command);
KeyUse others_use(const Command& command);
// Answers "RW", "access", "update" ..., as COMMAND has them.
std::vector<std::string_view> use_names(KeyUse use);
// Tell which rights a use asks for: to read what the key holds, to change it.
bool needs_reading(KeyUse use);
bool needs_writing(KeyUse use);

}  // namespace weir::server
