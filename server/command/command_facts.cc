#include "server/command/command_facts.h"

#include <algorithm>

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
    {kSkipSlowLog, "skip_slowlog"},
    {kSkipMonitor, "skip_monitor"},
    {kStale, "stale"},
    {kAllowBusy, "allow_busy"},
    {kNoAsyncLoading, "no_async_loading"},
    {kNoMandatoryKeys, "no_mandatory_keys"},
};

// The groups that are ACL categories too, under the same or another name.
struct GroupCategory {
  std::string_view group;
  std::string_view category;
};

constexpr GroupCategory kDataGroups[] = {
    {"set", "set"},   {"sorted-set", "sortedset"}, {"list", "list"},
    {"hash", "hash"}, {"string", "string"},        {"ratelimit", "ratelimit"},
};

constexpr GroupCategory kOtherGroups[] = {
    {"connection", "connection"},
    {"cluster", "connection"},
    {"transactions", "transaction"},
    {"scripting", "scripting"},
};

constexpr std::string_view kCategories[] = {
    "keyspace",  "read",      "write",          "set",        "sortedset",
    "list",      "hash",      "string",         "bitmap",     "hyperloglog",
    "geo",       "stream",    "pubsub",         "admin",      "fast",
    "slow",      "blocking",  "dangerous",      "connection", "transaction",
    "scripting", "ratelimit", "ratelimitadmin",
};

struct UseNames {
  KeyUse use;
  std::string_view names[4];
};

constexpr UseNames kUseNames[] = {
    {KeyUse::kReads, {"RO", "access"}},
    {KeyUse::kLooks, {"RO"}},
    {KeyUse::kEdits, {"RW", "access", "update"}},
    {KeyUse::kUpdates, {"RW", "update"}},
    {KeyUse::kInserts, {"RW", "insert"}},
    {KeyUse::kDeletes, {"RW", "delete"}},
    {KeyUse::kTakes, {"RW", "access", "delete"}},
    {KeyUse::kOverwrites, {"OW", "update"}},
    {KeyUse::kCreates, {"OW", "insert"}},
    {KeyUse::kRemoves, {"RM", "delete"}},
    {KeyUse::kByOptions, {"RW", "access", "update", "variable_flags"}},
    {KeyUse::kNoKey, {"not_key"}},
};

// What is the operator's comes to nobody by the right to read keys.
bool reads_for_anybody(const Command& command) {
  return command.has(kReads) && !command.has(kWrites | kAdmin);
}

bool is_keyspace(const Command& command) {
  if (command.group == "generic") return has_keys(command) || command.has(kReads | kWrites);
  return command.group == "server" && (command.has(kWrites) || reads_for_anybody(command));
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

void add_words(std::vector<std::string_view>* list, std::string_view words) {
  while (!words.empty()) {
    const size_t size = std::min(words.find(' '), words.size());
    list->push_back(words.substr(0, size));
    words.remove_prefix(std::min(size + 1, words.size()));
  }
}

KeyUse resolved(const Command& command, KeyUse use) {
  if (use != KeyUse::kAsFlags) return use;
  return command.has(kWrites | kMayReplicate) ? KeyUse::kEdits : KeyUse::kReads;
}

}  // namespace

std::vector<std::string_view> flag_names(const Command& command) {
  std::vector<std::string_view> names;
  for (const FlagName& known : kFlagNames) {
    // A command that both reads and writes counts as a write.
    if (known.flag == kReads && command.has(kWrites)) continue;
    if (command.has(known.flag)) names.push_back(known.name);
  }
  return names;
}

std::vector<std::string_view> tips(const Command& command) {
  std::vector<std::string_view> words;
  add_words(&words, command.tips);
  return words;
}

std::span<const std::string_view> all_acl_categories() { return kCategories; }

std::vector<std::string_view> acl_categories(const Command& command) {
  std::vector<std::string_view> categories;
  const std::string_view group = command.has(kContainer) ? std::string_view() : command.group;
  const bool by_group = command.categories.empty();
  const auto add_if = [&](bool condition, std::string_view category) {
    if (condition) categories.push_back(category);
  };
  const bool scripting = group == "scripting";
  add_if(by_group && !command.has(kContainer) && is_keyspace(command), "keyspace");
  add_if(reads_for_anybody(command) && !scripting, "read");
  add_if(command.has(kWrites), "write");
  if (by_group) add_group(&categories, kDataGroups, group);
  add_if(command.has(kPubsub), "pubsub");
  add_if(command.has(kAdmin), "admin");
  categories.push_back(command.has(kFast) ? "fast" : "slow");
  add_if(command.has(kBlocking), "blocking");
  add_if(is_dangerous(command), "dangerous");
  if (by_group) add_group(&categories, kOtherGroups, group);
  if (!by_group && command.categories != "-") add_words(&categories, command.categories);
  return categories;
}

std::string_view group_name(const Command& command) {
  return command.group.empty() ? std::string_view("generic") : command.group;
}

KeyUse first_use(const Command& command) { return resolved(command, command.keys.use); }

KeyUse others_use(const Command& command) {
  const KeyUse others = command.keys.others;
  return others == KeyUse::kAsFlags ? first_use(command) : others;
}

std::vector<KeyReference> find_keys(const Command& command, Args args) {
  std::vector<KeyReference> keys;
  if (!has_keys(command)) return keys;
  each_placed_key(command, args, [&](size_t position) {
    const KeyUse use = keys.empty() ? first_use(command) : others_use(command);
    keys.push_back({.position = position, .use = use});
  });
  if (command.more_keys != nullptr) command.more_keys(args, &keys);
  return keys;
}

std::vector<std::string_view> keys_of(const Command& command, Args args) {
  std::vector<std::string_view> keys;
  for (const KeyReference& key : find_keys(command, args)) keys.push_back(args[key.position]);
  return keys;
}

std::vector<std::string_view> use_names(KeyUse use) {
  std::vector<std::string_view> names;
  for (const UseNames& known : kUseNames) {
    if (known.use != use) continue;
    for (const std::string_view name : known.names) {
      if (!name.empty()) names.push_back(name);
    }
  }
  return names;
}

bool needs_reading(KeyUse use) {
  return use == KeyUse::kReads || use == KeyUse::kEdits || use == KeyUse::kTakes ||
         use == KeyUse::kByOptions;
}

bool needs_writing(KeyUse use) {
  return use != KeyUse::kReads && use != KeyUse::kLooks && use != KeyUse::kNoKey;
}

}  // namespace weir::server
