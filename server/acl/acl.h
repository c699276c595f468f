// Who may do what, for a running server: its users, what was denied, and the sessions that a change
// of users ends.
//
// Only the requests of users that something is refused to are looked at; everybody else costs the
// executor one test (User::unrestricted).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/denials.h"
#include "server/acl/users.h"
#include "server/config.h"

namespace weir::server {

class Server;
class Session;

namespace acl {

class Acl {
 public:
  explicit Acl(Server* server);

  // The users of the configuration and of its aclfile. Answers what is wrong with them, or "".
  std::string open();

  const Users& users() const { return users_; }
  Denials& denials() { return denials_; }
  const Denials& denials() const { return denials_; }

  // Whether who has not logged in must, before anything else.
  bool asks_for_login() const;
  // A new session's, and one's that starts anew.
  void begin_session(Session& session) const;
  // False, and noted, if it may not be this user.
  bool log_in(Session& session, std::string_view user, std::string_view password,
              std::string_view command);

  // What a request is denied for; nothing is noted.
  Verdict check(const Session& session, const Command& command, Args args) const;
  void note(Session& session, const Command& command, Args args, Verdict verdict, Context context);
  // "" or "NOPERM ...", noted: for requests on their way in.
  std::string refusal(Session& session, const Command& command, Args args);
  // The same for a queued command at EXEC, whose rights may have gone since.
  std::string refusal_at_exec(Session& session, const Command& command, Args args);
  // The same for redis.call.
  std::string refusal_in_script(Session& session, const Command& command, Args args);

  // ACL SETUSER, DELUSER, LOAD, SAVE. Errors are lines, "" is none.
  // Sessions that a change ends are closed, the one that asked for it behind its answer.
  std::string set_user(std::string_view name, const std::vector<std::string>& words,
                       const Session& asked_by);
  bool delete_user(std::string_view name, const Session& asked_by);  // false: there is none
  std::string load(const Session& asked_by);
  std::string save() const;

  // requirepass was set.
  void set_default_password(std::string_view password) { users_.set_default_password(password); }
  // acl-pubsub-default was set.
  void set_pubsub_default();
  // What the configuration file should say of users. As it does, if that makes the users there are.
  std::vector<Config::UserLine> lines_to_rewrite() const;

 private:
  std::string read_users(Users* users) const;
  Users fresh_users() const;
  void end_sessions_of(const User& user, const Session* asked_by);
  void end_forbidden_subscriptions(const Session* asked_by);

  Server* server_;
  Users users_;
  Denials denials_;
};

}  // namespace acl
}  // namespace weir::server
