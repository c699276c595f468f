// Commands that wait until there is something to take out of a list or a sorted set: BLPOP, BRPOP,
// BLMPOP, BLMOVE, BRPOPLPUSH, BZPOPMIN, BZPOPMAX, BZMPOP.
//
// Invariants
// 1. The client that came first at a key is served first. If several keys were filled while a
//    client waited, the one touched first serves it.
// 2. A client that waits ignores a value of a type that it did not ask for: it goes on waiting.
// 3. In a transaction or a script no session waits: a missing element is answered as null.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "base/heap_bytes.h"
#include "base/string_hash.h"
#include "base/time_units.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/commands/list_pop.h"
#include "server/commands/zset_pop.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

using storage::Type;

// A command's way to take something. It reads call.args, which a waiter keeps, so `attempt` is the
// same the first time and any later time. It answers as list_pop.h says.
struct WaitForm {
  Type type;
  bool (*attempt)(Call& call, std::string_view key);
};

class ElementWaiter : public Waiter {
 public:
  explicit ElementWaiter(const WaitForm* form) : form_(form) { wants = form->type; }

  bool try_again(Call& call) override {
    if (touched != nullptr) return try_at(call, touched->key());
    return std::any_of(keys.begin(), keys.end(),
                       [&](const WaitKey& key) { return try_at(call, key.key()); });
  }
  void time_out(Call& call) override { call.reply.null_array(); }
  size_t own_bytes() const override { return block_bytes(sizeof(*this)); }

 private:
  bool try_at(Call& call, std::string_view key) const {
    const storage::Ref ref = call.look_up(key);
    return ref.exists() && ref.type() == form_->type && form_->attempt(call, key);
  }

  const WaitForm* form_;
};

// Answers the instant at which a wait of so many seconds ends; 0 seconds mean never.
Result<int64_t, ErrorReplied> deadline_argument(Call& call, std::string_view text) {
  const auto seconds = resp::parse_long_double(text);
  if (!seconds || std::isnan(*seconds))
    return reply_error(call, "ERR timeout is not a float or out of range");
  const long double timeout_ms = std::ceil(*seconds * kMsPerS);
  // Redis reads a number that does not fit in its integer as negative.
  if (timeout_ms < 0 || timeout_ms >= 0x1p63L) return reply_error(call, "ERR timeout is negative");
  if (timeout_ms == 0 || timeout_ms >= static_cast<long double>((kNotDue - call.now_ns) / kNsPerMs))
    return kNotDue;
  return call.now_ns + static_cast<int64_t>(timeout_ms) * kNsPerMs;
}

std::vector<WaitKey> wait_keys(Call& call, Args keys) {
  std::vector<WaitKey> result;
  ViewSet seen;
  for (const std::string_view key : keys) {
    if (seen.insert(key).second) result.emplace_back(call.database, key);
  }
  return result;
}

void wait_for(Call& call, const WaitForm& form, Args keys, int64_t deadline_ns) {
  auto waiter = std::make_unique<ElementWaiter>(&form);
  waiter->keys = wait_keys(call, keys);
  waiter->deadline_ns = deadline_ns;
  call.host.wait(call, std::move(waiter));
}

void take_or_wait(Call& call, const WaitForm& form, Args keys, std::string_view timeout) {
  const auto deadline_ns = deadline_argument(call, timeout);
  if (!deadline_ns) return;
  const auto attempt = [&](std::string_view key) { return form.attempt(call, key); };
  if (std::any_of(keys.begin(), keys.end(), attempt)) return;
  if (!call.session.wait_state().permitted()) return call.reply.null_array();
  wait_for(call, form, keys, *deadline_ns);
}

// Takes from the first key that has something, or waits. The arguments are: key [key ...] timeout
void take_first(Call& call, const WaitForm& form) {
  take_or_wait(call, form, call.args.subspan(1, call.args.size() - 2), call.args.back());
}

constexpr WaitForm kLeft = {Type::kList, [](Call& call, std::string_view key) {
                              return try_pop_with_key(call, key, End::kLeft);
                            }};
constexpr WaitForm kRight = {Type::kList, [](Call& call, std::string_view key) {
                               return try_pop_with_key(call, key, End::kRight);
                             }};
constexpr WaitForm kLowest = {Type::kZset, [](Call& call, std::string_view key) {
                                return try_pop(call, key, {.reply = Pop::Reply::kOne});
                              }};
constexpr WaitForm kHighest = {Type::kZset, [](Call& call, std::string_view key) {
                                 return try_pop(call, key,
                                                {.highest = true, .reply = Pop::Reply::kOne});
                               }};
constexpr WaitForm kElements = {Type::kList, [](Call& call, std::string_view key) {
                                  const auto arguments = keyed_pop_arguments(call, 2, kEndsToPop);
                                  return !arguments || try_pop_several(call, key, arguments->pop);
                                }};
constexpr WaitForm kMembers = {Type::kZset, [](Call& call, std::string_view key) {
                                 const auto arguments = keyed_pop_arguments(call, 2, kMembersToPop);
                                 return !arguments || try_pop(call, key, arguments->pop);
                               }};

void blpop(Call& call) { take_first(call, kLeft); }
void brpop(Call& call) { take_first(call, kRight); }
void bzpopmin(Call& call) { take_first(call, kLowest); }
void bzpopmax(Call& call) { take_first(call, kHighest); }

void blmpop(Call& call) {
  const auto arguments = keyed_pop_arguments(call, 2, kEndsToPop);
  if (arguments) take_or_wait(call, kElements, arguments->keys, call.args[1]);
}

void bzmpop(Call& call) {
  const auto arguments = keyed_pop_arguments(call, 2, kMembersToPop);
  if (arguments) take_or_wait(call, kMembers, arguments->keys, call.args[1]);
}

// Sessions that wait for the target are woken here: no other code knows of it when a waiter moves.
bool move_and_wake(Call& call, const ListMove& move) {
  if (!try_move(call, move)) return false;
  server_of(call).waiting().signal(call.database, move.target);
  return true;
}

constexpr WaitForm kMove = {Type::kList, [](Call& call, std::string_view) {
                              const auto move = move_arguments(call);
                              return !move || move_and_wake(call, *move);
                            }};
constexpr WaitForm kMoveBackToFront = {
    Type::kList, [](Call& call, std::string_view) {
      return move_and_wake(call, {.source = call.args[1], .target = call.args[2]});
    }};

// If the session may not wait, the answer is the null of an element and not of an array.
void move_or_wait(Call& call, const WaitForm& form, std::string_view timeout) {
  const auto deadline_ns = deadline_argument(call, timeout);
  if (!deadline_ns || form.attempt(call, call.args[1])) return;
  if (!call.session.wait_state().permitted()) return call.reply.null();
  wait_for(call, form, call.args.subspan(1, 1), *deadline_ns);
}

void blmove(Call& call) {
  if (move_arguments(call)) move_or_wait(call, kMove, call.args[5]);
}

void brpoplpush(Call& call) { move_or_wait(call, kMoveBackToFront, call.args[3]); }

constexpr uint32_t kWaits = kWrites | kBlocking;

constexpr Command kListBlockingCommands[] = {
    {.name = "blpop",
     .arity = -3,
     .flags = kWaits | kNoScript,
     .keys = {1, -2, 1, 0, KeyUse::kTakes},
     .group = "list",
     .usage = "key [key ...] timeout:double",
     .summary =
         "Takes an element out at the front of the first list that has one, or waits for it.",
     .since = "2.0.0",
     .run = blpop},
    {.name = "brpop",
     .arity = -3,
     .flags = kWaits | kNoScript,
     .keys = {1, -2, 1, 0, KeyUse::kTakes},
     .group = "list",
     .usage = "key [key ...] timeout:double",
     .summary = "Takes an element out at the back of the first list that has one, or waits for it.",
     .since = "2.0.0",
     .run = brpop},
    {.name = "blmpop",
     .arity = -5,
     .flags = kWaits | kMovableKeys,
     .keys = {.numkeys = 2, .use = KeyUse::kTakes},
     .group = "list",
     .usage = "timeout:double numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
     .summary = "Takes elements out of the first list that has some, or waits for them.",
     .since = "7.0.0",
     .run = blmpop},
    {.name = "blmove",
     .arity = 6,
     .flags = kWaits | kNoScript | kDenyOom,
     .keys = {1, 2, 1, 0, KeyUse::kTakes, KeyUse::kInserts},
     .group = "list",
     .usage = "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout:double",
     .summary = "Moves an element from one list to another, or waits for one.",
     .since = "6.2.0",
     .run = blmove},
    {.name = "brpoplpush",
     .arity = 4,
     .flags = kWaits | kNoScript | kDenyOom,
     .keys = {1, 2, 1, 0, KeyUse::kTakes, KeyUse::kInserts},
     .group = "list",
     .usage = "source destination timeout:double",
     .summary = "Moves the last element of a list to the front of another, or waits for one.",
     .since = "2.2.0",
     .run = brpoplpush},
    {.name = "bzpopmin",
     .arity = -3,
     .flags = kWaits | kNoScript | kFast,
     .keys = {1, -2, 1, 0, KeyUse::kTakes},
     .group = "sorted-set",
     .usage = "key [key ...] timeout:double",
     .summary = "Takes the lowest member of the first sorted set that has one, or waits for it.",
     .since = "5.0.0",
     .run = bzpopmin},
    {.name = "bzpopmax",
     .arity = -3,
     .flags = kWaits | kNoScript | kFast,
     .keys = {1, -2, 1, 0, KeyUse::kTakes},
     .group = "sorted-set",
     .usage = "key [key ...] timeout:double",
     .summary = "Takes the highest member of the first sorted set that has one, or waits for it.",
     .since = "5.0.0",
     .run = bzpopmax},
    {.name = "bzmpop",
     .arity = -5,
     .flags = kWaits | kMovableKeys,
     .keys = {.numkeys = 2, .use = KeyUse::kTakes},
     .group = "sorted-set",
     .usage = "timeout:double numkeys key [key ...] <MIN | MAX> [COUNT count]",
     .summary = "Takes members out of the first sorted set that has some, or waits for them.",
     .since = "7.0.0",
     .run = bzmpop},
};

}  // namespace

Commands list_blocking_commands() { return kListBlockingCommands; }

}  // namespace weir::server
