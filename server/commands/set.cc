// Sets, one at a time: SADD, SREM, SISMEMBER, SMISMEMBER, SCARD, SMOVE, SPOP, SRANDMEMBER, SSCAN.
#include "server/types/set.h"

#include <string>
#include <vector>

#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/commands/command_lists.h"
#include "server/types/random_picks.h"
#include "server/types/scan.h"

namespace weir::server {
namespace {

using storage::Element;
using storage::Type;

Result<Collection, ErrorReplied> read_set(Call& call) {
  return read_collection(call, call.args[1], Type::kSet);
}

Result<Collection, ErrorReplied> write_set(Call& call, std::string_view key) {
  return write_collection(call, key, Type::kSet);
}

constexpr KeyEventName kRemoved = {EventClass::kSet, "srem"};
constexpr KeyEventName kPopped = {EventClass::kSet, "spop"};

void sadd(Call& call) {
  auto set = write_set(call, call.args[1]);
  if (!set) return;
  int64_t added = 0;
  for (const std::string_view member : call.args.subspan(2)) added += add_member(&*set, member);
  if (added > 0) call.notify(EventClass::kSet, "sadd", call.args[1]);
  call.reply.integer(added);
}

void srem(Call& call) {
  auto set = write_set(call, call.args[1]);
  if (!set) return;
  if (!set->exists()) return call.reply.integer(0);
  int64_t removed = 0;
  for (const std::string_view member : call.args.subspan(2))
    removed += set->elements().erase(member);
  if (removed > 0) note_removal(call, &*set, kRemoved);
  call.reply.integer(removed);
}

void sismember(Call& call) {
  if (const auto set = read_set(call)) call.reply.integer(set->find(call.args[2]) ? 1 : 0);
}

void smismember(Call& call) {
  const auto set = read_set(call);
  if (!set) return;
  call.reply.array(static_cast<int64_t>(call.args.size()) - 2);
  for (const std::string_view member : call.args.subspan(2))
    call.reply.integer(set->find(member) ? 1 : 0);
}

void scard(Call& call) {
  if (const auto set = read_set(call)) call.reply.integer(static_cast<int64_t>(set->size()));
}

// An absent source is no error even if the destination is not a set.
void smove(Call& call) {
  storage::Ref source_ref = call.look_up(call.args[1]);
  if (!source_ref.exists()) return call.reply.integer(0);
  auto source = collection_of(call, source_ref, Type::kSet);
  if (!source) return;
  auto target = write_set(call, call.args[2]);
  if (!target) return;
  const std::string_view member = call.args[3];
  const bool moved = source->find(member).has_value();
  if (moved && call.args[1] != call.args[2]) {
    source->elements().erase(member);
    note_removal(call, &*source, kRemoved);
    if (add_member(&*target, member)) call.notify(EventClass::kSet, "sadd", call.args[2]);
  }
  call.reply.integer(moved ? 1 : 0);
}

// Replies random members and removes them.
void pop_some(Call& call, Collection* set, int64_t count) {
  std::vector<std::string> members;
  pick_some(call, *set, count,
            [&members](const Element& element) { members.emplace_back(element.member); });
  call.reply.set(static_cast<int64_t>(members.size()));
  call.work().charge_probes(members.size());
  for (const std::string& member : members) {
    call.reply.bulk(member);
    set->elements().erase(member);
  }
  if (!members.empty()) note_removal(call, set, kPopped);
}

void spop_count(Call& call) {
  if (call.args.size() > 3) return call.reply.error(kSyntaxError);
  const auto count = positive_argument(call, call.args[2]);
  if (!count) return;
  auto set = write_set(call, call.args[1]);
  if (set) pop_some(call, &*set, *count);
}

void spop(Call& call) {
  if (call.args.size() > 2) return spop_count(call);
  auto set = write_set(call, call.args[1]);
  if (!set) return;
  if (!set->exists()) return call.reply.null();
  const std::string member(pick(call, *set).member);
  set->elements().erase(member);
  note_removal(call, &*set, kPopped);
  call.reply.bulk(member);
}

void srandmember_count(Call& call) {
  if (call.args.size() > 3) return call.reply.error(kSyntaxError);
  const auto count = count_argument(call, call.args[2]);
  if (!count) return;
  const auto set = read_set(call);
  if (!set) return;
  const auto picks = picks_of(call, *set, *count);
  if (!picks) return;
  call.reply.array(static_cast<int64_t>(*picks));
  pick_some(call, *set, *count,
            [&call](const Element& element) { call.reply.bulk(element.member); });
}

void srandmember(Call& call) {
  if (call.args.size() > 2) return srandmember_count(call);
  const auto set = read_set(call);
  if (!set) return;
  set->exists() ? call.reply.bulk(pick(call, *set).member) : call.reply.null();
}

void sscan(Call& call) {
  scan_collection(call, Type::kSet,
                  [](const Element& element, Bulks* page) { page->add(element.member); });
}

constexpr Command kSetCommands[] = {
    {.name = "sadd",
     .arity = -3,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kInserts},
     .group = "set",
     .usage = "key member [member ...]",
     .summary = "Adds members; answers how many of them are new.",
     .since = "1.0.0",
     .run = sadd},
    {.name = "srem",
     .arity = -3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kDeletes},
     .group = "set",
     .usage = "key member [member ...]",
     .summary = "Removes members; answers how many there were.",
     .since = "1.0.0",
     .run = srem},
    {.name = "sismember",
     .arity = 3,
     .flags = kReads | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kLooks},
     .group = "set",
     .usage = "key member",
     .summary = "Answers whether something is a member.",
     .since = "1.0.0",
     .run = sismember},
    {.name = "smismember",
     .arity = -3,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "set",
     .usage = "key member [member ...]",
     .summary = "Answers of several things whether they are members.",
     .since = "6.2.0",
     .run = smismember},
    {.name = "scard",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kLooks},
     .group = "set",
     .usage = "key",
     .summary = "Answers how many members there are.",
     .since = "1.0.0",
     .run = scard},
    {.name = "smove",
     .arity = 4,
     .flags = kWrites | kFast,
     .keys = {1, 2, 1, 0, KeyUse::kTakes, KeyUse::kInserts},
     .group = "set",
     .usage = "source destination member",
     .summary = "Moves a member from one set to another.",
     .since = "1.0.0",
     .run = smove},
    {.name = "spop",
     .arity = -2,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kTakes},
     .group = "set",
     .usage = "key [count]",
     .summary = "Removes random members and answers them.",
     .since = "1.0.0",
     .tips = "nondeterministic_output",
     .run = spop},
    {.name = "srandmember",
     .arity = -2,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "set",
     .usage = "key [count]",
     .summary = "Answers random members, different ones unless the count is negative.",
     .since = "1.0.0",
     .tips = "nondeterministic_output",
     .run = srandmember},
    {.name = "sscan",
     .arity = -3,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "set",
     .usage = "key cursor [MATCH pattern] [COUNT count]",
     .summary = "Answers some members and the cursor to go on from.",
     .since = "2.8.0",
     .tips = "nondeterministic_output",
     .run = sscan},
};

}  // namespace

Commands set_commands() { return kSetCommands; }

}  // namespace weir::server
