// Who is at the other end of a session, as far as that is known, and what it has chosen there.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace weir::server {

namespace acl {
class User;
}  // namespace acl

struct Peer {
  std::string address =
      "?:0";  // "127.0.0.1:50412", "[::1]:50412", or the unix socket's path + ":0"
  std::string local_address = "?:0";
  int descriptor = -1;
  bool loopback = true;  // or a unix socket
  bool unix_socket = false;
};

class Client {
 public:
  static constexpr std::string_view kNameError =
      "ERR Client names cannot contain spaces, newlines or special characters.";

  struct Switches {
    bool no_evict = false;
    bool no_touch = false;
    bool debugger_refused = false;  // what was to be debugged must not run
  };

  // `user` is never null.
  Client(Peer peer, std::shared_ptr<const acl::User> user)
      : peer_(std::move(peer)), user_(std::move(user)) {}

  const Peer& peer() const { return peer_; }

  const acl::User& user() const { return *user_; }
  // Whether the user has shown its password, or needs none.
  bool authenticated() const { return authenticated_; }
  void set_user(std::shared_ptr<const acl::User> user, bool authenticated) {
    user_ = std::move(user);
    authenticated_ = authenticated;
  }

  // Names are words: printable ASCII without blanks, so that a line of CLIENT LIST stays one. They
  // may be empty. False: it is none, and nothing has changed.
  bool set_name(std::string_view word) { return set_word(word, &name_); }
  bool set_library_name(std::string_view word) { return set_word(word, &library_name_); }
  bool set_library_version(std::string_view word) { return set_word(word, &library_version_); }
  const std::string& name() const { return name_; }
  const std::string& library_name() const { return library_name_; }
  const std::string& library_version() const { return library_version_; }

  int database() const { return database_; }
  void select(int database) { database_ = database; }
  Switches& switches() { return switches_; }
  const Switches& switches() const { return switches_; }

  // Forgets what was chosen, as RESET does; the library stays what it is.
  void reset() {
    name_.clear();
    database_ = 0;
    switches_ = {};
  }

 private:
  static bool set_word(std::string_view word, std::string* kept) {
    if (!std::all_of(word.begin(), word.end(), [](char c) { return c >= '!' && c <= '~'; }))
      return false;
    kept->assign(word);
    return true;
  }

  const Peer peer_;
  std::shared_ptr<const acl::User> user_;
  bool authenticated_ = false;
  std::string name_;
  std::string library_name_;
  std::string library_version_;
  int database_ = 0;
  Switches switches_;
};

}  // namespace weir::server
