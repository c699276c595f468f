// Sets, several at a time: SMEMBERS, SINTER, SINTERCARD, SUNION, SDIFF and the commands that store
// their results.
#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/string_hash.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/types/set.h"

namespace weir::server {
namespace {

using storage::Element;
using storage::Type;

using Sets = std::vector<Collection>;
using Visit = std::function<bool(std::string_view member)>;

// Reads the sets; an absent key is an empty set.
Result<Sets, ErrorReplied> read_sets(Call& call, Args keys) {
  Sets sets;
  for (const std::string_view key : keys) {
    auto set = read_collection(call, key, Type::kSet);
    if (!set) return set.error();
    sets.push_back(*set);
  }
  return sets;
}

void walk(const Collection& set, const Visit& visit) {
  set.walk([&visit](const Element& element) { return visit(element.member); });
}

// Walks the smallest set and looks its members up in the others.
void intersect(Sets sets, const Visit& visit) {
  std::stable_sort(sets.begin(), sets.end(),
                   [](const Collection& a, const Collection& b) { return a.size() < b.size(); });
  walk(sets[0], [&](std::string_view member) {
    const bool in_all = std::all_of(sets.begin() + 1, sets.end(), [member](const Collection& set) {
      return set.find(member).has_value();
    });
    return !in_all || visit(member);
  });
}

void unite(Sets sets, const Visit& visit) {
  ViewSet seen;
  for (const Collection& set : sets) {
    walk(set, [&](std::string_view member) {
      return sets.size() > 1 && !seen.insert(member).second ? true : visit(member);
    });
  }
}

void subtract(Sets sets, const Visit& visit) {
  walk(sets[0], [&](std::string_view member) {
    const bool in_another =
        std::any_of(sets.begin() + 1, sets.end(),
                    [member](const Collection& set) { return set.find(member).has_value(); });
    return in_another || visit(member);
  });
}

using SetOperation = void (*)(Sets sets, const Visit& visit);

// Redis makes a set of the result first, and a set of integers is in numeric order.
void sort_integers(std::vector<std::string_view>* members) {
  std::vector<std::pair<int64_t, std::string_view>> numbers;
  for (const std::string_view member : *members) {
    const auto number = resp::parse_int64(member);
    if (!number) return;
    numbers.emplace_back(*number, member);
  }
  std::sort(numbers.begin(), numbers.end());
  std::transform(numbers.begin(), numbers.end(), members->begin(),
                 [](const auto& number) { return number.second; });
}

std::vector<std::string_view> result_of(const Sets& sets, SetOperation operation) {
  std::vector<std::string_view> members;
  operation(sets, [&members](std::string_view member) {
    members.push_back(member);
    return true;
  });
  return members;
}

void reply_result(Call& call, SetOperation operation) {
  const auto sets = read_sets(call, call.args.subspan(1));
  if (!sets) return;
  std::vector<std::string_view> members = result_of(*sets, operation);
  if (sets->size() > 1) sort_integers(&members);
  call.work().charge_probes(members.size());
  call.reply.set(static_cast<int64_t>(members.size()));
  for (const std::string_view member : members) call.reply.bulk(member);
}

// The destination may be one of the sources: their lists stay until the command ends.
void store_result(Call& call, SetOperation operation) {
  const auto sets = read_sets(call, call.args.subspan(2));
  if (!sets) return;
  const std::vector<std::string_view> members = result_of(*sets, operation);
  if (members.empty()) {  // if the key was absent, it has not changed
    replace_with_nothing(call, call.args[1]);
    return call.reply.integer(0);
  }
  Collection target = replace_with_collection(call, call.args[1], Type::kSet);
  call.work().charge_probes(members.size());
  for (const std::string_view member : members) add_member(&target, member);
  call.notify(EventClass::kSet, call.command.name, call.args[1]);
  call.reply.integer(static_cast<int64_t>(members.size()));
}

void sinter(Call& call) { reply_result(call, intersect); }
void sunion(Call& call) { reply_result(call, unite); }
void sdiff(Call& call) { reply_result(call, subtract); }
void sinterstore(Call& call) { store_result(call, intersect); }
void sunionstore(Call& call) { store_result(call, unite); }
void sdiffstore(Call& call) { store_result(call, subtract); }

struct CardOptions {
  int64_t limit = 0;  // 0: none
};

Result<void, ErrorReplied> take_limit(Call& call, Args values, CardOptions* options) {
  const auto limit = limit_argument(call, values[0]);
  if (!limit) return limit.error();
  options->limit = *limit;
  return {};
}

constexpr OptionRow<CardOptions> kCardOptions[] = {
    {.word = "LIMIT", .values = 1, .take = take_limit}};

void sintercard(Call& call) {
  const auto keys = resp::parse_int64(call.args[1]);
  if (!keys || *keys < 1) return call.reply.error("ERR numkeys should be greater than 0");
  if (static_cast<uint64_t>(*keys) > call.args.size() - 2)
    return call.reply.error("ERR Number of keys can't be greater than number of args");
  const auto key_count = static_cast<size_t>(*keys);
  CardOptions options;
  if (!read_options(call, 2 + key_count, kCardOptions, &options)) return;
  auto sets = read_sets(call, call.args.subspan(2, key_count));
  if (!sets) return;
  int64_t members = 0;
  intersect(std::move(*sets), [&](std::string_view) { return ++members != options.limit; });
  call.reply.integer(members);
}

constexpr Command kSetAlgebraCommands[] = {
    {.name = "smembers",
     .arity = 2,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "set",
     .usage = "key",
     .summary = "Answers all members.",
     .since = "1.0.0",
     .tips = "nondeterministic_output_order",
     .run = sunion},
    {.name = "sinter",
     .arity = -2,
     .flags = kReads,
     .keys = {1, -1, 1},
     .group = "set",
     .usage = "key [key ...]",
     .summary = "Answers the members that all sets have.",
     .since = "1.0.0",
     .tips = "nondeterministic_output_order",
     .run = sinter},
    {.name = "sintercard",
     .arity = -3,
     .flags = kReads | kMovableKeys,
     .keys = {.numkeys = 1},
     .group = "set",
     .usage = "numkeys key [key ...] [LIMIT limit]",
     .summary = "Answers how many members all sets have in common.",
     .since = "7.0.0",
     .run = sintercard},
    {.name = "sunion",
     .arity = -2,
     .flags = kReads,
     .keys = {1, -1, 1},
     .group = "set",
     .usage = "key [key ...]",
     .summary = "Answers the members that any of the sets has.",
     .since = "1.0.0",
     .tips = "nondeterministic_output_order",
     .run = sunion},
    {.name = "sdiff",
     .arity = -2,
     .flags = kReads,
     .keys = {1, -1, 1},
     .group = "set",
     .usage = "key [key ...]",
     .summary = "Answers the members of the first set that no other has.",
     .since = "1.0.0",
     .tips = "nondeterministic_output_order",
     .run = sdiff},
    {.name = "sinterstore",
     .arity = -3,
     .flags = kWrites | kDenyOom,
     .keys = {1, -1, 1, 0, KeyUse::kUpdates, KeyUse::kReads},
     .group = "set",
     .usage = "destination key [key ...]",
     .summary = "Puts the members that all sets have into another set; answers how many.",
     .since = "1.0.0",
     .run = sinterstore},
    {.name = "sunionstore",
     .arity = -3,
     .flags = kWrites | kDenyOom,
     .keys = {1, -1, 1, 0, KeyUse::kOverwrites, KeyUse::kReads},
     .group = "set",
     .usage = "destination key [key ...]",
     .summary = "Puts the members that any of the sets has into another set; answers how many.",
     .since = "1.0.0",
     .run = sunionstore},
    {.name = "sdiffstore",
     .arity = -3,
     .flags = kWrites | kDenyOom,
     .keys = {1, -1, 1, 0, KeyUse::kOverwrites, KeyUse::kReads},
     .group = "set",
     .usage = "destination key [key ...]",
     .summary =
         "Puts the members of the first set that no other has into another set; answers how many.",
     .since = "1.0.0",
     .run = sdiffstore},
};

}  // namespace

Commands set_algebra_commands() { return kSetAlgebraCommands; }

}  // namespace weir::server
