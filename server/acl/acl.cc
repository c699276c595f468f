#include "server/acl/acl.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/byte_order_mark.h"
#include "base/time_units.h"
#include "server/acl/sha256.h"
#include "server/command/arguments.h"
#include "server/command/command_table.h"
#include "server/config/config_checks.h"
#include "server/config/config_words.h"
#include "server/os/clock.h"
#include "server/os/log.h"
#include "server/os/replace_file.h"
#include "server/session/session.h"
#include "server/session/session_directory.h"

namespace weir::server::acl {
namespace {

// Answers "" where there is none. A relative path is one in the data directory, as with Redis.
std::string acl_path(const Config& config) {
  if (config.aclfile.empty()) return {};
  return (std::filesystem::path(config.dir) / config.aclfile).string();
}

constexpr SubscriptionKind kKinds[] = {SubscriptionKind::kChannel, SubscriptionKind::kPattern,
                                       SubscriptionKind::kShard};

constexpr size_t kObjectBytesMax = 1024;  // of what ACL LOG shows of a denied name

constexpr std::string_view kNoFile =
    "ERR This Redis instance is not configured to use an ACL file. You may want to specify users "
    "via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis "
    "configuration file set) in order to store users in the Redis configuration.";

constexpr std::string_view kSaveError =
    "ERR There was an error trying to save the ACLs. Please check the server logs for more "
    "information";

bool gives_all_channels(const Config& config) {
  return config.acl_pubsub_default == PubsubDefault::kAllchannels;
}

Reason reason_of(Denial denial) {
  switch (denial) {
    case Denial::kKey:
      return Reason::kKey;
    case Denial::kChannel:
      return Reason::kChannel;
    case Denial::kAdmin:
      return Reason::kAdmin;
    case Denial::kInline:
      return Reason::kInline;
    case Denial::kPolicy:
      return Reason::kPolicy;
    default:
      return Reason::kCommand;
  }
}

bool is_about_arguments(Denial denial) {
  return denial == Denial::kKey || denial == Denial::kChannel || denial == Denial::kPolicy;
}

// Redis' words for a denial in each of the places where it is told.
std::string on_the_way_in(const Command& command, Denial denial) {
  const std::string who = "NOPERM this user has no permissions to ";
  if (denial == Denial::kCommand)
    return who + "run the '" + std::string(command.name) + "' command";
  if (is_about_limits(denial)) return who + std::string(limits_denied(denial));
  const std::string what = denial == Denial::kKey ? "keys" : "channels";
  return who + "access one of the " + what + " used as arguments";
}

std::string_view limits_denied_at_exec(Denial denial) {
  if (denial == Denial::kAdmin) return "no permission for FORCE or giving back (@ratelimitadmin)";
  return denial == Denial::kInline ? "no permission to write limits into a request"
                                   : "no permission to name the policy";
}

std::string_view at_exec(Denial denial) {
  if (denial == Denial::kCommand) return "no permission to execute the command or subcommand";
  if (is_about_limits(denial)) return limits_denied_at_exec(denial);
  if (denial == Denial::kKey) return "no permission to touch the specified keys";
  return "no permission to access one of the channels used as arguments to the command";
}

std::string in_script(Denial denial) {
  if (denial == Denial::kCommand)
    return "ERR The user executing the script can't run this command or subcommand";
  if (is_about_limits(denial))
    return "ERR The user executing the script can't " + std::string(limits_denied(denial));
  if (denial == Denial::kKey) {
    return "ERR The user executing the script can't access at least one of the keys mentioned in "
           "the command arguments";
  }
  return "ERR The user executing the script can't publish to the channel mentioned in the command";
}

bool listens_only_where_allowed(const Session& session) {
  for (const SubscriptionKind kind : kKinds) {
    const auto& names = session.listening().subscriptions.of(kind);
    const bool all_allowed = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return session.client().user().allows_channel(name, kind == SubscriptionKind::kPattern);
    });
    if (!all_allowed) return false;
  }
  return true;
}

// The client that asked gets the answer first.
void end_session(SessionDirectory& sessions, Session* session, const Session* asked_by) {
  session == asked_by ? session->close_after_reply() : sessions.kill(session);
}

Result<void, std::string> configured_user(Users* users, const Config::UserLine& line) {
  const std::string what = line.place + ": user " + printable(line.words[0]);
  if (!is_user_name(line.words[0])) return what + ": a name has no blanks and is not empty";
  const auto rules = merge_selectors({line.words.begin() + 1, line.words.end()});
  if (!rules) return what + ": the parenthesis of " + printable(rules.error()) + " is not closed";
  const auto added = users->add(line.words[0], *rules);
  if (added) return {};
  const Refusal& refusal = added.error();
  return what + ": rule " + printable(refusal.rule) + ": " + std::string(refusal.why);
}

}  // namespace

Acl::Acl(const Needs& needs) : needs_(needs), users_(fresh_users()) {}

Users Acl::fresh_users() const {
  const Config& config = *needs_.config;
  Users users(needs_.commands, gives_all_channels(config));
  users.set_default_password(config.requirepass);
  return users;
}

// Reads the users of the configuration, or of its aclfile; the file's `default` wins over
// requirepass.
Result<void, std::string> Acl::read_users(Users* users) const {
  const Config& config = *needs_.config;
  for (const Config::UserLine& line : config.users) {
    if (auto added = configured_user(users, line); !added) return added;
  }
  const std::string path = acl_path(config);
  if (path.empty()) return {};
  std::ifstream file(path, std::ios::binary);
  if (!file) return "Error loading ACLs, opening file '" + path + "': " + std::strerror(errno);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto loaded = users->load(without_byte_order_mark(text), config.aclfile);
  if (loaded) return {};
  return loaded.error() +
         "WARNING: ACL errors detected, no change to the previously active ACL rules was performed";
}

Result<void, std::string> Acl::open() {
  const Config& config = *needs_.config;
  if (!config.aclfile.empty() && !config.users.empty())
    return config.users.front().place + ": users are either in the configuration or in an aclfile";
  Users users = fresh_users();
  if (auto read = read_users(&users); !read) return read;
  (void)users_.replace_with(std::move(users));
  return {};
}

bool Acl::asks_for_login() const {
  const User& user = *users_.default_user();
  return !(user.enabled() && user.needs_no_password());
}

void Acl::begin_session(Session& session) const {
  session.client().set_user(users_.default_user(), !asks_for_login());
  const std::string& name = session.client().peer().certificate_name;
  if (name.empty() || needs_.config->tls_auth_clients_user == TlsAuthClientsUser::kOff) return;
  const std::shared_ptr<User> user = users_.find(name);
  if (user != nullptr && user->enabled()) return session.client().set_user(user, true);
  log_debug("client {}: its certificate's name is that of no user who may log in", session.id);
}

std::shared_ptr<const User> Acl::find(std::string_view name, std::string_view password) const {
  if (password.size() > kPasswordBytesMax) return nullptr;
  // Before anything is known of the user, so that the time tells nobody which users there are.
  const std::string hash = sha256_hex(password);
  std::shared_ptr<const User> user = users_.find(name);
  return user != nullptr && user->accepts_hash(hash) ? user : nullptr;
}

bool Acl::log_in(Session& session, std::string_view name, std::string_view password,
                 std::string_view command) {
  if (std::shared_ptr<const User> user = find(name, password)) {
    session.client().set_user(std::move(user), true);
    return true;
  }
  denials_.add({.reason = Reason::kAuth,
                .context = session.transaction().open() ? Context::kMulti : Context::kTopLevel,
                .object = std::string(command),
                .user = std::string(name.substr(0, kObjectBytesMax)),
                .client = needs_.sessions->describe(session),
                .at_ms = needs_.clock->wall_ns() / kNsPerMs},
               static_cast<size_t>(needs_.config->acllog_max_len));
  return false;
}

AccessDecision Acl::check(const Session& session, const Command& command, Args args) const {
  return session.client().user().check(command, args);
}

void Acl::note(Session& session, const Command& command, Args args, AccessDecision decision,
               Context context) {
  const std::string_view object =
      is_about_arguments(decision.denial) ? args[decision.position] : command.name;
  denials_.add({.reason = reason_of(decision.denial),
                .context = context,
                .object = std::string(object.substr(0, kObjectBytesMax)),
                .user = session.client().user().name(),
                .client = needs_.sessions->describe(session),
                .at_ms = needs_.clock->wall_ns() / kNsPerMs},
               static_cast<size_t>(needs_.config->acllog_max_len));
}

Result<void, std::string> Acl::allow(Session& session, const Command& command, Args args) {
  const AccessDecision decision = check(session, command, args);
  if (decision.allowed()) return {};
  const bool queues = session.transaction().open();
  note(session, command, args, decision, queues ? Context::kMulti : Context::kTopLevel);
  return on_the_way_in(command, decision.denial);
}

Result<void, std::string> Acl::allow_at_exec(Session& session, const Command& command, Args args) {
  const AccessDecision decision = check(session, command, args);
  if (decision.allowed()) return {};
  note(session, command, args, decision, Context::kMulti);
  return "NOPERM ACLs rules changed between the moment the transaction was accumulated and the "
         "EXEC call. This command is no longer allowed for the following reason: " +
         std::string(at_exec(decision.denial));
}

Result<void, std::string> Acl::allow_in_script(Session& session, const Command& command,
                                               Args args) {
  const AccessDecision decision = check(session, command, args);
  if (decision.allowed()) return {};
  note(session, command, args, decision, Context::kLua);
  return in_script(decision.denial);
}

Result<void, std::string> Acl::set_user(std::string_view name,
                                        const std::vector<std::string>& words,
                                        const Session& asked_by) {
  if (!is_user_name(name))
    return std::string("ERR Usernames can't contain spaces or null characters");
  const auto rules = merge_selectors(words);
  if (!rules) {
    return "ERR Unmatched parenthesis in acl selector starting at '" +
           std::string(shown_part(rules.error())) + "'.";
  }
  if (const auto set = users_.set(name, *rules); !set) {
    return "ERR Error in ACL SETUSER modifier '" + std::string(shown_part(set.error().rule)) +
           "': " + std::string(set.error().why);
  }
  end_forbidden_subscriptions(&asked_by);
  return {};
}

bool Acl::delete_user(std::string_view name, const Session& asked_by) {
  const std::shared_ptr<User> user = users_.find(name);
  if (user == nullptr) return false;
  users_.remove(name);
  end_sessions_of(*user, &asked_by);
  return true;
}

Result<void, std::string> Acl::load(const Session& asked_by) {
  if (needs_.config->aclfile.empty()) return std::string(kNoFile);
  Users users = fresh_users();
  if (const auto read = read_users(&users); !read) return "ERR " + read.error();
  for (const auto& user : users_.replace_with(std::move(users))) end_sessions_of(*user, &asked_by);
  end_forbidden_subscriptions(&asked_by);
  return {};
}

Result<void, std::string> Acl::save() const {
  const std::string path = acl_path(*needs_.config);
  if (path.empty()) return std::string(kNoFile);
  const int failure = replace_file(path, users_.text());
  if (failure == 0) return {};
  log_warning("the users could not be saved to {}: {}", path, std::strerror(failure));
  return std::string(kSaveError);
}

void Acl::set_pubsub_default() { users_.set_all_channels(gives_all_channels(*needs_.config)); }

std::vector<Config::UserLine> Acl::lines_to_rewrite() const {
  const Config& config = *needs_.config;
  Users configured = fresh_users();
  if (!config.aclfile.empty()) return config.users;
  if (read_users(&configured).ok() && configured.text() == users_.text()) return config.users;
  const std::string plain_default = fresh_users().default_user()->line();
  std::vector<Config::UserLine> lines;
  for (const auto& [name, user] : users_.all()) {
    std::vector<std::string> words = split_blanks(user->line());
    words.erase(words.begin());
    if (user->line() != plain_default) lines.push_back({.place = {}, .words = std::move(words)});
  }
  return lines;
}

// The rest of the transaction of a user that deletes itself runs with the rights that it had.
void Acl::end_sessions_of(const User& user, const Session* asked_by) {
  needs_.sessions->each_session([&](Session& session) {
    if (&session.client().user() == &user) end_session(*needs_.sessions, &session, asked_by);
  });
}

void Acl::end_forbidden_subscriptions(const Session* asked_by) {
  needs_.sessions->each_session([&](Session& session) {
    if (session.listening().subscribed() && !listens_only_where_allowed(session))
      end_session(*needs_.sessions, &session, asked_by);
  });
}

}  // namespace weir::server::acl
