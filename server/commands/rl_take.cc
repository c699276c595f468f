// RL.TAKE, RL.PEEK, RL.MTAKE: permits now, or a verdict.
#include <algorithm>
#include <string>

#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/commands/families.h"
#include "server/core/server.h"
#include "server/limiter/acquire.h"
#include "server/limiter/remembered.h"

namespace weir::server {
namespace {

using algorithms::Limit;

// Tells whether the request must queue: those who wait in the key's queue come first.
bool must_queue(Call& call, const Limiter& limiter, const LimiterRequest& request) {
  return !request.force && request.asks() && has_queue(call, limiter.key());
}

Answer take_or_queue(Call& call, Limiter& limiter, const LimiterRequest& request, bool peek) {
  if (!must_queue(call, limiter, request)) return take(call, limiter, request, peek);
  Answer answer = behind_queue(call, limiter, request);
  answer.allowed = request.shadow;
  if (!peek) count_denial(call, limiter);
  return answer;
}

// Takes in one way or the other. Nothing: an error has been replied.
std::optional<Answer> take_any(Call& call, std::string_view key, const LimiterRequest& request) {
  auto limiter = Limiter::read(call, key);
  if (!limiter) return std::nullopt;
  const auto named = resolve_limits(call, request);
  if (!named) return std::nullopt;
  if (!limiter->name(*named)) return std::nullopt;
  return take_or_queue(call, *limiter, request, false);
}

void rl_take(Call& call) {
  constexpr uint32_t kTakes = kCostOption | kUptoOption | kShadowOption | kForceOption | kIdOption;
  std::string error;
  const LimiterRequest* request =
      call.limiters.requests.parse(call.args.subspan(2), kTakes, &error);
  if (request == nullptr) return call.reply.error(error);
  const std::string_view key = call.args[1];
  if (!request->id.empty() && recall(call, key, request->id) == Recall::kAnswered) return;
  auto answer = take_fast(call, key, *request);
  if (!answer) answer = take_any(call, key, *request);
  if (!answer) return;
  const size_t begin = call.reply.buffer()->size();
  reply_answer(call, *answer, request->upto);
  if (answer->charged && !request->id.empty()) remember(call, key, request->id, begin);
}

void rl_peek(Call& call) {
  std::string parse_error;
  const LimiterRequest* request = call.limiters.requests.parse(
      call.args.subspan(2), kCostOption | kLimitsMayLack, &parse_error);
  if (request == nullptr) return call.reply.error(parse_error);
  auto limiter = Limiter::read(call, call.args[1]);
  if (!limiter) return;
  if (request->limits.empty() && request->policy.empty()) {
    if (!limiter->exists()) return call.reply.null_array();
    if (limiter->named().empty()) return call.reply.error("ERR the key was used by no RL command");
    std::vector<Limit> limits;
    for (const HeldLimit& held : limiter->named()) limits.push_back(held.limit);
    if (std::string error = check_request(*request, limits); !error.empty()) {
      return call.reply.error(error);
    }
  } else {
    const auto named = resolve_limits(call, *request);
    if (!named || !limiter->name(*named)) return;
  }
  reply_answer(call, take_or_queue(call, *limiter, *request, true), false);
}

// RL.MTAKE numkeys key [key ...] limits ...

struct ManyTake {
  std::span<const std::string_view> keys;
  LimiterRequest request;
};

std::string parse_many(const Call& call, ManyTake* many) {
  const auto numkeys = resp::parse_int64(call.args[1]);
  const auto most = static_cast<int64_t>(algorithms::kLimitsMax);
  if (!numkeys || *numkeys < 1 || *numkeys > most) {
    return "ERR numkeys must be between 1 and 16, got '" +
           std::string(shown_part(call.args[1]).substr(0, 64)) + "'";
  }
  const auto keys = static_cast<size_t>(*numkeys);
  if (call.args.size() < 2 + keys) {
    return "ERR numkeys is " + std::to_string(keys) + ", but only " +
           std::to_string(call.args.size() - 2) + " arguments follow";
  }
  many->keys = call.args.subspan(2, keys);
  for (size_t i = 0; i < keys; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (many->keys[i] == many->keys[j]) {
        return "ERR key " + std::to_string(j) + " and key " + std::to_string(i) +
               " are the same: each key takes one limit";
      }
    }
  }
  auto request =
      parse_request(call.args.subspan(2 + keys), kCostOption | kShadowOption | kIdOption);
  if (!request) return request.error();
  many->request = *request;
  return {};
}

// Answers the request for one of the keys.
LimiterRequest part_of(const LimiterRequest& whole, size_t key) {
  LimiterRequest part;
  part.costs = {whole.cost(key)};
  part.shadow = whole.shadow;
  return part;
}

struct Parts {
  std::vector<Limiter> limiters;
  std::vector<std::vector<Limit>> limits;  // the limits of each key
  std::vector<Answer> answers;
};

bool read_parts(Call& call, const ManyTake& many, const NamedLimits& named, Parts* parts) {
  for (size_t i = 0; i < many.keys.size(); ++i) {
    auto limiter = Limiter::read(call, many.keys[i]);
    if (!limiter) return false;
    parts->limits.push_back({(*named.limits)[i]});
    const NamedLimits one{.limits = &parts->limits.back(),
                          .policy_version = named.policy_version,
                          .mode = named.mode};
    if (!limiter->name(one)) return false;
    parts->limiters.push_back(std::move(*limiter));
  }
  return true;
}

// Fills in the keys' verdicts as they are now; nothing is taken.
void peek_parts(Call& call, const ManyTake& many, Parts* parts) {
  for (size_t i = 0; i < many.keys.size(); ++i) {
    const LimiterRequest part = part_of(many.request, i);
    parts->answers.push_back(take_or_queue(call, parts->limiters[i], part, true));
  }
}

void take_parts(Call& call, const ManyTake& many, Parts* parts) {
  for (size_t i = 0; i < many.keys.size(); ++i) {
    parts->answers[i] = take(call, parts->limiters[i], part_of(many.request, i), false);
  }
}

// Answers the index of the key that denies, by the longest wait, ties to the first; -1 if all
// allow.
int64_t denier(const Parts& parts) {
  int64_t index = -1;
  for (size_t i = 0; i < parts.answers.size(); ++i) {
    const auto& verdict = parts.answers[i].verdict;
    if (verdict.allowed) continue;
    if (index < 0 ||
        verdict.retry_after_ns > parts.answers[static_cast<size_t>(index)].verdict.retry_after_ns) {
      index = static_cast<int64_t>(i);
    }
  }
  return index;
}

void rl_mtake(Call& call) {
  ManyTake many;
  if (std::string error = parse_many(call, &many); !error.empty()) return call.reply.error(error);
  const LimiterRequest& request = many.request;
  if (!request.id.empty() && recall(call, many.keys[0], request.id) == Recall::kAnswered) return;
  const auto named = resolve_limits(call, request);
  if (!named) return;
  if (named->limits->size() != many.keys.size()) {
    return call.reply.error(
        "ERR RL.MTAKE takes one limit for each key: " + std::to_string(many.keys.size()) +
        " keys, " + std::to_string(named->limits->size()) + " limits");
  }
  Parts parts;
  if (!read_parts(call, many, *named, &parts)) return;
  peek_parts(call, many, &parts);
  const int64_t denied_by = denier(parts);
  if (denied_by < 0) {
    take_parts(call, many, &parts);
  } else {
    for (Limiter& limiter : parts.limiters) save_denied(call, limiter);
    count_denial(call, parts.limiters[static_cast<size_t>(denied_by)]);
  }
  const size_t begin = call.reply.buffer()->size();
  call.reply.array(2 + static_cast<int64_t>(many.keys.size()));
  call.reply.integer(denied_by < 0 || request.shadow ? 1 : 0);
  call.reply.integer(denied_by);
  for (const Answer& answer : parts.answers) reply_answer(call, answer, false);
  if (denied_by < 0 && !request.id.empty()) remember(call, many.keys[0], request.id, begin);
}

constexpr Command kCommands[] = {
    {.name = "rl.take",
     .arity = -3,
     .flags = kWrites | kFast | kDenyOom | kWakesNobody,
     .keys = {1, 1, 1},
     .group = "limiter",
     .usage = "key limits [COST n] [UPTO] [SHADOW] [FORCE] [ID token]",
     .summary = "Takes permits from all limits of a key, or from none.",
     .since = "weir 0.1",
     .run = rl_take},
    {.name = "rl.peek",
     .arity = -2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "limiter",
     .usage = "key [limits] [COST n]",
     .summary = "Answers the verdict that RL.TAKE would give, and changes nothing.",
     .since = "weir 0.1",
     .run = rl_peek},
    {.name = "rl.mtake",
     .arity = -4,
     .flags = kWrites | kDenyOom | kMovableKeys | kWakesNobody,
     .keys = {.numkeys = 1},
     .group = "limiter",
     .usage = "numkeys key [key ...] limits [COST n] [SHADOW] [ID token]",
     .summary = "Takes from one limit of each key: from all keys, or from none.",
     .since = "weir 0.1",
     .run = rl_mtake},
};

}  // namespace

Commands rl_take_commands() { return kCommands; }

}  // namespace weir::server
