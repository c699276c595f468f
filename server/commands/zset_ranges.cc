// Sorted sets by ranges: ZRANGE, its older forms and ZRANGESTORE, ZREMRANGEBY*, ZCOUNT, ZLEXCOUNT.
#include "server/types/zset_ranges.h"

#include <variant>

#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/types/zset.h"

namespace weir::server {
namespace {

constexpr std::string_view kLimitByRank =
    "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX";
constexpr std::string_view kScoresByLex =
    "ERR syntax error, WITHSCORES not supported in combination with BYLEX";

using Range = std::variant<RankRange, ScoreRange, LexRange>;

RankSpan resolve(const Collection& zset, const Range& range) {
  return std::visit([&](const auto& kind) { return span_of(zset, kind); }, range);
}

enum class By { kAny, kRank, kScore, kLex };
enum class Direction { kAny, kUp, kDown };

Result<Range, ErrorReplied> range_arguments(Call& call, By by, const RangeText& text) {
  if (by == By::kRank) {
    const auto first = integer_argument(call, text.min);
    if (!first) return first.error();
    const auto last = integer_argument(call, text.max);
    if (!last) return last.error();
    return Range(RankRange{.first = *first, .last = *last});
  }
  if (by == By::kScore) {
    if (const auto range = parse_score_range(text)) return Range(*range);
    return reply_error(call, kNotAScoreRange);
  }
  if (const auto range = parse_lex_range(text)) return Range(*range);
  return reply_error(call, kNotALexRange);
}

// What the command's name says about the range; its arguments say the rest.
struct RangeForm {
  By by = By::kAny;
  Direction direction = Direction::kAny;
  bool stores = false;
};

struct Query {
  By by;
  Direction direction;
  bool stores;
  bool with_scores = false;
  RangeLimit limit = {};
  bool is_down() const { return direction == Direction::kDown; }
};

Result<void, ErrorReplied> take_limit(Call& call, Args values, Query* query) {
  const auto offset = integer_argument(call, values[0]);
  if (!offset) return offset.error();
  const auto count = integer_argument(call, values[1]);
  if (!count) return count.error();
  query->limit = {.offset = *offset, .count = *count};
  return {};
}

Result<void, ErrorReplied> take_rev(Call&, Args, Query* query) {
  query->direction = Direction::kDown;
  return {};
}

template <By kBy>
Result<void, ErrorReplied> take_by(Call&, Args, Query* query) {
  query->by = kBy;
  return {};
}

bool has_no_direction(const Call&, const Query& query) {
  return query.direction == Direction::kAny;
}
bool is_by_nothing(const Call&, const Query& query) { return query.by == By::kAny; }
bool replies(const Call&, const Query& query) { return !query.stores; }

constexpr OptionRow<Query> kRangeOptions[] = {
    {.word = "WITHSCORES", .flag = &Query::with_scores, .fits = replies},
    {.word = "LIMIT", .values = 2, .take = take_limit},
    {.word = "REV", .take = take_rev, .fits = has_no_direction},
    {.word = "BYLEX", .take = take_by<By::kLex>, .fits = is_by_nothing},
    {.word = "BYSCORE", .take = take_by<By::kScore>, .fits = is_by_nothing}};

// Reads the options from args[at] on.
Result<Query, ErrorReplied> range_options(Call& call, const RangeForm& form, size_t at) {
  Query query{.by = form.by, .direction = form.direction, .stores = form.stores};
  if (const auto done = read_options(call, at, kRangeOptions, &query); !done) return done.error();
  if (query.by == By::kAny) query.by = By::kRank;
  const bool limited_ranks = query.by == By::kRank && query.limit.count != -1;
  if (limited_ranks || (query.by == By::kLex && query.with_scores))
    return reply_error(call, limited_ranks ? kLimitByRank : kScoresByLex);
  return query;
}

RankSpan resolve(const Collection& zset, const Range& range, const Query& query) {
  if (const auto* ranks = std::get_if<RankRange>(&range)) {
    return span_of(zset, *ranks, query.is_down());
  }
  if (const auto* scores = std::get_if<ScoreRange>(&range)) {
    return limited(span_of(zset, *scores, query.is_down()), query.limit);
  }
  return span_of(zset, std::get<LexRange>(range), query.is_down(), query.limit);
}

void reply_span(Call& call, const Collection& zset, const RankSpan& span, bool with_scores) {
  const MembersReply members(&call.reply, with_scores);
  members.begin(span.count);
  visit_span(zset, span, [&](const storage::Element& element) {
    members.add(element.member, score_of(element));
  });
}

// The destination may be the source: its list stays until the command ends.
void store_span(Call& call, const Collection& zset, const RankSpan& span) {
  if (span.count == 0) {  // if the key was absent, it has not changed
    replace_with_nothing(call, call.args[1]);
    return call.reply.integer(0);
  }
  Collection stored = replace_with_collection(call, call.args[1], storage::Type::kZset);
  visit_span(zset, span, [&](const storage::Element& element) {
    put_score(&stored, element.member, score_of(element));
  });
  call.notify(EventClass::kZset, "zrangestore", call.args[1]);
  call.reply.integer(static_cast<int64_t>(span.count));
}

void range(Call& call, const RangeForm& form) {
  const size_t key_at = form.stores ? 2 : 1;
  const auto query = range_options(call, form, key_at + 3);
  if (!query) return;
  RangeText text{.min = call.args[key_at + 1], .max = call.args[key_at + 2]};
  if (query->is_down() && query->by != By::kRank) std::swap(text.min, text.max);
  const auto wanted = range_arguments(call, query->by, text);
  if (!wanted) return;
  const auto zset = read_collection(call, call.args[key_at], storage::Type::kZset);
  if (!zset) return;
  const RankSpan span = resolve(*zset, *wanted, *query);
  form.stores ? store_span(call, *zset, span) : reply_span(call, *zset, span, query->with_scores);
}

void zrange(Call& call) { range(call, {}); }

void zrangestore(Call& call) { range(call, {.stores = true}); }

void zrevrange(Call& call) { range(call, {.by = By::kRank, .direction = Direction::kDown}); }

void zrangebyscore(Call& call) { range(call, {.by = By::kScore, .direction = Direction::kUp}); }

void zrevrangebyscore(Call& call) {
  range(call, {.by = By::kScore, .direction = Direction::kDown});
}

void zrangebylex(Call& call) { range(call, {.by = By::kLex, .direction = Direction::kUp}); }

void zrevrangebylex(Call& call) { range(call, {.by = By::kLex, .direction = Direction::kDown}); }

void remove_range(Call& call, By by) {
  const auto wanted = range_arguments(call, by, {.min = call.args[2], .max = call.args[3]});
  if (!wanted) return;
  auto zset = write_collection(call, call.args[1], storage::Type::kZset);
  if (!zset) return;
  const RankSpan span = resolve(*zset, *wanted);
  if (span.count > 0) {
    erase_span(&*zset, span);
    note_removal(call, &*zset, {EventClass::kZset, call.command.name});
  }
  call.reply.integer(static_cast<int64_t>(span.count));
}

void zremrangebyrank(Call& call) { remove_range(call, By::kRank); }

void zremrangebyscore(Call& call) { remove_range(call, By::kScore); }

void zremrangebylex(Call& call) { remove_range(call, By::kLex); }

void count_range(Call& call, By by) {
  const auto wanted = range_arguments(call, by, {.min = call.args[2], .max = call.args[3]});
  if (!wanted) return;
  const auto zset = read_collection(call, call.args[1], storage::Type::kZset);
  if (zset) call.reply.integer(static_cast<int64_t>(resolve(*zset, *wanted).count));
}

void zcount(Call& call) { count_range(call, By::kScore); }

void zlexcount(Call& call) { count_range(call, By::kLex); }

constexpr Command zset_ranges_row(Command command) {
  if ((command.flags & kWrites) == 0) command.flags |= kReads;
  command.group = "sorted-set";
  if (command.keys.first == 0) command.keys = {1, 1, 1};
  return command;
}

constexpr Command kZsetRangesCommands[] = {
    zset_ranges_row(
        {.name = "zrange",
         .arity = -4,
         .usage = "key start:string stop:string [BYSCORE | BYLEX] [REV] [LIMIT offset count] "
                  "[WITHSCORES]",
         .summary = "Answers the members of a sorted set in a range of ranks, scores or members.",
         .since = "1.2.0",
         .run = zrange}),
    zset_ranges_row(
        {.name = "zrangestore",
         .arity = -5,
         .flags = kWrites | kDenyOom,
         .keys = {1, 2, 1, 0, KeyUse::kOverwrites, KeyUse::kReads},
         .usage = "dst:key src:key min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]",
         .summary = "Puts a range of a sorted set at another key; answers how many members it has.",
         .since = "6.2.0",
         .run = zrangestore}),
    zset_ranges_row({.name = "zrevrange",
                     .arity = -4,
                     .usage = "key start stop [WITHSCORES]",
                     .summary = "Answers the members in a range of ranks, the highest score first.",
                     .since = "1.2.0",
                     .run = zrevrange}),
    zset_ranges_row({.name = "zrangebyscore",
                     .arity = -4,
                     .usage = "key min:double max:double [WITHSCORES] [LIMIT offset count]",
                     .summary = "Answers the members in a range of scores.",
                     .since = "1.0.5",
                     .run = zrangebyscore}),
    zset_ranges_row(
        {.name = "zrevrangebyscore",
         .arity = -4,
         .usage = "key max:double min:double [WITHSCORES] [LIMIT offset count]",
         .summary = "Answers the members in a range of scores, the highest score first.",
         .since = "2.2.0",
         .run = zrevrangebyscore}),
    zset_ranges_row(
        {.name = "zrangebylex",
         .arity = -4,
         .usage = "key min max [LIMIT offset count]",
         .summary = "Answers the members in a range of members, where all have one score.",
         .since = "2.8.9",
         .run = zrangebylex}),
    zset_ranges_row({.name = "zrevrangebylex",
                     .arity = -4,
                     .usage = "key max min [LIMIT offset count]",
                     .summary = "Answers the members in a range of members, the last first.",
                     .since = "2.8.9",
                     .run = zrevrangebylex}),
    zset_ranges_row(
        {.name = "zremrangebyrank",
         .arity = 4,
         .flags = kWrites,
         .keys = {1, 1, 1, 0, KeyUse::kDeletes},
         .usage = "key start stop",
         .summary = "Removes the members in a range of ranks; answers how many there were.",
         .since = "2.0.0",
         .run = zremrangebyrank}),
    zset_ranges_row(
        {.name = "zremrangebyscore",
         .arity = 4,
         .flags = kWrites,
         .keys = {1, 1, 1, 0, KeyUse::kDeletes},
         .usage = "key min:double max:double",
         .summary = "Removes the members in a range of scores; answers how many there were.",
         .since = "1.2.0",
         .run = zremrangebyscore}),
    zset_ranges_row(
        {.name = "zremrangebylex",
         .arity = 4,
         .flags = kWrites,
         .keys = {1, 1, 1, 0, KeyUse::kDeletes},
         .usage = "key min max",
         .summary = "Removes the members in a range of members; answers how many there were.",
         .since = "2.8.9",
         .run = zremrangebylex}),
    zset_ranges_row(
        {.name = "zcount",
         .arity = 4,
         .flags = kFast,
         .usage = "key min:double max:double",
         .summary = "Answers how many members of a sorted set are in a range of scores.",
         .since = "2.0.0",
         .run = zcount}),
    zset_ranges_row(
        {.name = "zlexcount",
         .arity = 4,
         .flags = kFast,
         .usage = "key min max",
         .summary = "Answers how many members of a sorted set are in a range of members.",
         .since = "2.8.9",
         .run = zlexcount}),
};

}  // namespace

Commands zset_ranges_commands() { return kZsetRangesCommands; }

}  // namespace weir::server
