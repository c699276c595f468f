// Taking elements out of lists: what LPOP, LMPOP, LMOVE and the forms that wait have in common.
//
// A function that answers a bool answers false if there is no such key; it has then replied
// nothing. It answers true also after replying that a key holds another type.
#pragma once

#include <string_view>

#include "server/command/command.h"
#include "server/command/error_replied.h"
#include "server/commands/zset_pop.h"
#include "server/types/list.h"

namespace weir::server {

// Replies the key and the element that was taken out: BLPOP.
bool try_pop_with_key(Call& call, std::string_view key, End end);

// Replies the key and an array of elements; `highest` is the right end: LMPOP.
bool try_pop_several(Call& call, std::string_view key, const Pop& pop);

struct ListMove {
  std::string_view source;
  std::string_view target;
  End from = End::kRight;
  End to = End::kLeft;
};
// Replies the element. The keys may be the same one.
bool try_move(Call& call, const ListMove& move);

// Reads "source target LEFT|RIGHT LEFT|RIGHT" from args[1] on.
Result<ListMove, ErrorReplied> move_arguments(Call& call);

}  // namespace weir::server
