// Taking the lowest or the highest members out of a sorted set: what ZPOPMIN, ZMPOP and the forms
// that wait have in common.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/command/command.h"
#include "server/command/error_replied.h"

namespace weir::server {

struct Pop {
  enum class Reply {
    kFlat,   // member, score, member, score ...
    kPairs,  // [member, score] ...
    kKeyed,  // the key, and the pairs, scores as in kPairs: ZMPOP
    kOne,    // the key, a member, its score: BZPOPMIN
  };
  bool highest = false;
  int64_t count_max = 1;
  Reply reply = Reply::kFlat;
};

// Takes members out of the sorted set at a key and replies them. False if there is no such key, and
// nothing was replied; true also after replying that it holds another type.
bool try_pop(Call& call, std::string_view key, const Pop& pop);

// Does the same for the first of the keys that exists.
bool try_pop_first(Call& call, Args keys, const Pop& pop);

// The arguments "numkeys key [key ...] MIN|MAX [COUNT count]" from args[first] on: ZMPOP, BZMPOP,
// and with other words LMPOP and BLMPOP.
struct KeyedPop {
  Args keys;
  Pop pop;
};
struct PopWords {
  std::string_view lowest;
  std::string_view highest;
};
inline constexpr PopWords kMembersToPop = {"MIN", "MAX"};
inline constexpr PopWords kEndsToPop = {"LEFT", "RIGHT"};
Result<KeyedPop, ErrorReplied> keyed_pop_arguments(Call& call, size_t first, const PopWords& words);

}  // namespace weir::server
