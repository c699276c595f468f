// ACL: users and their rights, what was denied, and the categories of commands.
#include "server/acl/acl.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/time_units.h"
#include "server/command/arguments.h"
#include "server/command/command_errors.h"
#include "server/command/command_facts.h"
#include "server/command/redaction.h"
#include "server/command/reply_done.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

constexpr int64_t kPasswordBits = 256;
constexpr int64_t kPasswordBitsMax = 4096;
constexpr int64_t kShownDenials = 10;

std::string wrong_form(const Call& call) {
  return "ERR unknown subcommand or wrong number of arguments for '" +
         std::string(shown_part(call.args[1])) + "'. Try ACL HELP.";
}

std::vector<std::string> words_of(Args args) { return {args.begin(), args.end()}; }

void acl_whoami(Call& call) { call.reply.bulk(call.session.client().user().name()); }

void acl_users(Call& call) {
  const auto& users = server_of(call).acl().users().all();
  call.reply.array(static_cast<int64_t>(users.size()));
  for (const auto& [name, user] : users) call.reply.bulk(name);
}

void acl_list(Call& call) {
  const auto& users = server_of(call).acl().users().all();
  call.reply.array(static_cast<int64_t>(users.size()));
  for (const auto& [name, user] : users) call.reply.bulk(user->line());
}

void reply_selector(resp::ReplyWriter& reply, const acl::Selector& selector) {
  reply.bulk("commands");
  reply.bulk(selector.commands_text());
  reply.bulk("keys");
  reply.bulk(selector.keys_text());
  reply.bulk("channels");
  reply.bulk(selector.channels_text());
  if (selector.limits_text().empty()) return;
  reply.bulk("limits");
  reply.bulk(selector.limits_text());
}

// Users without rules about limits are shown as Redis shows them.
int64_t fields_of(const acl::Selector& selector) { return selector.limits_text().empty() ? 3 : 4; }

void acl_getuser(Call& call) {
  const auto user = server_of(call).acl().users().find(call.args[2]);
  resp::ReplyWriter& reply = call.reply;
  if (user == nullptr) return reply.null();
  reply.map(3 + fields_of(user->root()));
  reply.bulk("flags");
  const auto flags = user->flags();
  reply.set(static_cast<int64_t>(flags.size()));
  for (const std::string_view flag : flags) reply.bulk(flag);
  reply.bulk("passwords");
  reply.array(static_cast<int64_t>(user->passwords().size()));
  for (const std::string& hash : user->passwords()) reply.bulk(hash);
  reply_selector(reply, user->root());
  reply.bulk("selectors");
  reply.array(static_cast<int64_t>(user->selectors().size() - 1));
  for (size_t i = 1; i < user->selectors().size(); ++i) {
    reply.map(fields_of(user->selectors()[i]));
    reply_selector(reply, user->selectors()[i]);
  }
}

// A user's rules as the audit may tell them; "" for no user.
std::string told_rules(const acl::User* user) {
  return user == nullptr ? std::string() : without_hashes(user->line());
}

std::string told_user(const Call& call, std::string_view name) {
  return told_rules(server_of(call).acl().users().find(name).get());
}

void acl_setuser(Call& call) {
  const std::string_view name = call.args[2];
  std::string before = told_user(call, name);
  const auto set =
      server_of(call).acl().set_user(name, words_of(call.args.subspan(3)), call.session);
  call.host.audit().note(
      {.name = std::string(name), .before = std::move(before), .after = told_user(call, name)});
  reply_done(call, set);
}

void acl_deluser(Call& call) {
  const Args names = call.args.subspan(2);
  if (std::find(names.begin(), names.end(), acl::kDefaultUser) != names.end())
    return call.reply.error("ERR The 'default' user cannot be removed");
  int64_t deleted = 0;
  for (const std::string_view name : names) {
    std::string before = told_user(call, name);
    if (!server_of(call).acl().delete_user(name, call.session)) continue;
    ++deleted;
    call.host.audit().note({.name = std::string(name), .before = std::move(before)});
  }
  call.reply.integer(deleted);
}

void acl_cat(Call& call) {
  if (call.args.size() > 3) return call.reply.error(wrong_form(call));
  const auto categories = all_acl_categories();
  if (call.args.size() == 2) {
    call.reply.array(static_cast<int64_t>(categories.size()));
    for (const std::string_view category : categories) call.reply.bulk(category);
    return;
  }
  const std::string wanted = to_lower(call.args[2]);
  if (std::find(categories.begin(), categories.end(), wanted) == categories.end()) {
    return call.reply.error("ERR Unknown category '" + std::string(shown_part(call.args[2])) + "'");
  }
  const CommandTable& table = server_of(call).executor().table();
  std::vector<std::string_view> names;
  for (size_t i = 0; i < table.count(); ++i) {
    const auto of_row = acl_categories(*table.row(i));
    if (std::find(of_row.begin(), of_row.end(), wanted) != of_row.end())
      names.push_back(table.row(i)->name);
  }
  std::sort(names.begin(), names.end());
  call.reply.array(static_cast<int64_t>(names.size()));
  for (const std::string_view name : names) call.reply.bulk(name);
}

// Fills a password with bytes of the system: the server's own generator could be guessed.
bool fill_with_secrets(std::string* bytes) {
  constexpr size_t kAtOnce = 256;
  for (size_t at = 0; at < bytes->size(); at += kAtOnce) {
    if (::getentropy(bytes->data() + at, std::min(kAtOnce, bytes->size() - at)) != 0) return false;
  }
  return true;
}

void acl_genpass(Call& call) {
  if (call.args.size() > 3) return call.reply.error(wrong_form(call));
  int64_t bits = kPasswordBits;
  if (call.args.size() == 3) {
    const auto wanted = integer_argument(call, call.args[2]);
    if (!wanted) return;
    bits = *wanted;
  }
  if (bits <= 0 || bits > kPasswordBitsMax) {
    return call.reply.error(
        "ERR ACL GENPASS argument must be the number of bits for the output password, a positive "
        "number up to " +
        std::to_string(kPasswordBitsMax));
  }
  std::string secrets(static_cast<size_t>((bits + 3) / 4), '\0');
  if (!fill_with_secrets(&secrets)) return call.reply.error("ERR the system has no randomness");
  for (char& c : secrets) c = kHexDigits[c & 15];
  call.reply.bulk(secrets);
}

void acl_dryrun(Call& call) {
  const auto user = server_of(call).acl().users().find(call.args[2]);
  if (user == nullptr) {
    return call.reply.error("ERR User '" + std::string(shown_part(call.args[2])) + "' not found");
  }
  const Args asked = call.args.subspan(3);
  const Command* command = server_of(call).executor().table().resolve(asked);
  if (command == nullptr) {
    return call.reply.error("ERR Command '" + std::string(shown_part(asked[0])) + "' not found");
  }
  if (!arity_fits(*command, asked.size())) return call.reply.error(arity_error(*command));
  const acl::AccessDecision decision = user->check(*command, asked);
  const std::string who = "This user has no permissions to ";
  switch (decision.denial) {
    case acl::Denial::kNone:
      return call.reply.status("OK");
    case acl::Denial::kCommand:
      return call.reply.bulk(who + "run the '" + std::string(command->name) + "' command");
    case acl::Denial::kAdmin:
    case acl::Denial::kInline:
    case acl::Denial::kPolicy:
      return call.reply.bulk(who + std::string(limits_denied(decision.denial)));
    case acl::Denial::kKey:
      return call.reply.bulk(who + "access the '" + std::string(asked[decision.position]) +
                             "' key");
    case acl::Denial::kChannel:
      return call.reply.bulk(who + "access the '" + std::string(asked[decision.position]) +
                             "' channel");
  }
}

void reply_denied(resp::ReplyWriter& reply, const acl::Denied& denied, int64_t now_ms) {
  reply.map(10);
  reply.bulk("count");
  reply.integer(static_cast<int64_t>(denied.count));
  reply.bulk("reason");
  reply.bulk(reason_name(denied.reason));
  reply.bulk("context");
  reply.bulk(context_name(denied.context));
  reply.bulk("object");
  reply.bulk(denied.object);
  reply.bulk("username");
  reply.bulk(denied.user);
  reply.bulk("age-seconds");
  reply.real(static_cast<double>(now_ms - denied.at_ms) / kMsPerS);
  reply.bulk("client-info");
  reply.bulk(denied.client);
  reply.bulk("entry-id");
  reply.integer(static_cast<int64_t>(denied.id));
  reply.bulk("timestamp-created");
  reply.integer(denied.first_at_ms);
  reply.bulk("timestamp-last-updated");
  reply.integer(denied.at_ms);
}

void acl_log(Call& call) {
  if (call.args.size() > 3) return call.reply.error(wrong_form(call));
  acl::Denials& denials = server_of(call).acl().denials();
  int64_t wanted = kShownDenials;
  if (call.args.size() == 3) {
    if (equals_ignoring_case(call.args[2], "RESET")) {
      denials.clear();
      call.host.audit().note();
      return call.reply.status("OK");
    }
    const auto number = integer_argument(call, call.args[2]);
    if (!number) return;
    wanted = std::max<int64_t>(*number, 0);
  }
  const int64_t now_ms = server_of(call).clock().wall_ns() / kNsPerMs;
  const auto shown = std::min(wanted, static_cast<int64_t>(denials.entries().size()));
  call.reply.array(shown);
  for (int64_t i = 0; i < shown; ++i)
    reply_denied(call.reply, denials.entries()[static_cast<size_t>(i)], now_ms);
}

// Tells of all users whose rules or passwords are others than before.
void acl_load(Call& call) {
  const auto told = [&call] {
    std::map<std::string, std::string> lines;
    for (const auto& [name, user] : server_of(call).acl().users().all()) lines[name] = user->line();
    return lines;
  };
  std::map<std::string, std::string> before = told();
  const auto loaded = server_of(call).acl().load(call.session);
  std::map<std::string, std::string> after = told();
  for (const auto& [name, line] : after) before.try_emplace(name);
  for (auto& [name, line] : before) {
    if (line != after[name])
      call.host.audit().note(
          {.name = name, .before = without_hashes(line), .after = without_hashes(after[name])});
  }
  reply_done(call, loaded);
}

void acl_save(Call& call) { reply_done(call, server_of(call).acl().save()); }

constexpr uint32_t kOpen = kNoScript | kLoading;
constexpr uint32_t kOthers = kAdmin | kNoScript | kLoading;

// Every row but its name, arity, usage, summary, version and function.
constexpr Command acl_row(Command command, uint32_t flags = kOthers) {
  command.flags |= flags;
  command.group = "server";
  return command;
}

constexpr Command kAclCommands[] = {
    acl_row(
        {.name = "acl", .arity = -2, .summary = "Knows users and their rights.", .since = "6.0.0"},
        kContainer),
    acl_row({.name = "acl|cat",
             .arity = -2,
             .usage = "[category]",
             .summary = "Lists the categories of commands, or the commands of one.",
             .since = "6.0.0",
             .run = acl_cat},
            kOpen),
    acl_row({.name = "acl|deluser",
             .arity = -3,
             .audit = Audit::kIfNoted,
             .usage = "username [username ...]",
             .summary = "Deletes users and closes their connections.",
             .since = "6.0.0",
             .run = acl_deluser}),
    acl_row({.name = "acl|dryrun",
             .arity = -4,
             .audit = Audit::kNo,
             .usage = "username command [arg [arg ...]]",
             .summary = "Answers whether a user may run a command, without running it.",
             .since = "7.0.0",
             .run = acl_dryrun}),
    acl_row({.name = "acl|genpass",
             .arity = -2,
             .usage = "[bits:integer]",
             .summary = "Makes up a password, of 256 bits if not said otherwise.",
             .since = "6.0.0",
             .run = acl_genpass},
            kOpen),
    acl_row({.name = "acl|getuser",
             .arity = 3,
             .audit = Audit::kNo,
             .usage = "username",
             .summary = "Answers a user's flags, password hashes and rights.",
             .since = "6.0.0",
             .run = acl_getuser}),
    acl_row({.name = "acl|help",
             .arity = 2,
             .summary = "Lists the subcommands.",
             .since = "6.0.0",
             .run = container_help},
            kLoading),
    acl_row({.name = "acl|list",
             .arity = 2,
             .audit = Audit::kNo,
             .summary = "Answers all users, each as a line of the file.",
             .since = "6.0.0",
             .run = acl_list}),
    acl_row({.name = "acl|load",
             .arity = 2,
             .audit = Audit::kIfNoted,
             .summary = "Reads the users from the aclfile again, all or, on an error, none.",
             .since = "6.0.0",
             .run = acl_load}),
    acl_row({.name = "acl|log",
             .arity = -2,
             .audit = Audit::kIfNoted,
             .usage = "[count | RESET]",
             .summary = "Answers what was denied lately and to whom, the newest first.",
             .since = "6.0.0",
             .run = acl_log}),
    acl_row({.name = "acl|save",
             .arity = 2,
             .audit = Audit::kYes,
             .summary = "Writes the users to the aclfile.",
             .since = "6.0.0",
             .run = acl_save}),
    acl_row({.name = "acl|setuser",
             .arity = -3,
             .secrets = Secrets::kRules,
             .audit = Audit::kIfNoted,
             .usage = "username [rule [rule ...]]",
             .summary = "Makes or changes a user, by all of the rules or, on an error, none.",
             .since = "6.0.0",
             .run = acl_setuser}),
    acl_row({.name = "acl|users",
             .arity = 2,
             .audit = Audit::kNo,
             .summary = "Lists the users' names.",
             .since = "6.0.0",
             .run = acl_users}),
    acl_row({.name = "acl|whoami",
             .arity = 2,
             .summary = "Answers the name of the connection's user.",
             .since = "6.0.0",
             .run = acl_whoami},
            kOpen),
};

}  // namespace

Commands acl_commands() { return kAclCommands; }

}  // namespace weir::server
