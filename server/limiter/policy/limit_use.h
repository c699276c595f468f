// What the words of a request do with limits, for users who may not do all of it.
//
// It may take too much for a word with a meaning (an ID called FORCE), never too little.
#pragma once

#include "server/command/command.h"

namespace weir::server {

// Adds the name of a policy among the arguments; one that is too long for a name names none.
void add_policy_use(Args args, size_t position, LimitUse* use);

// Adds what the words from `first` on do: limits, policies, options. `options` are those that the
// command takes (request.h).
void add_limit_use(Args args, size_t first, uint32_t options, LimitUse* use);

// Adds that a dialect writes its rate, and whether the number at `cost`, if it is there, gives
// back.
void add_dialect_use(Args args, size_t cost, LimitUse* use);

}  // namespace weir::server
