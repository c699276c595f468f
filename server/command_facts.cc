#include "server/command_facts.h"

#include <algorithm>

#include "resp/numbers.h"

namespace weir::server {
namespace {

struct FlagName {
  uint32_t flag;
  std::string_view name;
};

constexpr FlagName kFlagNames[] = {
    {kWrites, "write"},
    {kReads, "readonly"},
    {kDenyOom, "denyoom"},
    {kAdmin, "admin"},
    {kPubsub, "pubsub"},
    {kNoScript, "noscript"},
    {kBlocking, "blocking"},
    {kLoading, "loading"},
    {kLoading, "stale"},
    {kFast, "fast"},
    {kNoAuth, "no_auth"},
    {kNoMulti, "no_multi"},
    {kMovableKeys, "movablekeys"},
};

// Groups that are categories too, under the same or another name.
struct GroupCategory {
  std::string_view group;
  std::string_view category;
};

constexpr GroupCategory kDataGroups[] = {
    {"set", "set"},   {"sorted-set", "sortedset"}, {"list", "list"},
    {"hash", "hash"}, {"string", "string"},        {"limiter", "limiter"},
};

constexpr GroupCategory kOtherGroups[] = {
    {"connection", "connection"},
    {"cluster", "connection"},
    {"transactions", "transaction"},
    {"scripting", "scripting"},
};

bool is_keyspace(const Command& command) {
  if (command.group == "generic") return has_keys(command) || command.has(kReads | kWrites);
  return command.group == "server" && command.has(kReads | kWrites);
}

bool is_dangerous(const Command& command) {
  const bool rewrites_everything = command.group == "server" && command.has(kWrites);
  return command.has(kDangerous | kAdmin) || rewrites_everything;
}

void add_group(std::vector<std::string_view>* categories, std::span<const GroupCategory> groups,
               std::string_view group) {
  for (const GroupCategory& known : groups) {
    if (known.group == group) categories->push_back(known.category);
  }
}

}  // namespace

std::vector<std::string_view> flag_names(const Command& command) {
  std::vector<std::string_view> names;
  for (const FlagName& known : kFlagNames) {
    // What both reads and writes is a write.
    if (known.flag == kReads && command.has(kWrites)) continue;
    if (command.has(known.flag)) names.push_back(known.name);
  }
  return names;
}

std::vector<std::string_view> acl_categories(const Command& command) {
  std::vector<std::string_view> categories;
  const std::string_view group = command.has(kContainer) ? std::string_view() : command.group;
  const auto add_if = [&](bool condition, std::string_view category) {
    if (condition) categories.push_back(category);
  };
  add_if(!command.has(kContainer) && is_keyspace(command), "keyspace");
  add_if(command.has(kReads) && !command.has(kWrites), "read");
  add_if(command.has(kWrites), "write");
  add_group(&categories, kDataGroups, group);
  add_if(command.has(kPubsub), "pubsub");
  add_if(command.has(kAdmin), "admin");
  categories.push_back(command.has(kFast) ? "fast" : "slow");
  add_if(command.has(kBlocking), "blocking");
  add_if(is_dangerous(command), "dangerous");
  add_group(&categories, kOtherGroups, group);
  return categories;
}

std::string_view group_name(const Command& command) {
  return command.group.empty() ? std::string_view("generic") : command.group;
}

std::vector<std::string_view> keys_of(const Command& command, Args args) {
  std::vector<std::string_view> keys;
  const int count = static_cast<int>(args.size());
  const auto add = [&](int first, int last, int step) {
    for (int i = first; i <= last && i < count; i += step) {
      keys.push_back(args[static_cast<size_t>(i)]);
    }
  };
  if (command.keys.first > 0) {
    const int last = command.keys.last < 0 ? count + command.keys.last : command.keys.last;
    add(command.keys.first, last, command.keys.step);
  }
  const int numkeys = command.keys.numkeys;
  if (numkeys > 0 && numkeys < count) {
    const auto number = resp::parse_int64(args[static_cast<size_t>(numkeys)]);
    const int most = count - numkeys - 1;
    if (number && *number > 0) {
      add(numkeys + 1, numkeys + static_cast<int>(std::min<int64_t>(*number, most)), 1);
    }
  }
  return keys;
}

std::vector<std::string_view> key_flags(const Command& command) {
  if (command.has(kWrites)) return {"RW", "access", "update"};
  return {"RO", "access"};
}

}  // namespace weir::server
