#include "server/commands/list_pop.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/command/command_errors.h"
#include "server/command/event_class.h"
#include "server/commands/command_lists.h"
#include "server/core/run/executor.h"

namespace weir::server {
namespace {

std::optional<End> end_of(std::string_view word) {
  if (equals_ignoring_case(word, "LEFT")) return End::kLeft;
  if (equals_ignoring_case(word, "RIGHT")) return End::kRight;
  return std::nullopt;
}

void note_pop(Call& call, Collection* list, End end) {
  note_removal(call, list, {EventClass::kList, end == End::kLeft ? "lpop" : "rpop"});
}

void note_push(Call& call, std::string_view key, End end) {
  call.notify(EventClass::kList, end == End::kLeft ? "lpush" : "rpush", key);
}

// Replies an array of the elements that were taken out, from the end inwards.
void pop_some(Call& call, Collection* list, End end, uint64_t count_max) {
  const size_t count = std::min<uint64_t>(list->size(), count_max);
  call.reply.array(static_cast<int64_t>(count));
  if (count == 0) return;
  storage::Elements elements = list->elements();
  const auto visit = [&call, left = count](const storage::Element& element) mutable {
    call.reply.bulk(element.value);
    return --left > 0;
  };
  end == End::kLeft ? elements.walk(0, visit) : elements.walk_back(elements.size() - 1, visit);
  elements.erase_ranks(end == End::kLeft ? 0 : elements.size() - count, count);
  note_pop(call, list, end);
}

void pop_count(Call& call, End end) {
  if (call.args.size() > 3) return call.reply.error(arity_error(call.command));
  const auto count = positive_argument(call, call.args[2]);
  if (!count) return;
  auto list = write_collection(call, call.args[1], storage::Type::kList);
  if (!list) return;
  if (!list->exists()) return call.reply.null_array();
  pop_some(call, &*list, end, static_cast<uint64_t>(*count));
}

void pop_end(Call& call, End end) {
  if (call.args.size() > 2) return pop_count(call, end);
  auto list = write_collection(call, call.args[1], storage::Type::kList);
  if (!list) return;
  if (!list->exists()) return call.reply.null();
  call.reply.bulk(pop(&*list, end));
  note_pop(call, &*list, end);
}

void lpop(Call& call) { pop_end(call, End::kLeft); }
void rpop(Call& call) { pop_end(call, End::kRight); }

void lmpop(Call& call) {
  const auto arguments = keyed_pop_arguments(call, 1, kEndsToPop);
  if (!arguments) return;
  const bool popped =
      std::any_of(arguments->keys.begin(), arguments->keys.end(),
                  [&](std::string_view key) { return try_pop_several(call, key, arguments->pop); });
  if (!popped) call.reply.null_array();
}

void lmove(Call& call) {
  const auto move = move_arguments(call);
  if (move && !try_move(call, *move)) call.reply.null();
}

void rpoplpush(Call& call) {
  if (!try_move(call, {.source = call.args[1], .target = call.args[2]})) call.reply.null();
}

constexpr Command kListPopCommands[] = {
    {.name = "lpop",
     .arity = -2,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kTakes},
     .group = "list",
     .usage = "key [count]",
     .summary = "Takes elements out at the front of a list.",
     .since = "1.0.0",
     .run = lpop},
    {.name = "rpop",
     .arity = -2,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kTakes},
     .group = "list",
     .usage = "key [count]",
     .summary = "Takes elements out at the back of a list.",
     .since = "1.0.0",
     .run = rpop},
    {.name = "lmpop",
     .arity = -4,
     .flags = kWrites | kMovableKeys,
     .keys = {.numkeys = 1, .use = KeyUse::kTakes},
     .group = "list",
     .usage = "numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
     .summary = "Takes elements out of the first of several lists that exists.",
     .since = "7.0.0",
     .run = lmpop},
    {.name = "lmove",
     .arity = 5,
     .flags = kWrites | kDenyOom,
     .keys = {1, 2, 1, 0, KeyUse::kTakes, KeyUse::kInserts},
     .group = "list",
     .usage = "source destination <LEFT | RIGHT> <LEFT | RIGHT>",
     .summary = "Moves an element from an end of a list to an end of another.",
     .since = "6.2.0",
     .run = lmove},
    {.name = "rpoplpush",
     .arity = 3,
     .flags = kWrites | kDenyOom,
     .keys = {1, 2, 1, 0, KeyUse::kTakes, KeyUse::kInserts},
     .group = "list",
     .usage = "source destination",
     .summary = "Moves the last element of a list to the front of another.",
     .since = "1.2.0",
     .run = rpoplpush},
};

}  // namespace

bool try_pop_with_key(Call& call, std::string_view key, End end) {
  auto list = write_collection(call, key, storage::Type::kList);
  if (!list) return true;
  if (!list->exists()) return false;
  call.reply.array(2);
  call.reply.bulk(key);
  call.reply.bulk(pop(&*list, end));
  note_pop(call, &*list, end);
  return true;
}

bool try_pop_several(Call& call, std::string_view key, const Pop& pop) {
  auto list = write_collection(call, key, storage::Type::kList);
  if (!list) return true;
  if (!list->exists()) return false;
  call.reply.array(2);
  call.reply.bulk(key);
  pop_some(call, &*list, pop.highest ? End::kRight : End::kLeft,
           static_cast<uint64_t>(pop.count_max));
  return true;
}

bool try_move(Call& call, const ListMove& move) {
  auto source = write_collection(call, move.source, storage::Type::kList);
  if (!source) return true;
  if (!source->exists()) return false;
  if (move.source == move.target) {
    const std::string value = pop(&*source, move.from);
    push(&*source, move.to, value);
    note_push(call, move.target, move.to);
    note_pop(call, &*source, move.from);
    call.reply.bulk(value);
    return true;
  }
  auto target = write_collection(call, move.target, storage::Type::kList);
  if (!target) return true;
  const std::string value = pop(&*source, move.from);
  push(&*target, move.to, value);
  note_push(call, move.target, move.to);
  note_pop(call, &*source, move.from);
  call.reply.bulk(value);
  return true;
}

Result<ListMove, ErrorReplied> move_arguments(Call& call) {
  const auto from = end_of(call.args[3]);
  const auto to = end_of(call.args[4]);
  if (from && to) {
    return ListMove{.source = call.args[1], .target = call.args[2], .from = *from, .to = *to};
  }
  return reply_error(call, kSyntaxError);
}

Commands list_pop_commands() { return kListPopCommands; }

}  // namespace weir::server
