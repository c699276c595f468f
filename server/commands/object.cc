// OBJECT: what Redis tells of the form in which it keeps a value, as far as that means something
// here.
#include "resp/numbers.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"
#include "server/types/collection.h"

namespace weir::server {
namespace {

using storage::Type;

std::string_view string_encoding(std::string_view value) {
  constexpr size_t kEmbeddedBytesMax = 44;
  if (resp::parse_int64(value)) return "int";
  return value.size() <= kEmbeddedBytesMax ? "embstr" : "raw";
}

// Answers the encoding that Redis would use. Here strings have one form, and collections the two
// that Redis has.
std::string_view encoding_of(const storage::Ref& ref) {
  const auto by_form = [&ref](std::string_view compact, std::string_view large) {
    return form_of(ref) == Form::kCompact ? compact : large;
  };
  switch (ref.type()) {
    case Type::kString:
      return string_encoding(ref.value());
    case Type::kHash:
      return by_form("listpack", "hashtable");
    case Type::kSet:
      return by_form("intset", "hashtable");
    case Type::kZset:
      return by_form("listpack", "skiplist");
    case Type::kList:
      return "quicklist";
    default:
      return "raw";
  }
}

// Looks a key up. It counts as a hit or a miss, but no event tells of a miss.
storage::Ref look_at(Call& call) {
  const storage::Ref ref = call.look_up(call.args[2]);
  ++(ref.exists() ? server_of(call).report().stats.keyspace_hits
                  : server_of(call).report().stats.keyspace_misses);
  return ref;
}

void object_encoding(Call& call) {
  const storage::Ref ref = look_at(call);
  ref.exists() ? call.reply.bulk(encoding_of(ref)) : call.reply.null();
}

void object_refcount(Call& call) {
  const storage::Ref ref = look_at(call);
  ref.exists() ? call.reply.integer(1) : call.reply.null();
}

void object_idletime(Call& call) {
  const storage::Ref ref = look_at(call);
  ref.exists() ? call.reply.integer(0) : call.reply.null();
}

void object_freq(Call& call) {
  if (!look_at(call).exists()) return call.reply.null();
  call.reply.error(
      "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that "
      "when switching between policies at runtime LRU and LFU data will take some time to adjust.");
}

constexpr Command kObjectCommands[] = {
    {.name = "object",
     .arity = -2,
     .flags = kContainer,
     .group = "generic",
     .summary = "Tells about the value at a key.",
     .since = "2.2.3"},
    {.name = "object|encoding",
     .arity = 3,
     .flags = kReads,
     .keys = {2, 2, 1, 0, KeyUse::kLooks},
     .group = "generic",
     .usage = "key",
     .summary = "Answers the form in which Redis would keep the value.",
     .since = "2.2.3",
     .tips = "nondeterministic_output",
     .run = object_encoding},
    {.name = "object|refcount",
     .arity = 3,
     .flags = kReads,
     .keys = {2, 2, 1, 0, KeyUse::kLooks},
     .group = "generic",
     .usage = "key",
     .summary = "Answers 1 for every key: values are not shared.",
     .since = "2.2.3",
     .tips = "nondeterministic_output",
     .run = object_refcount},
    {.name = "object|idletime",
     .arity = 3,
     .flags = kReads,
     .keys = {2, 2, 1, 0, KeyUse::kLooks},
     .group = "generic",
     .usage = "key",
     .summary = "Answers 0 for every key: when it was used last is not kept.",
     .since = "2.2.3",
     .tips = "nondeterministic_output",
     .run = object_idletime},
    {.name = "object|freq",
     .arity = 3,
     .flags = kReads,
     .keys = {2, 2, 1, 0, KeyUse::kLooks},
     .group = "generic",
     .usage = "key",
     .summary = "An error, since how often a key is used is not kept.",
     .since = "4.0.0",
     .tips = "nondeterministic_output",
     .run = object_freq},
    {.name = "object|help",
     .arity = 2,
     .flags = kLoading,
     .group = "generic",
     .categories = "keyspace",
     .summary = "Answers what the subcommands do.",
     .since = "6.2.0",
     .run = container_help},
};

}  // namespace

Commands object_commands() { return kObjectCommands; }

}  // namespace weir::server
