// CLIENT: what a connection says of itself, and what it may do to others.
//
// CAPA is accepted and has no effect. TRACKING and its partners are in tracking.cc.
#include <algorithm>
#include <limits>
#include <string>

#include "base/ascii.h"
#include "base/time_units.h"
#include "resp/numbers.h"
#include "server/acl/acl.h"
#include "server/command/arguments.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/clients/client_list.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

void client_id(Call& call) { call.reply.integer(static_cast<int64_t>(call.session.id)); }

void client_getname(Call& call) {
  if (call.session.client().name().empty()) return call.reply.null();
  call.reply.bulk(call.session.client().name());
}

void client_setname(Call& call) {
  const auto set = call.session.client().set_name(call.args[2]);
  if (!set) return call.reply.error(set.error());
  call.reply.status("OK");
}

void client_setinfo(Call& call) {
  const std::string option(shown_part(call.args[2]));
  const bool is_name = equals_ignoring_case(call.args[2], "lib-name");
  if (!is_name && !equals_ignoring_case(call.args[2], "lib-ver"))
    return call.reply.error("ERR Unrecognized option '" + option + "'");
  Client& client = call.session.client();
  const auto set = is_name ? client.set_library_name(call.args[3], option)
                           : client.set_library_version(call.args[3], option);
  if (!set) return call.reply.error(set.error());
  call.reply.status("OK");
}

void client_info(Call& call) {
  call.reply.verbatim(server_of(call).sessions().describe(call.session) + "\n");
}

void reply_lines(Call& call, auto fits) {
  std::string lines;
  call.work().charge_entries(server_of(call).sessions().count());
  for (const auto& [id, session] : server_of(call).sessions().all()) {
    if (fits(*session)) lines += server_of(call).sessions().describe(*session) + "\n";
  }
  call.reply.verbatim(lines);
}

void list_by_id(Call& call) {
  std::string lines;
  for (const std::string_view word : call.args.subspan(3)) {
    const auto id = resp::parse_int64(word);
    if (!id) return call.reply.error("ERR Invalid client ID");
    const Session* session = server_of(call).sessions().find_session(static_cast<uint64_t>(*id));
    if (session != nullptr) lines += server_of(call).sessions().describe(*session) + "\n";
  }
  call.reply.verbatim(lines);
}

Result<ClientClass, ErrorReplied> class_argument(Call& call, std::string_view text) {
  const auto client_class = parse_client_class(text);
  if (client_class) return *client_class;
  return reply_error(call, "ERR Unknown client type '" + std::string(shown_part(text)) + "'");
}

void client_list(Call& call) {
  const Args args = call.args;
  if (args.size() == 2) return reply_lines(call, [](const Session&) { return true; });
  if (args.size() == 4 && equals_ignoring_case(args[2], "TYPE")) {
    const auto wanted = class_argument(call, args[3]);
    if (!wanted) return;
    return reply_lines(call, [&](const Session& session) { return class_of(session) == *wanted; });
  }
  if (args.size() > 3 && equals_ignoring_case(args[2], "ID")) return list_by_id(call);
  call.reply.error(kSyntaxError);
}

// A session that kills itself still gets the answer.
int64_t kill_clients(Call& call, const ClientFilter& filter) {
  int64_t killed = 0;
  call.work().charge_entries(server_of(call).sessions().count());
  for (const auto& [id, session] : server_of(call).sessions().all()) {
    if (session->dead() || !filter.fits(*session)) continue;
    if (session.get() != &call.session) {
      server_of(call).sessions().kill(session.get());
    } else if (!filter.skip_me) {
      session->close_after_reply();
    } else {
      continue;
    }
    ++killed;
  }
  if (killed > 0) call.host.audit().note();
  return killed;
}

Result<void, ErrorReplied> take_id(Call& call, Args values, ClientFilter* filter) {
  const auto id = resp::parse_int64(values[0]);
  if (!id || *id < 1) return reply_error(call, "ERR client-id should be greater than 0");
  filter->id = static_cast<uint64_t>(*id);
  return {};
}

Result<void, ErrorReplied> take_class(Call& call, Args values, ClientFilter* filter) {
  const auto client_class = class_argument(call, values[0]);
  if (!client_class) return client_class.error();
  filter->client_class = *client_class;
  return {};
}

Result<void, ErrorReplied> take_user(Call& call, Args values, ClientFilter* filter) {
  if (server_of(call).acl().users().find(values[0]) == nullptr)
    return reply_error(call, "ERR No such user '" + std::string(values[0]) + "'");
  filter->user = values[0];
  return {};
}

Result<void, ErrorReplied> take_skip_me(Call& call, Args values, ClientFilter* filter) {
  filter->skip_me = equals_ignoring_case(values[0], "yes");
  if (filter->skip_me || equals_ignoring_case(values[0], "no")) return {};
  return reply_error(call, kSyntaxError);
}

constexpr OptionRow<ClientFilter> kKillOptions[] = {
    {.word = "ID", .values = 1, .take = take_id},
    {.word = "TYPE", .values = 1, .take = take_class},
    {.word = "ADDR", .values = 1, .take = take_word<&ClientFilter::address>},
    {.word = "LADDR", .values = 1, .take = take_word<&ClientFilter::local_address>},
    {.word = "USER", .values = 1, .take = take_user},
    {.word = "SKIPME", .values = 1, .take = take_skip_me}};

void client_kill(Call& call) {
  ClientFilter filter;
  if (call.args.size() == 3) {
    filter.address = call.args[2];
    filter.skip_me = false;
    if (kill_clients(call, filter) == 0) return call.reply.error("ERR No such client");
    return call.reply.status("OK");
  }
  if (!read_options(call, 2, kKillOptions, &filter)) return;
  call.reply.integer(kill_clients(call, filter));
}

void client_reply(Call& call) {
  Session& session = call.session;
  const std::string_view mode = call.args[2];
  if (equals_ignoring_case(mode, "ON")) {
    session.replies().set_mode(ReplyMode::kOn);
    call.reply.status("OK");
  } else if (equals_ignoring_case(mode, "OFF")) {
    session.replies().set_mode(ReplyMode::kOff);
  } else if (equals_ignoring_case(mode, "SKIP")) {
    if (session.replies().mode() != ReplyMode::kOff)
      session.replies().set_mode(ReplyMode::kSkipNext);
  } else {
    call.reply.error(kSyntaxError);
  }
}

void set_switch(Call& call, bool* value) {
  if (equals_ignoring_case(call.args[2], "ON")) {
    *value = true;
  } else if (equals_ignoring_case(call.args[2], "OFF")) {
    *value = false;
  } else {
    return call.reply.error(kSyntaxError);
  }
  call.reply.status("OK");
}

void client_no_evict(Call& call) {
  set_switch(call, &call.session.client().switches().no_evict);
  server_of(call).sessions().bounds().note_choice(&call.session);
}
void client_no_touch(Call& call) { set_switch(call, &call.session.client().switches().no_touch); }

std::string wrong_form(std::string_view subcommand) {
  return "ERR unknown subcommand or wrong number of arguments for '" + std::string(subcommand) +
         "'. Try CLIENT HELP.";
}

void client_pause(Call& call) {
  if (call.args.size() > 4) return call.reply.error(wrong_form(call.args[1]));
  PauseMode mode = PauseMode::kAll;
  if (call.args.size() == 4 && equals_ignoring_case(call.args[3], "WRITE")) {
    mode = PauseMode::kWrites;
  } else if (call.args.size() == 4 && !equals_ignoring_case(call.args[3], "ALL")) {
    return call.reply.error("ERR CLIENT PAUSE mode must be WRITE or ALL");
  }
  const auto timeout_ms = resp::parse_int64(call.args[2]);
  if (!timeout_ms) return call.reply.error("ERR timeout is not an integer or out of range");
  if (*timeout_ms < 0) return call.reply.error("ERR timeout is negative");
  const int64_t now_ns = server_of(call).clock().steady_ns();
  const int64_t longest_ms = (std::numeric_limits<int64_t>::max() - now_ns) / kNsPerMs;
  server_of(call).sessions().holds().pause(mode,
                                           now_ns + std::min(*timeout_ms, longest_ms) * kNsPerMs);
  call.reply.status("OK");
}

void client_unpause(Call& call) {
  server_of(call).sessions().holds().unpause();
  call.reply.status("OK");
}

void client_unblock(Call& call) {
  if (call.args.size() > 4) return call.reply.error(wrong_form(call.args[1]));
  const bool in_error = call.args.size() == 4 && equals_ignoring_case(call.args[3], "ERROR");
  if (call.args.size() == 4 && !in_error && !equals_ignoring_case(call.args[3], "TIMEOUT")) {
    return call.reply.error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
  }
  const auto id = integer_argument(call, call.args[2]);
  if (!id) return;
  const auto how = in_error ? Waiter::Unblocked::kAsError : Waiter::Unblocked::kAsTimeOut;
  const bool waited = server_of(call).waiting().unblock(static_cast<uint64_t>(*id), how);
  if (waited) call.host.audit().note();
  call.reply.integer(waited ? 1 : 0);
}

void client_capa(Call& call) { call.reply.status("OK"); }

constexpr uint32_t kOwn = kNoScript | kLoading;
constexpr uint32_t kOtherClients = kAdmin | kNoScript | kLoading;

// Every row but its name, arity, usage, summary, version and function.
constexpr Command client_row(Command command, uint32_t flags = kOwn) {
  command.flags |= flags | kOfClient;
  command.group = "connection";
  return command;
}

constexpr Command kClientCommands[] = {
    client_row({.name = "client",
                .arity = -2,
                .summary = "Knows and governs connections.",
                .since = "2.4.0"},
               kContainer),
    client_row({.name = "client|capa",
                .arity = -3,
                .usage = "capability [capability ...]",
                .summary = "Says what the client is capable of.",
                .since = "7.2.0",
                .run = client_capa}),
    client_row({.name = "client|getname",
                .arity = 2,
                .summary = "Answers the connection's name.",
                .since = "2.6.9",
                .run = client_getname}),
    client_row({.name = "client|help",
                .arity = 2,
                .summary = "Lists the subcommands.",
                .since = "5.0.0",
                .run = container_help},
               kLoading),
    client_row({.name = "client|id",
                .arity = 2,
                .summary = "Answers the connection's number, never used twice.",
                .since = "5.0.0",
                .run = client_id}),
    client_row({.name = "client|info",
                .arity = 2,
                .summary = "Describes the connection as CLIENT LIST does.",
                .since = "6.2.0",
                .tips = "nondeterministic_output",
                .run = client_info}),
    client_row(
        {.name = "client|kill",
         .arity = -3,
         .audit = Audit::kIfNoted,
         .usage = "<ip:port | [ID client-id] [TYPE <NORMAL|MASTER|REPLICA|PUBSUB>] [USER "
                  "username] [ADDR ip:port] [LADDR ip:port] [SKIPME <YES|NO>]>",
         .summary = "Closes the connections that fit all the filters, itself only with SKIPME NO.",
         .since = "2.4.0",
         .run = client_kill},
        kOtherClients),
    client_row({.name = "client|list",
                .arity = -2,
                .audit = Audit::kNo,
                .usage = "[TYPE <NORMAL|MASTER|REPLICA|PUBSUB>] [ID client-id [client-id ...]]",
                .summary = "Describes connections, a line each.",
                .since = "2.4.0",
                .tips = "nondeterministic_output",
                .run = client_list},
               kOtherClients),
    client_row({.name = "client|no-evict",
                .arity = 3,
                .audit = Audit::kNo,
                .usage = "<ON|OFF>",
                .summary = "Accepted for compatibility: connections are not closed to save memory.",
                .since = "7.0.0",
                .run = client_no_evict},
               kOtherClients),
    client_row({.name = "client|no-touch",
                .arity = 3,
                .usage = "<ON|OFF>",
                .summary = "Accepted for compatibility: there is no idle time of keys to spare.",
                .since = "7.2.0",
                .run = client_no_touch}),
    client_row({.name = "client|pause",
                .arity = -3,
                .audit = Audit::kYes,
                .usage = "timeout [WRITE|ALL]",
                .summary = "Holds back commands, or those that write, for so many milliseconds.",
                .since = "2.9.50",
                .run = client_pause},
               kOtherClients),
    client_row(
        {.name = "client|reply",
         .arity = 3,
         .usage = "<ON|OFF|SKIP>",
         .summary = "Says which replies the connection wants: all, none, or not the next one.",
         .since = "3.2.0",
         .run = client_reply}),
    client_row({.name = "client|setinfo",
                .arity = 4,
                .usage = "<LIB-NAME libname | LIB-VER libver>",
                .summary = "Tells the client library's name or version.",
                .since = "7.2.0",
                .run = client_setinfo}),
    client_row({.name = "client|setname",
                .arity = 3,
                .usage = "connection-name",
                .summary = "Names the connection.",
                .since = "2.6.9",
                .run = client_setname}),
    client_row({.name = "client|unblock",
                .arity = -3,
                .audit = Audit::kIfNoted,
                .usage = "client-id [TIMEOUT|ERROR]",
                .summary = "Ends the wait of another connection; answers whether it waited.",
                .since = "5.0.0",
                .run = client_unblock},
               kOtherClients),
    client_row({.name = "client|unpause",
                .arity = 2,
                .audit = Audit::kYes,
                .summary = "Ends a CLIENT PAUSE.",
                .since = "6.2.0",
                .run = client_unpause},
               kOtherClients),
};

}  // namespace

Commands client_commands() { return kClientCommands; }

}  // namespace weir::server
