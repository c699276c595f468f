// The rights of users on a running server: its users, what was denied, and the sessions that a
// change of users ends.
//
// Only the requests of users who are refused something are looked at; all others cost the
// executor one test (User::unrestricted).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/acl/denials.h"
#include "server/acl/users.h"
#include "server/config/config.h"

namespace weir::server {

class Clock;
class CommandTable;
class Session;
class SessionDirectory;

namespace acl {

class Acl {
 public:
  struct Needs {
    SessionDirectory* sessions;
    const Config* config;
    const CommandTable* commands;
    Clock* clock;
  };
  explicit Acl(const Needs& needs);

  // Reads the users of the configuration and of its aclfile. Fails with what is wrong with them.
  Result<void, std::string> open();

  const Users& users() const { return users_; }
  Denials& denials() { return denials_; }
  const Denials& denials() const { return denials_; }

  // Tells whether a session that has not logged in must do so before anything else.
  bool asks_for_login() const;
  // Sets the user of a session that is new or starts anew.
  void begin_session(Session& session) const;
  // Finds the user with that name and password; null: there is none, or it may not log in.
  std::shared_ptr<const User> find(std::string_view name, std::string_view password) const;
  // Logs a session in. False, and noted, if it may not be this user.
  bool log_in(Session& session, std::string_view user, std::string_view password,
              std::string_view command);

  // Answers why a request is denied; nothing is noted.
  AccessDecision check(const Session& session, const Command& command, Args args) const;
  void note(Session& session, const Command& command, Args args, AccessDecision decision,
            Context context);
  // Allows a request on its way in, or notes the denial and answers it: "NOPERM ...".
  Result<void, std::string> allow(Session& session, const Command& command, Args args);
  // Does the same for a queued command at EXEC, whose rights may have gone since.
  Result<void, std::string> allow_at_exec(Session& session, const Command& command, Args args);
  // Does the same for redis.call.
  Result<void, std::string> allow_in_script(Session& session, const Command& command, Args args);

  // ACL SETUSER, DELUSER, LOAD, SAVE. Errors are whole lines. Sessions that a change ends are
  // closed; the session that asked for it is closed after its answer.
  Result<void, std::string> set_user(std::string_view name, const std::vector<std::string>& words,
                                     const Session& asked_by);
  bool delete_user(std::string_view name, const Session& asked_by);  // false: there is none
  Result<void, std::string> load(const Session& asked_by);
  Result<void, std::string> save() const;

  // Called when requirepass was set.
  void set_default_password(std::string_view password) { users_.set_default_password(password); }
  // Called when acl-pubsub-default was set.
  void set_pubsub_default();
  // Answers what the configuration file should say of users: what it says now, if that makes the
  // present users.
  std::vector<Config::UserLine> lines_to_rewrite() const;

 private:
  Result<void, std::string> read_users(Users* users) const;
  Users fresh_users() const;
  void end_sessions_of(const User& user, const Session* asked_by);
  void end_forbidden_subscriptions(const Session* asked_by);

  Needs needs_;
  Users users_;
  Denials denials_;
};

}  // namespace acl
}  // namespace weir::server
