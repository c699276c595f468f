// Sorted sets, read member by member: ZCARD, ZSCORE, ZMSCORE, ZRANK, ZREVRANK, ZRANDMEMBER, ZSCAN.
#include <limits>
#include <string>

#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/command_errors.h"
#include "server/commands/command_lists.h"
#include "server/core/run/executor.h"
#include "server/types/random_picks.h"
#include "server/types/scan.h"
#include "server/types/zset.h"

namespace weir::server {
namespace {

using storage::Element;
using storage::Type;

Result<Collection, ErrorReplied> read_zset(Call& call) {
  return read_collection(call, call.args[1], Type::kZset);
}

void zcard(Call& call) {
  if (const auto zset = read_zset(call)) call.reply.integer(static_cast<int64_t>(zset->size()));
}

void reply_score(Call& call, const Collection& zset, std::string_view member) {
  const auto score = score_of(zset, member);
  score ? call.reply.real(*score) : call.reply.null();
}

void zscore(Call& call) {
  if (const auto zset = read_zset(call)) reply_score(call, *zset, call.args[2]);
}

void zmscore(Call& call) {
  const auto zset = read_zset(call);
  if (!zset) return;
  call.reply.array(static_cast<int64_t>(call.args.size()) - 2);
  for (const std::string_view member : call.args.subspan(2)) reply_score(call, *zset, member);
}

void reply_rank(Call& call, bool from_the_highest) {
  const bool with_score = call.args.size() == 4;
  if (call.args.size() > 4) return call.reply.error(arity_error(call.command));
  if (with_score && !equals_ignoring_case(call.args[3], "WITHSCORE"))
    return call.reply.error(kSyntaxError);
  const auto zset = read_zset(call);
  if (!zset) return;
  const auto rank = zset->exists() ? zset->elements().rank_of(call.args[2]) : std::nullopt;
  if (!rank) return with_score ? call.reply.null_array() : call.reply.null();
  if (with_score) call.reply.array(2);
  call.reply.integer(static_cast<int64_t>(from_the_highest ? zset->size() - 1 - *rank : *rank));
  if (with_score) call.reply.real(score_of(zset->elements().at(*rank)));
}

void zrank(Call& call) { reply_rank(call, false); }

void zrevrank(Call& call) { reply_rank(call, true); }

struct WantedMembers {
  int64_t count;
  bool with_scores;
};

// A count, and twice the count if there are scores, must be numbers that Redis can hold.
Result<WantedMembers, ErrorReplied> wanted_members(Call& call) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const auto count = count_argument(call, call.args[2]);
  if (!count) return count.error();
  const bool with_scores = call.args.size() == 4;
  if (call.args.size() > 4 || (with_scores && !equals_ignoring_case(call.args[3], "WITHSCORES"))) {
    return reply_error(call, kSyntaxError);
  }
  if (with_scores && (*count < -kMax / 2 || *count > kMax / 2)) {
    return reply_error(call, "ERR value is out of range");
  }
  return WantedMembers{.count = *count, .with_scores = with_scores};
}

void reply_some(Call& call) {
  const auto wanted = wanted_members(call);
  if (!wanted) return;
  const auto zset = read_zset(call);
  if (!zset) return;
  const auto picks = picks_of(call, *zset, wanted->count);
  if (!picks) return;
  const MembersReply members(&call.reply, wanted->with_scores);
  members.begin(*picks);
  pick_some(call, *zset, wanted->count,
            [&members](const Element& element) { members.add(element.member, score_of(element)); });
}

void zrandmember(Call& call) {
  if (call.args.size() > 2) return reply_some(call);
  const auto zset = read_zset(call);
  if (!zset) return;
  zset->exists() ? call.reply.bulk(pick(call, *zset).member) : call.reply.null();
}

// Answers the score as Redis keeps it: in a compact set in digits, if it is an integer and not too
// long.
std::string scanned_score(double score, bool compact) {
  constexpr double kIntegerMax = static_cast<double>(int64_t{1} << 62);
  const bool integer = score >= -kIntegerMax && score <= kIntegerMax &&
                       score == static_cast<double>(static_cast<int64_t>(score));
  if (!compact || !integer) return resp::format_double(score);
  return std::to_string(static_cast<int64_t>(score));
}

void zscan(Call& call) {
  const storage::Ref ref = call.look_up(call.args[1]);
  const bool compact = ref.type() == Type::kZset && form_of(ref) == Form::kCompact;
  scan_collection(call, Type::kZset, [compact](const Element& element, Bulks* page) {
    page->add(element.member);
    page->add(scanned_score(score_of(element), compact));
  });
}

constexpr Command kZsetReadCommands[] = {
    {.name = "zcard",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kLooks},
     .group = "sorted-set",
     .usage = "key",
     .summary = "Answers how many members a sorted set has.",
     .since = "1.2.0",
     .run = zcard},
    {.name = "zscore",
     .arity = 3,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "sorted-set",
     .usage = "key member",
     .summary = "Answers the score of a member of a sorted set.",
     .since = "1.2.0",
     .run = zscore},
    {.name = "zmscore",
     .arity = -3,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "sorted-set",
     .usage = "key member [member ...]",
     .summary = "Answers the scores of several members, null where there is none.",
     .since = "6.2.0",
     .run = zmscore},
    {.name = "zrank",
     .arity = -3,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "sorted-set",
     .usage = "key member [WITHSCORE]",
     .summary = "Answers how many members of a sorted set stand in front of one.",
     .since = "2.0.0",
     .run = zrank},
    {.name = "zrevrank",
     .arity = -3,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "sorted-set",
     .usage = "key member [WITHSCORE]",
     .summary = "Answers how many members of a sorted set stand after one.",
     .since = "2.0.0",
     .run = zrevrank},
    {.name = "zrandmember",
     .arity = -2,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "sorted-set",
     .usage = "key [count [WITHSCORES]]",
     .summary =
         "Answers random members of a sorted set, with repetitions if the count is negative.",
     .since = "6.2.0",
     .tips = "nondeterministic_output",
     .run = zrandmember},
    {.name = "zscan",
     .arity = -3,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "sorted-set",
     .usage = "key cursor [MATCH pattern] [COUNT count]",
     .summary =
         "Answers some members of a sorted set with their scores, and the cursor to go on from.",
     .since = "2.8.0",
     .tips = "nondeterministic_output",
     .run = zscan},
};

}  // namespace

Commands zset_read_commands() { return kZsetReadCommands; }

}  // namespace weir::server
