// Sorted sets, several at a time: ZUNION, ZINTER, ZDIFF, the commands that store their results,
// ZINTERCARD. Sets are accepted too: each of their members has the score 1.
//
// Sums of scores depend on the order of adding, which is Redis': from the smallest set to the
// largest.
#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <vector>

#include "base/ascii.h"
#include "base/string_hash.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/types/lookups.h"
#include "server/types/zset.h"

namespace weir::server {
namespace {

using storage::Element;
using storage::Type;

enum class Operation { kUnion, kIntersection, kDifference };
enum class Aggregate { kSum, kMin, kMax };

struct Source {
  Collection members;
  bool has_scores;
  double weight = 1;

  double raw_score(const Element& element) const {
    return weight * (has_scores ? score_of(element) : 1.0);
  }
  // Infinity times 0 is 0.
  double score(const Element& element) const {
    const double weighted = raw_score(element);
    return std::isnan(weighted) ? 0 : weighted;
  }
};

using Sources = std::vector<Source>;

struct Scored {
  double score;
  std::string_view member;
};

// What the command's name says about the combination.
struct CombineForm {
  Operation operation;
  bool stores = false;
  bool only_counts = false;
};

struct Request {
  CombineForm form;
  Sources sources;
  Aggregate aggregate = Aggregate::kSum;
  bool with_scores = false;
  int64_t limit = 0;  // for counting; 0: no limit
};

// Sums of opposite infinities are 0.
double aggregated(Aggregate aggregate, double score, double other) {
  if (aggregate == Aggregate::kMin) return other < score ? other : score;
  if (aggregate == Aggregate::kMax) return other > score ? other : score;
  const double sum = score + other;
  return std::isnan(sum) ? 0 : sum;
}

Result<Source, ErrorReplied> read_source(Call& call, std::string_view key) {
  const storage::Ref ref = read_key(call, key);
  const bool is_set = ref.type() == Type::kSet;
  auto members = collection_of(call, ref, is_set ? Type::kSet : Type::kZset);
  if (!members) return members.error();
  return Source{.members = *members, .has_scores = !is_set};
}

// Reads the keys after their number.
Result<Sources, ErrorReplied> read_sources(Call& call, size_t number_at) {
  const auto number = integer_argument(call, call.args[number_at]);
  if (!number) return number.error();
  const Args rest = call.args.subspan(number_at + 1);
  if (*number < 1) {
    return reply_error(call, "ERR at least 1 input key is needed for '" +
                                 std::string(call.command.name) + "' command");
  }
  if (static_cast<uint64_t>(*number) > rest.size()) return reply_error(call, kSyntaxError);
  Sources sources;
  for (const std::string_view key : rest.first(static_cast<size_t>(*number))) {
    auto source = read_source(call, key);
    if (!source) return source.error();
    sources.push_back(*source);
  }
  return sources;
}

std::optional<Aggregate> aggregate_named(std::string_view name) {
  if (equals_ignoring_case(name, "SUM")) return Aggregate::kSum;
  if (equals_ignoring_case(name, "MIN")) return Aggregate::kMin;
  if (equals_ignoring_case(name, "MAX")) return Aggregate::kMax;
  return std::nullopt;
}

Result<void, ErrorReplied> take_weights(Call& call, Args weights, Request* request) {
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto weight = resp::parse_double(weights[i]);
    if (!weight) return reply_error(call, "ERR weight value is not a float");
    request->sources[i].weight = *weight;
  }
  return {};
}

Result<void, ErrorReplied> take_aggregate(Call& call, Args values, Request* request) {
  const auto aggregate = aggregate_named(values[0]);
  if (!aggregate) return reply_error(call, kSyntaxError);
  request->aggregate = *aggregate;
  return {};
}

Result<void, ErrorReplied> take_limit(Call& call, Args values, Request* request) {
  const auto limit = limit_argument(call, values[0]);
  if (!limit) return limit.error();
  request->limit = *limit;
  return {};
}

bool combines_scores(const Call&, const Request& request) {
  return request.form.operation != Operation::kDifference && !request.form.only_counts;
}
bool answers_members(const Call&, const Request& request) {
  return !request.form.stores && !request.form.only_counts;
}
bool only_counts(const Call&, const Request& request) { return request.form.only_counts; }

// A row is the request's own: there is a weight for each source.
Result<void, ErrorReplied> read_request_options(Call& call, size_t first, Request* request) {
  const OptionRow<Request> rows[] = {
      {.word = "WEIGHTS",
       .values = request->sources.size(),
       .take = take_weights,
       .fits = combines_scores},
      {.word = "AGGREGATE", .values = 1, .take = take_aggregate, .fits = combines_scores},
      {.word = "WITHSCORES", .flag = &Request::with_scores, .fits = answers_members},
      {.word = "LIMIT", .values = 1, .take = take_limit, .fits = only_counts}};
  return read_options(call, first, rows, request);
}

Result<Request, ErrorReplied> read_request(Call& call, const CombineForm& form) {
  const size_t number_at = form.stores ? 2 : 1;
  auto sources = read_sources(call, number_at);
  if (!sources) return sources.error();
  Request request{.form = form, .sources = std::move(*sources)};
  const size_t first = number_at + 1 + request.sources.size();
  if (const auto done = read_request_options(call, first, &request); !done) return done.error();
  if (form.operation != Operation::kDifference) {
    std::stable_sort(
        request.sources.begin(), request.sources.end(),
        [](const Source& a, const Source& b) { return a.members.size() < b.members.size(); });
  }
  return request;
}

std::vector<Scored> united(const Request& request) {
  ViewMap<double> scores;
  for (const Source& source : request.sources) {
    source.members.walk([&](const Element& element) {
      const double score = source.score(element);
      const auto [at, is_new] = scores.emplace(element.member, score);
      if (!is_new) at->second = aggregated(request.aggregate, at->second, score);
      return true;
    });
  }
  std::vector<Scored> result;
  result.reserve(scores.size());
  for (const auto& [member, score] : scores) result.push_back({score, member});
  return result;
}

// Walks the smallest source and looks its members up in the others, until `visit` answers false.
void intersect(const Request& request, const std::function<bool(const Scored&)>& visit) {
  const Source& smallest = request.sources[0];
  smallest.members.walk([&](const Element& element) {
    double score = smallest.score(element);
    for (size_t i = 1; i < request.sources.size(); ++i) {
      const auto found = request.sources[i].members.find(element.member);
      if (!found) return true;
      score = aggregated(request.aggregate, score, request.sources[i].raw_score(*found));
    }
    return visit({score, element.member});
  });
}

std::vector<Scored> subtracted(const Request& request) {
  std::vector<Scored> result;
  request.sources[0].members.walk([&](const Element& element) {
    const bool in_another = std::any_of(
        request.sources.begin() + 1, request.sources.end(),
        [&](const Source& source) { return source.members.find(element.member).has_value(); });
    if (!in_another) result.push_back({request.sources[0].score(element), element.member});
    return true;
  });
  return result;
}

std::vector<Scored> result_of(const Request& request, Operation operation) {
  if (operation == Operation::kUnion) return united(request);
  if (operation == Operation::kDifference) return subtracted(request);
  std::vector<Scored> result;
  intersect(request, [&result](const Scored& scored) {
    result.push_back(scored);
    return true;
  });
  return result;
}

void reply_result(Call& call, const Request& request, std::vector<Scored> result) {
  std::sort(result.begin(), result.end(), [](const Scored& a, const Scored& b) {
    return a.score != b.score ? a.score < b.score : a.member < b.member;
  });
  call.work().charge_probes(result.size());
  const MembersReply members(&call.reply, request.with_scores);
  members.begin(result.size());
  for (const Scored& scored : result) members.add(scored.member, scored.score);
}

// The destination may be one of the sources: their lists stay until the command ends.
void store_result(Call& call, const std::vector<Scored>& result) {
  if (result.empty()) {  // if the key was absent, it has not changed
    replace_with_nothing(call, call.args[1]);
    return call.reply.integer(0);
  }
  Collection target = replace_with_collection(call, call.args[1], Type::kZset);
  const bool large = result.size() > kCompactZsetMembersMax ||
                     std::any_of(result.begin(), result.end(), [](const Scored& scored) {
                       return scored.member.size() > kCompactZsetMemberBytesMax;
                     });
  if (large) target.make_large();
  call.work().charge_probes(result.size());
  for (const Scored& scored : result) put_score(&target, scored.member, scored.score);
  call.notify(EventClass::kZset, call.command.name, call.args[1]);
  call.reply.integer(static_cast<int64_t>(result.size()));
}

void combine(Call& call, const CombineForm& form) {
  const auto request = read_request(call, form);
  if (!request) return;
  std::vector<Scored> result = result_of(*request, form.operation);
  form.stores ? store_result(call, result) : reply_result(call, *request, std::move(result));
}

void zunion(Call& call) { combine(call, {.operation = Operation::kUnion}); }
void zinter(Call& call) { combine(call, {.operation = Operation::kIntersection}); }
void zdiff(Call& call) { combine(call, {.operation = Operation::kDifference}); }
void zunionstore(Call& call) { combine(call, {.operation = Operation::kUnion, .stores = true}); }
void zinterstore(Call& call) {
  combine(call, {.operation = Operation::kIntersection, .stores = true});
}
void zdiffstore(Call& call) {
  combine(call, {.operation = Operation::kDifference, .stores = true});
}

void zintercard(Call& call) {
  const auto request =
      read_request(call, {.operation = Operation::kIntersection, .only_counts = true});
  if (!request) return;
  int64_t members = 0;
  intersect(*request, [&](const Scored&) { return ++members != request->limit; });
  call.reply.integer(members);
}

constexpr Command kZsetAlgebraCommands[] = {
    {.name = "zunion",
     .arity = -3,
     .flags = kReads | kMovableKeys,
     .keys = {.numkeys = 1},
     .group = "sorted-set",
     .usage = "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] "
              "[WITHSCORES]",
     .summary = "Answers the members that any of the sorted sets has.",
     .since = "6.2.0",
     .run = zunion},
    {.name = "zinter",
     .arity = -3,
     .flags = kReads | kMovableKeys,
     .keys = {.numkeys = 1},
     .group = "sorted-set",
     .usage = "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] "
              "[WITHSCORES]",
     .summary = "Answers the members that all sorted sets have.",
     .since = "6.2.0",
     .run = zinter},
    {.name = "zdiff",
     .arity = -3,
     .flags = kReads | kMovableKeys,
     .keys = {.numkeys = 1},
     .group = "sorted-set",
     .usage = "numkeys key [key ...] [WITHSCORES]",
     .summary = "Answers the members of the first sorted set that no other has.",
     .since = "6.2.0",
     .run = zdiff},
    {.name = "zunionstore",
     .arity = -4,
     .flags = kWrites | kDenyOom | kMovableKeys,
     .keys = {.first = 1,
              .last = 1,
              .step = 1,
              .numkeys = 2,
              .use = KeyUse::kOverwrites,
              .others = KeyUse::kReads},
     .group = "sorted-set",
     .usage = "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE "
              "<SUM | MIN | MAX>]",
     .summary = "Puts the members that any of the sorted sets has at a key; answers how many.",
     .since = "2.0.0",
     .run = zunionstore},
    {.name = "zinterstore",
     .arity = -4,
     .flags = kWrites | kDenyOom | kMovableKeys,
     .keys = {.first = 1,
              .last = 1,
              .step = 1,
              .numkeys = 2,
              .use = KeyUse::kOverwrites,
              .others = KeyUse::kReads},
     .group = "sorted-set",
     .usage = "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE "
              "<SUM | MIN | MAX>]",
     .summary = "Puts the members that all sorted sets have at a key; answers how many.",
     .since = "2.0.0",
     .run = zinterstore},
    {.name = "zdiffstore",
     .arity = -4,
     .flags = kWrites | kDenyOom | kMovableKeys,
     .keys = {.first = 1,
              .last = 1,
              .step = 1,
              .numkeys = 2,
              .use = KeyUse::kOverwrites,
              .others = KeyUse::kReads},
     .group = "sorted-set",
     .usage = "destination numkeys key [key ...]",
     .summary = "Puts the members of the first sorted set that no other has at a key; answers how "
                "many.",
     .since = "6.2.0",
     .run = zdiffstore},
    {.name = "zintercard",
     .arity = -3,
     .flags = kReads | kMovableKeys,
     .keys = {.numkeys = 1},
     .group = "sorted-set",
     .usage = "numkeys key [key ...] [LIMIT limit]",
     .summary = "Answers how many members all sorted sets have in common.",
     .since = "7.0.0",
     .run = zintercard},
};

}  // namespace

Commands zset_algebra_commands() { return kZsetAlgebraCommands; }

}  // namespace weir::server
