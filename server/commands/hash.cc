// Hashes, read: HGET, HMGET, HGETALL, HKEYS, HVALS, HLEN, HSTRLEN, HEXISTS, HRANDFIELD, HSCAN.
#include "server/types/hash.h"

#include <limits>

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/types/random_picks.h"
#include "server/types/scan.h"

namespace weir::server {
namespace {

using storage::Element;
using storage::Type;

Result<Collection, ErrorReplied> read_hash(Call& call) {
  return read_collection(call, call.args[1], Type::kHash);
}

void reply_value(Call& call, const std::optional<Element>& found) {
  found ? call.reply.bulk(found->value) : call.reply.null();
}

void hget(Call& call) {
  const auto hash = read_hash(call);
  if (hash) reply_value(call, hash->find(call.args[2]));
}

void hmget(Call& call) {
  const auto hash = read_hash(call);
  if (!hash) return;
  call.reply.array(static_cast<int64_t>(call.args.size()) - 2);
  for (const std::string_view field : call.args.subspan(2)) reply_value(call, hash->find(field));
}

void hgetall(Call& call) {
  const auto hash = read_hash(call);
  if (!hash) return;
  call.reply.map(static_cast<int64_t>(hash->size()));
  hash->walk([&call](const Element& element) {
    call.reply.bulk(element.member);
    call.reply.bulk(element.value);
    return true;
  });
}

void reply_each(Call& call, std::string_view Element::*part) {
  const auto hash = read_hash(call);
  if (!hash) return;
  call.reply.array(static_cast<int64_t>(hash->size()));
  hash->walk([&call, part](const Element& element) {
    call.reply.bulk(element.*part);
    return true;
  });
}

void hkeys(Call& call) { reply_each(call, &Element::member); }

void hvals(Call& call) { reply_each(call, &Element::value); }

void hlen(Call& call) {
  if (const auto hash = read_hash(call)) call.reply.integer(static_cast<int64_t>(hash->size()));
}

void hstrlen(Call& call) {
  const auto hash = read_hash(call);
  if (!hash) return;
  const auto found = hash->find(call.args[2]);
  call.reply.integer(found ? static_cast<int64_t>(found->value.size()) : 0);
}

void hexists(Call& call) {
  if (const auto hash = read_hash(call)) call.reply.integer(hash->find(call.args[2]) ? 1 : 0);
}

struct WantedFields {
  int64_t count;
  bool with_values;
};

// A count, and twice the count, must be numbers that Redis can hold.
Result<WantedFields, ErrorReplied> wanted_fields(Call& call) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const auto count = count_argument(call, call.args[2]);
  if (!count) return count.error();
  const bool with_values = call.args.size() == 4;
  if (call.args.size() > 4 || (with_values && !equals_ignoring_case(call.args[3], "WITHVALUES"))) {
    return reply_error(call, kSyntaxError);
  }
  if (with_values && (*count < -kMax / 2 || *count > kMax / 2)) {
    return reply_error(call, "ERR value is out of range");
  }
  return WantedFields{.count = *count, .with_values = with_values};
}

// In RESP3 a field and its value are an array of their own.
void reply_fields(Call& call, const Collection& hash, const WantedFields& wanted) {
  const auto picks = picks_of(call, hash, wanted.count);
  if (!picks) return;
  const bool nested = wanted.with_values && call.reply.protocol() >= 3;
  const size_t flat = wanted.with_values && !nested ? 2 : 1;
  call.reply.array(static_cast<int64_t>(*picks * flat));
  pick_some(call, hash, wanted.count, [&](const Element& element) {
    if (nested) call.reply.array(2);
    call.reply.bulk(element.member);
    if (wanted.with_values) call.reply.bulk(element.value);
  });
}

void hrandfield(Call& call) {
  if (call.args.size() > 2) {
    const auto wanted = wanted_fields(call);
    if (!wanted) return;
    if (const auto hash = read_hash(call)) reply_fields(call, *hash, *wanted);
    return;
  }
  const auto hash = read_hash(call);
  if (!hash) return;
  hash->exists() ? call.reply.bulk(pick(call, *hash).member) : call.reply.null();
}

void hscan(Call& call) {
  scan_collection(call, Type::kHash, [](const Element& element, Bulks* page) {
    page->add(element.member);
    page->add(element.value);
  });
}

constexpr Command kHashCommands[] = {
    {.name = "hget",
     .arity = 3,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key field",
     .summary = "Answers the value of a field.",
     .since = "2.0.0",
     .run = hget},
    {.name = "hmget",
     .arity = -3,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key field [field ...]",
     .summary = "Answers the values of several fields, null where there is none.",
     .since = "2.0.0",
     .run = hmget},
    {.name = "hgetall",
     .arity = 2,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key",
     .summary = "Answers all fields and their values.",
     .since = "2.0.0",
     .tips = "nondeterministic_output_order",
     .run = hgetall},
    {.name = "hkeys",
     .arity = 2,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key",
     .summary = "Answers all fields.",
     .since = "2.0.0",
     .tips = "nondeterministic_output_order",
     .run = hkeys},
    {.name = "hvals",
     .arity = 2,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key",
     .summary = "Answers the values of all fields.",
     .since = "2.0.0",
     .tips = "nondeterministic_output_order",
     .run = hvals},
    {.name = "hlen",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kLooks},
     .group = "hash",
     .usage = "key",
     .summary = "Answers how many fields there are.",
     .since = "2.0.0",
     .run = hlen},
    {.name = "hstrlen",
     .arity = 3,
     .flags = kReads | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kLooks},
     .group = "hash",
     .usage = "key field",
     .summary = "Answers how many bytes the value of a field has.",
     .since = "3.2.0",
     .run = hstrlen},
    {.name = "hexists",
     .arity = 3,
     .flags = kReads | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kLooks},
     .group = "hash",
     .usage = "key field",
     .summary = "Answers whether a field exists.",
     .since = "2.0.0",
     .run = hexists},
    {.name = "hrandfield",
     .arity = -2,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key [count [WITHVALUES]]",
     .summary = "Answers random fields, different ones unless the count is negative.",
     .since = "6.2.0",
     .tips = "nondeterministic_output",
     .run = hrandfield},
    {.name = "hscan",
     .arity = -3,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key cursor [MATCH pattern] [COUNT count]",
     .summary = "Answers some fields with their values, and the cursor to go on from.",
     .since = "2.8.0",
     .tips = "nondeterministic_output",
     .run = hscan},
};

}  // namespace

Commands hash_commands() { return kHashCommands; }

}  // namespace weir::server
