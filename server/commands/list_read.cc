// Lists, read: LLEN, LINDEX, LRANGE, LPOS.
#include <limits>
#include <vector>

#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/types/list.h"

namespace weir::server {
namespace {

using storage::Element;

Result<Collection, ErrorReplied> read_list(Call& call) {
  return read_collection(call, call.args[1], storage::Type::kList);
}

void llen(Call& call) {
  const auto list = read_list(call);
  if (list) call.reply.integer(static_cast<int64_t>(list->size()));
}

// The index is read only if there is a list, as in Redis.
void lindex(Call& call) {
  const auto list = read_list(call);
  if (!list) return;
  if (!list->exists()) return call.reply.null();
  const auto index = integer_argument(call, call.args[2]);
  if (!index) return;
  const auto rank = rank_of_index(*list, *index);
  rank ? call.reply.bulk(list->elements().at(*rank).value) : call.reply.null();
}

void lrange(Call& call) {
  const auto first = integer_argument(call, call.args[2]);
  if (!first) return;
  const auto last = integer_argument(call, call.args[3]);
  if (!last) return;
  const auto list = read_list(call);
  if (!list) return;
  const Stretch stretch = stretch_of(*list, {*first, *last});
  call.reply.array(static_cast<int64_t>(stretch.count));
  if (stretch.count == 0) return;
  size_t left = stretch.count;
  list->walk_from(stretch.first, [&](const Element& element) {
    call.reply.bulk(element.value);
    return --left > 0;
  });
}

struct Search {
  std::string_view value;
  bool from_back = false;
  uint64_t skipped = 0;             // matches before the first that counts
  std::optional<uint64_t> matches;  // at most so many, 0: all; absent: one, which is answered alone
  uint64_t looks_max = 0;           // 0: all elements
};

Result<uint64_t, ErrorReplied> bound_argument(Call& call, std::string_view text,
                                              std::string_view error) {
  const auto number = resp::parse_int64(text);
  if (number && *number >= 0) return static_cast<uint64_t>(*number);
  return reply_error(call, error);
}

Result<void, ErrorReplied> take_rank(Call& call, Args values, Search* search) {
  const auto rank = integer_argument(call, values[0]);
  if (!rank) return rank.error();
  if (*rank == 0) {
    return reply_error(
        call,
        "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use "
        "negative to start from the end of the list");
  }
  search->from_back = *rank < 0;
  // The smallest integer has no opposite; Redis reads it as -1.
  const bool has_opposite = *rank != std::numeric_limits<int64_t>::min();
  const int64_t steps = !has_opposite ? 1 : *rank < 0 ? -*rank : *rank;
  search->skipped = static_cast<uint64_t>(steps - 1);
  return {};
}

Result<void, ErrorReplied> take_matches(Call& call, Args values, Search* search) {
  const auto matches = bound_argument(call, values[0], "ERR COUNT can't be negative");
  if (!matches) return matches.error();
  search->matches = *matches;
  return {};
}

Result<void, ErrorReplied> take_looks(Call& call, Args values, Search* search) {
  const auto bound = bound_argument(call, values[0], "ERR MAXLEN can't be negative");
  if (!bound) return bound.error();
  search->looks_max = *bound;
  return {};
}

constexpr OptionRow<Search> kSearchOptions[] = {
    {.word = "RANK", .values = 1, .take = take_rank},
    {.word = "COUNT", .values = 1, .take = take_matches},
    {.word = "MAXLEN", .values = 1, .take = take_looks}};

std::vector<size_t> ranks_of(const Collection& list, const Search& search) {
  std::vector<size_t> ranks;
  const uint64_t wanted = search.matches.value_or(1);
  uint64_t looks = 0;
  uint64_t skipped = 0;
  const auto visit = [&](const Element& element) {
    if (element.value == search.value && skipped++ >= search.skipped)
      ranks.push_back(search.from_back ? list.size() - 1 - looks : looks);
    return ++looks != search.looks_max && (wanted == 0 || ranks.size() < wanted);
  };
  if (search.from_back) {
    list.walk_back_from(list.size(), visit);
  } else {
    list.walk(visit);
  }
  return ranks;
}

void lpos(Call& call) {
  Search search;
  search.value = call.args[2];
  if (!read_options(call, 3, kSearchOptions, &search)) return;
  const auto list = read_list(call);
  if (!list) return;
  const auto ranks = list->exists() ? ranks_of(*list, search) : std::vector<size_t>();
  if (search.matches) {
    call.reply.array(static_cast<int64_t>(ranks.size()));
  } else if (ranks.empty()) {
    return call.reply.null();
  }
  for (const size_t rank : ranks) call.reply.integer(static_cast<int64_t>(rank));
}

// Every row but its name, arity, flags, usage, summary, version and function.
constexpr Command list_read_row(Command command) {
  if (command.keys.first == 0) command.keys = {1, 1, 1};
  command.group = "list";
  return command;
}

constexpr Command kListReadCommands[] = {
    list_read_row({.name = "llen",
                   .arity = 2,
                   .flags = kReads | kFast,
                   .keys = {1, 1, 1, 0, KeyUse::kLooks},
                   .usage = "key",
                   .summary = "Answers how many elements a list has.",
                   .since = "1.0.0",
                   .run = llen}),
    list_read_row({.name = "lindex",
                   .arity = 3,
                   .flags = kReads,
                   .usage = "key index",
                   .summary = "Answers the element at an index, -1 being the last.",
                   .since = "1.0.0",
                   .run = lindex}),
    list_read_row({.name = "lrange",
                   .arity = 4,
                   .flags = kReads,
                   .usage = "key start stop",
                   .summary = "Answers the elements from one index to another.",
                   .since = "1.0.0",
                   .run = lrange}),
    list_read_row({.name = "lpos",
                   .arity = -3,
                   .flags = kReads,
                   .usage = "key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
                   .summary = "Answers at which indices a value stands.",
                   .since = "6.0.6",
                   .run = lpos}),
};

}  // namespace

Commands list_read_commands() { return kListReadCommands; }

}  // namespace weir::server
