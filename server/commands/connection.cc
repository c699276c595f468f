// What a connection says about itself: PING, ECHO, HELLO, AUTH, SELECT, QUIT, RESET.
#include <string>

#include "resp/numbers.h"
#include "server/acl/acl.h"
#include "server/command/arguments.h"
#include "server/command/command_errors.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

// Anybody may ask for it, and it copies what it is told.
constexpr size_t kPingBytesMax = 1 << 20;

void ping(Call& call) {
  if (call.args.size() > 2) return call.reply.error(arity_error(call.command));
  if (call.args.size() == 2 && call.args[1].size() > kPingBytesMax) {
    return call.reply.error("ERR PING takes a message of at most " + std::to_string(kPingBytesMax) +
                            " bytes, got one of " + std::to_string(call.args[1].size()));
  }
  const std::string_view message = call.args.size() == 2 ? call.args[1] : std::string_view();
  if (call.session.listening().subscribed() && call.reply.protocol() == 2) {
    call.reply.array(2);
    call.reply.bulk("pong");
    return call.reply.bulk(message);
  }
  if (call.args.size() == 2) return call.reply.bulk(message);
  call.reply.status("PONG");
}

void echo(Call& call) { call.reply.bulk(call.args[1]); }

void quit(Call& call) {
  call.reply.status("OK");
  call.session.close_after_reply();
}

Result<void, ErrorReplied> authenticate(Call& call, std::string_view user,
                                        std::string_view password) {
  const bool accepted = server_of(call).acl().log_in(call.session, user, password, call.args[0]);
  if (accepted) return {};
  return reply_error(call, "WRONGPASS invalid username-password pair or user is disabled.");
}

void auth(Call& call) {
  if (call.args.size() > 3) return call.reply.error("ERR syntax error");
  if (call.args.size() == 2 && server_of(call).acl().users().default_user()->needs_no_password()) {
    return call.reply.error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  }
  const bool named = call.args.size() == 3;
  if (authenticate(call, named ? call.args[1] : "default", call.args.back()))
    call.reply.status("OK");
}

void hello_reply(Call& call) {
  resp::ReplyWriter& reply = call.reply;
  reply.map(7);
  reply.bulk("server");
  reply.bulk("redis");
  reply.bulk("version");
  reply.bulk(kRedisVersion);
  reply.bulk("proto");
  reply.integer(reply.protocol());
  reply.bulk("id");
  reply.integer(static_cast<int64_t>(call.session.id));
  reply.bulk("mode");
  reply.bulk(server_of(call).config().cluster_enabled ? "cluster" : "standalone");
  reply.bulk("role");
  const Membership* shard = server_of(call).shard_role().membership();
  reply.bulk(shard == nullptr || shard->serves() ? "master" : "replica");
  reply.bulk("modules");
  reply.array(0);
}

// HELLO's options take effect one by one, as on Redis: a HELLO that fails may have authenticated
// already.
struct HelloOptions {};

constexpr OptionRow<HelloOptions> kHelloOptions[] = {
    {.word = "AUTH",
     .values = 2,
     .take = [](Call& call, Args values,
                HelloOptions*) { return authenticate(call, values[0], values[1]); }},
    {.word = "SETNAME",
     .values = 1,
     .take = [](Call& call, Args values, HelloOptions*) -> Result<void, ErrorReplied> {
       const auto set = call.session.client().set_name(values[0]);
       if (!set) return reply_error(call, set.error());
       return {};
     }}};

Result<void, ErrorReplied> apply_hello_options(Call& call) {
  if (call.args.size() <= 2) return {};
  HelloOptions options;
  const auto rest = read_leading_options(call, call.args.subspan(2), kHelloOptions, &options);
  if (!rest) return rest.error();
  if (rest->empty()) return {};
  return reply_error(
      call, "ERR Syntax error in HELLO option '" + std::string(shown_part(rest->front())) + "'");
}

void hello(Call& call) {
  int64_t protocol = call.reply.protocol();
  if (call.args.size() > 1) {
    const auto number = resp::parse_int64(call.args[1]);
    if (!number) return call.reply.error("ERR Protocol version is not an integer or out of range");
    if (*number != 2 && *number != 3)
      return call.reply.error("NOPROTO unsupported protocol version");
    protocol = *number;
  }
  if (!apply_hello_options(call)) return;
  if (!call.session.client().authenticated() && server_of(call).acl().asks_for_login()) {
    return call.reply.error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
        "protocol version at the same time");
  }
  call.reply.set_protocol(static_cast<int>(protocol));
  hello_reply(call);
}

void select(Call& call) {
  const auto number = small_integer_argument(call, call.args[1]);
  if (!number) return;
  if (*number != 0 && server_of(call).config().cluster_enabled)
    return call.reply.error("ERR SELECT is not allowed in cluster mode");
  const auto index = database_argument(call, call.args[1]);
  if (!index) return;
  call.session.client().select(*index);
  call.reply.status("OK");
}

void reset(Call& call) {
  Session& session = call.session;
  session.transaction().clear(call.keys);
  server_of(call).messages().forget(session);
  session.client().reset();
  server_of(call).sessions().bounds().note_choice(&session);
  session.replies().set_mode(ReplyMode::kOn);
  server_of(call).acl().begin_session(session);
  call.reply.set_protocol(2);
  call.reply.status("RESET");
}

constexpr Command kConnectionCommands[] = {
    {.name = "ping",
     .arity = -1,
     .flags = kFast | kWhenSubscribed | kTellsOfHealth,
     .group = "connection",
     .usage = "[message]",
     .summary = "Answers PONG, or the message.",
     .since = "1.0.0",
     .tips = "request_policy:all_shards response_policy:all_succeeded",
     .run = ping},
    {.name = "echo",
     .arity = 2,
     .flags = kFast | kLoading,
     .group = "connection",
     .usage = "message",
     .summary = "Answers the message.",
     .since = "1.0.0",
     .run = echo},
    {.name = "quit",
     .arity = -1,
     .flags = kFast | kLoading | kNoScript | kNoAuth | kNotQueued | kWhenSubscribed | kAllowBusy,
     .group = "connection",
     .summary = "Closes the connection once every reply before it has left.",
     .since = "1.0.0",
     .run = quit},
    {.name = "auth",
     .arity = -2,
     .flags = kFast | kLoading | kNoScript | kNoAuth | kAllowBusy,
     .secrets = Secrets::kAll,
     .group = "connection",
     .usage = "[username] password",
     .summary = "Authenticates the connection.",
     .since = "1.0.0",
     .run = auth},
    {.name = "hello",
     .arity = -1,
     .flags = kFast | kLoading | kNoScript | kNoAuth | kAllowBusy,
     .secrets = Secrets::kAfterAuth,
     .group = "connection",
     .usage = "[protover [AUTH username password] [SETNAME clientname]]",
     .summary = "Chooses RESP2 or RESP3, authenticates and names the connection; answers facts "
                "about the server.",
     .since = "6.0.0",
     .run = hello},
    {.name = "select",
     .arity = 2,
     .flags = kFast | kLoading,
     .group = "connection",
     .usage = "index",
     .summary = "Chooses the database of the connection.",
     .since = "1.0.0",
     .run = select},
    {.name = "reset",
     .arity = 1,
     .flags = kFast | kLoading | kNoScript | kNoAuth | kNotQueued | kWhenSubscribed | kAllowBusy,
     .group = "connection",
     .summary = "Puts the connection back to the state it had when it was opened.",
     .since = "6.2.0",
     .run = reset},
};

}  // namespace

Commands connection_commands() { return kConnectionCommands; }

}  // namespace weir::server
