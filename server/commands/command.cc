// COMMAND: the table of commands, as clients and redis-cli read it. All of it comes from the rows.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "resp/glob.h"
#include "server/command/arguments.h"
#include "server/command/command_errors.h"
#include "server/command/command_facts.h"
#include "server/command/usage.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

using Rows = std::vector<const Command*>;

const CommandTable& table(const Call& call) { return server_of(call).executor().table(); }

void status_set(resp::ReplyWriter& reply, const std::vector<std::string_view>& words,
                std::string_view prefix = {}) {
  reply.set(static_cast<int64_t>(words.size()));
  for (const std::string_view word : words) reply.status(std::string(prefix) + std::string(word));
}

void bulk_set(resp::ReplyWriter& reply, const std::vector<std::string_view>& words) {
  reply.set(static_cast<int64_t>(words.size()));
  for (const std::string_view word : words) reply.bulk(word);
}

void bulk_and_integer(resp::ReplyWriter& reply, std::string_view name, int64_t value) {
  reply.bulk(name);
  reply.integer(value);
}

struct KeySpecification {
  int index;
  std::string_view find;  // "range" or "keynum"
  std::array<std::pair<std::string_view, int>, 3> numbers;
  KeyUse use;
};

std::vector<KeySpecification> key_specifications(const Command& command) {
  std::vector<KeySpecification> found;
  const KeyPositions& keys = command.keys;
  const KeyUse others = others_use(command);
  const auto add_range = [&](int first, int last, KeyUse use) {
    const int last_key = last < 0 ? last : last - first;
    found.push_back({.index = first,
                     .find = "range",
                     .numbers = {{{"lastkey", last_key}, {"keystep", keys.step}, {"limit", 0}}},
                     .use = use});
  };
  const bool alike = others == first_use(command) || keys.last == keys.first;
  if (keys.first > 0) add_range(keys.first, alike ? keys.last : keys.first, first_use(command));
  if (keys.first > 0 && !alike) add_range(keys.first + 1, keys.last, others);
  if (keys.numkeys == 0) return found;
  found.push_back({.index = keys.numkeys,
                   .find = "keynum",
                   .numbers = {{{"keynumidx", 0}, {"firstkey", 1}, {"keystep", 1}}},
                   .use = keys.first > 0 ? others : first_use(command)});
  return found;
}

void describe_keys(resp::ReplyWriter& reply, const Command& command) {
  const auto specifications = key_specifications(command);
  reply.set(static_cast<int64_t>(specifications.size()));
  for (const KeySpecification& specification : specifications) {
    reply.map(3);
    reply.bulk("flags");
    status_set(reply, use_names(specification.use));
    reply.bulk("begin_search");
    reply.map(2);
    reply.bulk("type");
    reply.bulk("index");
    reply.bulk("spec");
    reply.map(1);
    bulk_and_integer(reply, "index", specification.index);
    reply.bulk("find_keys");
    reply.map(2);
    reply.bulk("type");
    reply.bulk(specification.find);
    reply.bulk("spec");
    reply.map(3);
    for (const auto& [name, number] : specification.numbers) bulk_and_integer(reply, name, number);
  }
}

void describe(Call& call, const Command& command) {
  resp::ReplyWriter& reply = call.reply;
  reply.array(10);
  reply.bulk(command.name);
  reply.integer(command.arity);
  status_set(reply, flag_names(command));
  reply.integer(command.keys.first);
  reply.integer(command.keys.last);
  reply.integer(command.keys.step);
  status_set(reply, acl_categories(command), "@");
  bulk_set(reply, tips(command));
  describe_keys(reply, command);
  const Rows subcommands = command.has(kContainer) ? table(call).subcommands(command) : Rows();
  reply.array(static_cast<int64_t>(subcommands.size()));
  for (const Command* row : subcommands) describe(call, *row);
}

void describe_all(Call& call) {
  call.reply.array(static_cast<int64_t>(table(call).all().size()));
  for (const Command* row : table(call).all()) describe(call, *row);
}

void command_count(Call& call) {
  call.reply.integer(static_cast<int64_t>(table(call).all().size()));
}

void command_info(Call& call) {
  if (call.args.size() == 2) return describe_all(call);
  call.reply.array(static_cast<int64_t>(call.args.size() - 2));
  for (const std::string_view name : call.args.subspan(2)) {
    const Command* row = table(call).find_by_full_name(name);
    if (row == nullptr) {
      call.reply.null();
    } else {
      describe(call, *row);
    }
  }
}

bool fits_filter(const Command& row, std::string_view filter, std::string_view value) {
  if (equals_ignoring_case(filter, "PATTERN")) return resp::glob_match(value, row.name, true);
  if (equals_ignoring_case(filter, "MODULE")) return false;
  const auto categories = acl_categories(row);
  return std::find(categories.begin(), categories.end(), to_lower(value)) != categories.end();
}

void command_list(Call& call) {
  const Args args = call.args;
  const bool filtered =
      args.size() == 5 && equals_ignoring_case(args[2], "FILTERBY") &&
      (equals_ignoring_case(args[3], "PATTERN") || equals_ignoring_case(args[3], "MODULE") ||
       equals_ignoring_case(args[3], "ACLCAT"));
  if (args.size() != 2 && !filtered) return call.reply.error(kSyntaxError);
  if (filtered && !check_pattern(call, args[4])) return;
  std::vector<std::string_view> names;
  for (size_t i = 0; i < table(call).count(); ++i) {
    const Command& row = *table(call).row(i);
    if (!filtered || fits_filter(row, args[3], args[4])) names.push_back(row.name);
  }
  std::sort(names.begin(), names.end());
  call.reply.array(static_cast<int64_t>(names.size()));
  for (const std::string_view name : names) call.reply.bulk(name);
}

void document_arguments(resp::ReplyWriter& reply, const std::vector<UsageArgument>& arguments);

void document_argument(resp::ReplyWriter& reply, const UsageArgument& argument) {
  std::vector<std::string_view> flags;
  if (argument.optional) flags.push_back("optional");
  if (argument.multiple) flags.push_back("multiple");
  if (argument.multiple_token) flags.push_back("multiple_token");
  const bool is_key = argument.kind == UsageKind::kKey;
  reply.map(2 + is_key + !argument.token.empty() + !flags.empty() + !argument.arguments.empty());
  reply.bulk("name");
  reply.bulk(argument.name);
  reply.bulk("type");
  reply.bulk(usage_kind_name(argument.kind));
  if (is_key) bulk_and_integer(reply, "key_spec_index", 0);
  if (!argument.token.empty()) {
    reply.bulk("token");
    reply.bulk(argument.token);
  }
  if (!flags.empty()) {
    reply.bulk("flags");
    status_set(reply, flags);
  }
  if (argument.arguments.empty()) return;
  reply.bulk("arguments");
  document_arguments(reply, argument.arguments);
}

void document_arguments(resp::ReplyWriter& reply, const std::vector<UsageArgument>& arguments) {
  reply.array(static_cast<int64_t>(arguments.size()));
  for (const UsageArgument& argument : arguments) document_argument(reply, argument);
}

void document(Call& call, const Command& command) {
  resp::ReplyWriter& reply = call.reply;
  const auto arguments = parse_usage(command.usage);
  const Rows subcommands = command.has(kContainer) ? table(call).subcommands(command) : Rows();
  reply.bulk(command.name);
  reply.map(3 + !arguments.empty() + !subcommands.empty());
  reply.bulk("summary");
  reply.bulk(command.summary);
  reply.bulk("since");
  reply.bulk(command.since);
  reply.bulk("group");
  reply.bulk(group_name(command));
  if (!arguments.empty()) {
    reply.bulk("arguments");
    document_arguments(reply, arguments);
  }
  if (subcommands.empty()) return;
  reply.bulk("subcommands");
  reply.map(static_cast<int64_t>(subcommands.size()));
  for (const Command* row : subcommands) document(call, *row);
}

void command_docs(Call& call) {
  Rows rows;
  for (const std::string_view name : call.args.subspan(2)) {
    const Command* row = table(call).find_by_full_name(name);
    if (row != nullptr) rows.push_back(row);
  }
  if (call.args.size() == 2) rows = table(call).all();
  call.reply.map(static_cast<int64_t>(rows.size()));
  for (const Command* row : rows) document(call, *row);
}

// Answers the keys of the request that is asked about.
Result<std::vector<KeyReference>, ErrorReplied> keys_asked(Call& call, Args asked) {
  const Command* command = table(call).resolve(asked);
  if (command == nullptr) return reply_error(call, "ERR Invalid command specified");
  if (!has_keys(*command)) return reply_error(call, "ERR The command has no key arguments");
  if (!arity_fits(*command, asked.size()))
    return reply_error(call, "ERR Invalid number of arguments specified for command");
  auto keys = find_keys(*command, asked);
  if (keys.empty() && command->group != "scripting")
    return reply_error(call, "ERR Invalid arguments specified for command");
  return keys;
}

void command_getkeys(Call& call) {
  const Args asked = call.args.subspan(2);
  const auto keys = keys_asked(call, asked);
  if (!keys) return;
  call.reply.array(static_cast<int64_t>(keys->size()));
  for (const KeyReference& key : *keys) call.reply.bulk(asked[key.position]);
}

void command_getkeysandflags(Call& call) {
  const Args asked = call.args.subspan(2);
  const auto keys = keys_asked(call, asked);
  if (!keys) return;
  call.reply.array(static_cast<int64_t>(keys->size()));
  for (const KeyReference& key : *keys) {
    call.reply.array(2);
    call.reply.bulk(asked[key.position]);
    status_set(call.reply, use_names(key.use));
  }
}

constexpr Command command_row(Command command) {
  command.flags |= kLoading;
  command.group = "server";
  command.categories = "connection";
  return command;
}

constexpr Command kCommandCommands[] = {
    command_row({.name = "command",
                 .arity = -1,
                 .flags = kContainer,
                 .summary = "Describes all commands.",
                 .since = "2.8.13",
                 .tips = "nondeterministic_output_order",
                 .run = describe_all}),
    command_row({.name = "command|count",
                 .arity = 2,
                 .summary = "Answers how many commands there are.",
                 .since = "2.8.13",
                 .run = command_count}),
    command_row({.name = "command|docs",
                 .arity = -2,
                 .usage = "[command-name [command-name ...]]",
                 .summary = "Answers what commands are for and which arguments they take.",
                 .since = "7.0.0",
                 .tips = "nondeterministic_output_order",
                 .run = command_docs}),
    command_row({.name = "command|getkeys",
                 .arity = -4,
                 .usage = "command [arg [arg ...]]",
                 .summary = "Picks the keys out of a whole command.",
                 .since = "2.8.13",
                 .run = command_getkeys}),
    command_row({.name = "command|getkeysandflags",
                 .arity = -4,
                 .usage = "command [arg [arg ...]]",
                 .summary = "Picks the keys out of a whole command, and says how each is used.",
                 .since = "7.0.0",
                 .run = command_getkeysandflags}),
    command_row({.name = "command|help",
                 .arity = 2,
                 .summary = "Lists the subcommands.",
                 .since = "5.0.0",
                 .run = container_help}),
    command_row({.name = "command|info",
                 .arity = -2,
                 .usage = "[command-name [command-name ...]]",
                 .summary = "Describes the named commands, or all.",
                 .since = "2.8.13",
                 .tips = "nondeterministic_output_order",
                 .run = command_info}),
    command_row({.name = "command|list",
                 .arity = -2,
                 .usage = "[FILTERBY <MODULE module-name|ACLCAT category|PATTERN pattern>]",
                 .summary = "Lists the names of commands.",
                 .since = "7.0.0",
                 .tips = "nondeterministic_output_order",
                 .run = command_list}),
};

}  // namespace

Commands command_info_commands() { return kCommandCommands; }

}  // namespace weir::server
