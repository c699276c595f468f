// Sorted sets, changed member by member: ZADD, ZINCRBY, ZREM.
#include "server/types/zset.h"

#include <cmath>
#include <vector>

#include "base/result.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"

namespace weir::server {
namespace {

struct AddOptions {
  bool only_new = false;
  bool only_present = false;
  bool only_greater = false;
  bool only_less = false;
  bool count_changed = false;
  bool increment = false;
};

constexpr std::string_view kNewAndPresent =
    "ERR XX and NX options at the same time are not compatible";
constexpr std::string_view kExclusiveConditions =
    "ERR GT, LT, and/or NX options at the same time are not compatible";
constexpr std::string_view kOneIncrement =
    "ERR INCR option supports a single increment-element pair";
constexpr std::string_view kScoreNotANumber = "ERR resulting score is not a number (NaN)";

constexpr OptionRow<AddOptions> kAddOptions[] = {{.word = "NX", .flag = &AddOptions::only_new},
                                                 {.word = "XX", .flag = &AddOptions::only_present},
                                                 {.word = "GT", .flag = &AddOptions::only_greater},
                                                 {.word = "LT", .flag = &AddOptions::only_less},
                                                 {.word = "CH", .flag = &AddOptions::count_changed},
                                                 {.word = "INCR", .flag = &AddOptions::increment}};

// Tells whether the options go together.
Result<void, std::string_view> check_options(const AddOptions& options, size_t words) {
  if (words == 0 || words % 2 != 0) return kSyntaxError;
  if (options.only_new && options.only_present) return kNewAndPresent;
  if (options.only_new + options.only_greater + options.only_less > 1) return kExclusiveConditions;
  if (options.increment && words > 2) return kOneIncrement;
  return {};
}

struct Added {
  enum class How { kRefused, kSame, kNew, kChanged, kNotANumber };
  How how = How::kRefused;
  double score = 0;  // the member's score, unless refused
};

bool has_changed(Added::How how) { return how == Added::How::kNew || how == Added::How::kChanged; }

Added change(Collection* zset, std::string_view member, double old, double score,
             const AddOptions& options) {
  if (options.only_new) return {};
  if (options.increment) score += old;
  if (std::isnan(score)) return {.how = Added::How::kNotANumber};
  if ((options.only_less && score >= old) || (options.only_greater && score <= old)) return {};
  if (score == old) return {.how = Added::How::kSame, .score = score};
  put_score(zset, member, score);
  return {.how = Added::How::kChanged, .score = score};
}

Added add_one(Collection* zset, std::string_view member, double score, const AddOptions& options) {
  if (const auto old = score_of(*zset, member)) return change(zset, member, *old, score, options);
  if (options.only_present) return {};
  put_score(zset, member, score);
  return {.how = Added::How::kNew, .score = score};
}

void add_incrementing(Call& call, const AddOptions& options, std::string_view score_text,
                      std::string_view member) {
  const auto score = resp::parse_double(score_text);
  if (!score) return call.reply.error(kNotAFloat);
  auto zset = write_collection(call, call.args[1], storage::Type::kZset);
  if (!zset) return;
  const Added added = add_one(&*zset, member, *score, options);
  if (added.how == Added::How::kNotANumber) return call.reply.error(kScoreNotANumber);
  if (has_changed(added.how)) call.notify(EventClass::kZset, "zincr", call.args[1]);
  added.how == Added::How::kRefused ? call.reply.null() : call.reply.real(added.score);
}

void add_all(Call& call, const AddOptions& options, Args pairs) {
  std::vector<double> scores;
  scores.reserve(pairs.size() / 2);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const auto score = resp::parse_double(pairs[i]);
    if (!score) return call.reply.error(kNotAFloat);
    scores.push_back(*score);
  }
  auto zset = write_collection(call, call.args[1], storage::Type::kZset);
  if (!zset) return;
  int64_t counted = 0;
  bool changed = false;
  for (size_t i = 0; i < scores.size(); ++i) {
    const Added::How how = add_one(&*zset, pairs[2 * i + 1], scores[i], options).how;
    counted += how == Added::How::kNew;
    counted += how == Added::How::kChanged && options.count_changed;
    changed |= has_changed(how);
  }
  if (changed) call.notify(EventClass::kZset, "zadd", call.args[1]);
  call.reply.integer(counted);
}

void zadd(Call& call) {
  AddOptions options;
  const auto pairs = read_leading_options(call, call.args.subspan(2), kAddOptions, &options);
  if (!pairs) return;
  if (const auto fits = check_options(options, pairs->size()); !fits)
    return call.reply.error(fits.error());
  if (options.increment) return add_incrementing(call, options, (*pairs)[0], (*pairs)[1]);
  add_all(call, options, *pairs);
}

// Reads its words as ZADD does, so an option in the increment's place is an option.
void zincrby(Call& call) {
  AddOptions options;
  const auto pairs = read_leading_options(call, call.args.subspan(2), kAddOptions, &options);
  if (!pairs) return;
  if (pairs->size() != 2) return call.reply.error(kSyntaxError);
  add_incrementing(call, {.increment = true}, call.args[2], call.args[3]);
}

void zrem(Call& call) {
  auto zset = write_collection(call, call.args[1], storage::Type::kZset);
  if (!zset) return;
  if (!zset->exists()) return call.reply.integer(0);
  int64_t removed = 0;
  for (const std::string_view member : call.args.subspan(2))
    removed += zset->elements().erase(member);
  if (removed > 0) note_removal(call, &*zset, {EventClass::kZset, "zrem"});
  call.reply.integer(removed);
}

constexpr Command kZsetCommands[] = {
    {.name = "zadd",
     .arity = -4,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kUpdates},
     .group = "sorted-set",
     .usage = "key [NX | XX] [GT | LT] [CH] [INCR] score:double member [score:double member ...]",
     .summary = "Puts members into a sorted set or gives them other scores; answers how many came "
                "new, or the score with INCR.",
     .since = "1.2.0",
     .run = zadd},
    {.name = "zincrby",
     .arity = 4,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1},
     .group = "sorted-set",
     .usage = "key increment member",
     .summary = "Adds to the score of a member of a sorted set; a missing one counts as 0.",
     .since = "1.2.0",
     .run = zincrby},
    {.name = "zrem",
     .arity = -3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kDeletes},
     .group = "sorted-set",
     .usage = "key member [member ...]",
     .summary = "Removes members from a sorted set; answers how many there were.",
     .since = "1.2.0",
     .run = zrem},
};

}  // namespace

Commands zset_commands() { return kZsetCommands; }

}  // namespace weir::server
