// Lists, changed in place: LPUSH, RPUSH, LPUSHX, RPUSHX, LSET, LINSERT, LREM, LTRIM. The expiry
// stays as it was. Commands that take elements out to answer them are in list_pop.cc.
#include "server/types/list.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/commands/command_lists.h"

namespace weir::server {
namespace {

using storage::Element;

Result<Collection, ErrorReplied> write_list(Call& call) {
  return write_collection(call, call.args[1], storage::Type::kList);
}

void reply_size(Call& call, const Collection& list) {
  call.reply.integer(static_cast<int64_t>(list.size()));
}

void push_all(Call& call, End end, bool only_if_exists) {
  auto list = write_list(call);
  if (!list) return;
  if (only_if_exists && !list->exists()) return call.reply.integer(0);
  for (const std::string_view value : call.args.subspan(2)) push(&*list, end, value);
  call.notify(EventClass::kList, end == End::kLeft ? "lpush" : "rpush", call.args[1]);
  reply_size(call, *list);
}

void lpush(Call& call) { push_all(call, End::kLeft, false); }
void rpush(Call& call) { push_all(call, End::kRight, false); }
void lpushx(Call& call) { push_all(call, End::kLeft, true); }
void rpushx(Call& call) { push_all(call, End::kRight, true); }

// The key's type is checked before the index is read, as in Redis.
void lset(Call& call) {
  auto list = write_list(call);
  if (!list) return;
  if (!list->exists()) return call.reply.error(kNoSuchKeyError);
  const auto index = integer_argument(call, call.args[2]);
  if (!index) return;
  const auto rank = rank_of_index(*list, *index);
  if (!rank) return call.reply.error("ERR index out of range");
  const Element old = list->elements().at(*rank);
  list->elements().put(old.member, old.order, call.args[3]);
  call.notify(EventClass::kList, "lset", call.args[1]);
  call.reply.status("OK");
}

std::optional<size_t> find_value(const Collection& list, std::string_view value) {
  size_t rank = 0;
  bool found = false;
  list.walk([&](const Element& element) {
    found = element.value == value;
    if (!found) ++rank;
    return !found;
  });
  return found ? std::optional(rank) : std::nullopt;
}

void linsert(Call& call) {
  const bool after = equals_ignoring_case(call.args[2], "AFTER");
  if (!after && !equals_ignoring_case(call.args[2], "BEFORE"))
    return call.reply.error(kSyntaxError);
  auto list = write_list(call);
  if (!list) return;
  if (!list->exists()) return call.reply.integer(0);
  const auto rank = find_value(*list, call.args[3]);
  if (!rank) return call.reply.integer(-1);
  insert_at(&*list, *rank + (after ? 1 : 0), call.args[4]);
  call.notify(EventClass::kList, "linsert", call.args[1]);
  reply_size(call, *list);
}

// Answers at most `most` elements with a value, from the front or from the back.
std::vector<std::string> members_with(const Collection& list, std::string_view value,
                                      bool from_back, uint64_t most) {
  std::vector<std::string> members;
  const auto visit = [&](const Element& element) {
    if (element.value == value) members.emplace_back(element.member);
    return members.size() < most;
  };
  if (from_back) {
    list.walk_back_from(list.size(), visit);
  } else {
    list.walk(visit);
  }
  return members;
}

void lrem(Call& call) {
  const auto count = integer_argument(call, call.args[2]);
  if (!count) return;
  auto list = write_list(call);
  if (!list) return;
  if (!list->exists()) return call.reply.integer(0);
  const uint64_t asked = *count < 0 ? 0 - static_cast<uint64_t>(*count) : *count;
  const uint64_t most = asked == 0 ? UINT64_MAX : asked;
  const auto members = members_with(*list, call.args[3], *count < 0, most);
  call.work().charge_probes(members.size());
  for (const std::string& member : members) list->elements().erase(member);
  if (!members.empty()) note_removal(call, &*list, {EventClass::kList, "lrem"});
  call.reply.integer(static_cast<int64_t>(members.size()));
}

void ltrim(Call& call) {
  const auto first = integer_argument(call, call.args[2]);
  if (!first) return;
  const auto last = integer_argument(call, call.args[3]);
  if (!last) return;
  auto list = write_list(call);
  if (!list) return;
  if (!list->exists()) return call.reply.status("OK");
  const Stretch kept = stretch_of(*list, {*first, *last});
  if (kept.count == 0) {
    storage::Ref ref = call.look_up(call.args[1]);
    call.keys.erase(&ref);
    call.notify(EventClass::kList, "ltrim", call.args[1]);
    call.notify(EventClass::kGeneric, "del", call.args[1]);
    return call.reply.status("OK");
  }
  if (kept.count == list->size()) {  // sessions that watch the key are told all the same
    storage::Ref ref = call.look_up(call.args[1]);
    call.keys.set_expiry(&ref, ref.expire_at_ms());
  }
  const size_t end = kept.first + kept.count;
  list->erase_ranks(end, list->size() - end);
  list->erase_ranks(0, kept.first);
  call.notify(EventClass::kList, "ltrim", call.args[1]);
  call.reply.status("OK");
}

constexpr uint32_t kPushes = kWrites | kDenyOom | kFast;

// Every row but its name, arity, flags, usage, summary, version and function.
constexpr Command list_row(Command command) {
  if (command.keys.first == 0) command.keys = {1, 1, 1};
  command.group = "list";
  return command;
}

constexpr Command kListCommands[] = {
    list_row({.name = "lpush",
              .arity = -3,
              .flags = kPushes,
              .keys = {1, 1, 1, 0, KeyUse::kInserts},
              .usage = "key element [element ...]",
              .summary = "Puts elements in front of a list, one after the other.",
              .since = "1.0.0",
              .run = lpush}),
    list_row({.name = "rpush",
              .arity = -3,
              .flags = kPushes,
              .keys = {1, 1, 1, 0, KeyUse::kInserts},
              .usage = "key element [element ...]",
              .summary = "Puts elements at the end of a list.",
              .since = "1.0.0",
              .run = rpush}),
    list_row({.name = "lpushx",
              .arity = -3,
              .flags = kPushes,
              .keys = {1, 1, 1, 0, KeyUse::kInserts},
              .usage = "key element [element ...]",
              .summary = "Puts elements in front of a list that exists.",
              .since = "2.2.0",
              .run = lpushx}),
    list_row({.name = "rpushx",
              .arity = -3,
              .flags = kPushes,
              .keys = {1, 1, 1, 0, KeyUse::kInserts},
              .usage = "key element [element ...]",
              .summary = "Puts elements at the end of a list that exists.",
              .since = "2.2.0",
              .run = rpushx}),
    list_row({.name = "lset",
              .arity = 4,
              .flags = kWrites | kDenyOom,
              .keys = {1, 1, 1, 0, KeyUse::kUpdates},
              .usage = "key index element",
              .summary = "Replaces the element at an index.",
              .since = "1.0.0",
              .run = lset}),
    list_row({.name = "linsert",
              .arity = 5,
              .flags = kWrites | kDenyOom,
              .keys = {1, 1, 1, 0, KeyUse::kInserts},
              .usage = "key <BEFORE | AFTER> pivot element",
              .summary = "Puts an element beside the first one with a value.",
              .since = "2.2.0",
              .run = linsert}),
    list_row(
        {.name = "lrem",
         .arity = 4,
         .flags = kWrites,
         .keys = {1, 1, 1, 0, KeyUse::kDeletes},
         .usage = "key count element",
         .summary = "Removes elements with a value: all, or so many from the front or the back.",
         .since = "1.0.0",
         .run = lrem}),
    list_row({.name = "ltrim",
              .arity = 4,
              .flags = kWrites,
              .keys = {1, 1, 1, 0, KeyUse::kDeletes},
              .usage = "key start stop",
              .summary = "Removes what does not stand between two indices.",
              .since = "1.0.0",
              .run = ltrim}),
};

}  // namespace

Commands list_commands() { return kListCommands; }

}  // namespace weir::server
