#include "server/commands/zset_pop.h"

#include <algorithm>

#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/commands/command_lists.h"
#include "server/types/zset.h"

namespace weir::server {
namespace {

void pop_members(Call& call, Collection* zset, const Pop& pop) {
  const size_t count = std::min(zset->size(), static_cast<size_t>(pop.count_max));
  const bool in_pairs = pop.reply == Pop::Reply::kPairs || pop.reply == Pop::Reply::kKeyed;
  const MembersReply members = MembersReply(&call.reply, true).in_pairs(in_pairs);
  if (pop.reply != Pop::Reply::kOne) members.begin(count);
  if (count == 0) return;
  const size_t last = zset->size() - 1;
  visit_span(
      *zset, {.first = pop.highest ? last : 0, .count = count, .downwards = pop.highest},
      [&](const storage::Element& element) { members.add(element.member, score_of(element)); });
  zset->erase_ranks(pop.highest ? zset->size() - count : 0, count);
  const std::string_view event = pop.highest ? "zpopmax" : "zpopmin";
  note_removal(call, zset, {EventClass::kZset, event});
}

// As in Redis, one error stands for everything that can be wrong with the number.
Result<int64_t, ErrorReplied> count_above_zero(Call& call, std::string_view text,
                                               std::string_view error) {
  const auto count = resp::parse_int64(text);
  if (count && *count > 0) return *count;
  return reply_error(call, error);
}

void pop_side(Call& call, bool highest) {
  if (call.args.size() > 3) return call.reply.error(kSyntaxError);
  Pop pop{.highest = highest};
  if (call.args.size() == 3) {
    const auto count = positive_argument(call, call.args[2]);
    if (!count) return;
    pop.count_max = *count;
    if (call.reply.protocol() >= 3) pop.reply = Pop::Reply::kPairs;
  }
  if (!try_pop(call, call.args[1], pop)) call.reply.array(0);
}

void zpopmin(Call& call) { pop_side(call, false); }

void zpopmax(Call& call) { pop_side(call, true); }

void zmpop(Call& call) {
  const auto arguments = keyed_pop_arguments(call, 1, kMembersToPop);
  if (!arguments) return;
  if (!try_pop_first(call, arguments->keys, arguments->pop)) call.reply.null_array();
}

constexpr Command kZsetPopCommands[] = {
    {.name = "zpopmin",
     .arity = -2,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kTakes},
     .group = "sorted-set",
     .usage = "key [count]",
     .summary = "Takes the members with the lowest scores out of a sorted set.",
     .since = "5.0.0",
     .run = zpopmin},
    {.name = "zpopmax",
     .arity = -2,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kTakes},
     .group = "sorted-set",
     .usage = "key [count]",
     .summary = "Takes the members with the highest scores out of a sorted set.",
     .since = "5.0.0",
     .run = zpopmax},
    {.name = "zmpop",
     .arity = -4,
     .flags = kWrites | kMovableKeys,
     .keys = {.numkeys = 1, .use = KeyUse::kTakes},
     .group = "sorted-set",
     .usage = "numkeys key [key ...] <MIN | MAX> [COUNT count]",
     .summary = "Takes members out of the first of several sorted sets that exists.",
     .since = "7.0.0",
     .run = zmpop},
};

}  // namespace

bool try_pop(Call& call, std::string_view key, const Pop& pop) {
  const storage::Ref ref = call.look_up(key);
  if (!ref.exists()) return false;
  auto zset = collection_of(call, ref, storage::Type::kZset);
  if (!zset) return true;
  const bool keyed = pop.reply == Pop::Reply::kKeyed;
  const bool one = pop.reply == Pop::Reply::kOne;
  if (keyed || one) {
    call.reply.array(keyed ? 2 : 3);
    call.reply.bulk(key);
  }
  pop_members(call, &*zset, pop);
  return true;
}

bool try_pop_first(Call& call, Args keys, const Pop& pop) {
  return std::any_of(keys.begin(), keys.end(),
                     [&](std::string_view key) { return try_pop(call, key, pop); });
}

Result<KeyedPop, ErrorReplied> keyed_pop_arguments(Call& call, size_t first, const PopWords& ends) {
  const auto keys =
      count_above_zero(call, call.args[first], "ERR numkeys should be greater than 0");
  if (!keys) return keys.error();
  const Args rest = call.args.subspan(first + 1);
  if (static_cast<uint64_t>(*keys) >= rest.size()) return reply_error(call, kSyntaxError);
  const auto key_count = static_cast<size_t>(*keys);
  KeyedPop result{.keys = rest.first(key_count), .pop = {.reply = Pop::Reply::kKeyed}};
  const Args words = rest.subspan(key_count);
  result.pop.highest = equals_ignoring_case(words[0], ends.highest);
  if (!result.pop.highest && !equals_ignoring_case(words[0], ends.lowest)) {
    return reply_error(call, kSyntaxError);
  }
  if (words.size() == 1) return result;
  if (words.size() < 3 || !equals_ignoring_case(words[1], "COUNT"))
    return reply_error(call, kSyntaxError);
  const auto count = count_above_zero(call, words[2], "ERR count should be greater than 0");
  if (!count) return count.error();
  if (words.size() > 3) return reply_error(call, kSyntaxError);
  result.pop.count_max = *count;
  return result;
}

Commands zset_pop_commands() { return kZsetPopCommands; }

}  // namespace weir::server
