// Who is at the other end of a session, as far as that is known, and what it has chosen there.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/heap_bytes.h"
#include "base/result.h"
#include "server/session/connection_type.h"
#include "server/session/kept_bytes.h"

namespace weir::server {

namespace acl {
class User;
}  // namespace acl

struct Peer {
  std::string address =
      "?:0";  // "127.0.0.1:50412", "[::1]:50412", or the unix socket's path + ":0"
  std::string local_address = "?:0";
  int descriptor = -1;
  ConnectionType type = ConnectionType::kTcp;
  bool loopback = true;  // from this machine, a unix socket included
  // The common name of the certificate that the client has shown, if it was checked; else "".
  std::string certificate_name = {};

  size_t memory_bytes() const {
    return heap_bytes(address) + heap_bytes(local_address) + heap_bytes(certificate_name);
  }
};

class Client {
 public:
  static constexpr size_t kNameBytesMax = 1024;  // CLIENT LIST has all names of all clients

  struct Switches {
    bool no_evict = false;
    bool no_touch = false;
    bool debugger_refused = false;  // what was to be debugged must not run
    // It asks for others, who never hear of a lease and so can give none back.
    bool takes_no_leases = false;
  };

  // `user` is never null. `kept`: where the client writes down what its names take.
  Client(Peer peer, std::shared_ptr<const acl::User> user, KeptBytes* kept)
      : peer_(std::move(peer)), user_(std::move(user)), kept_(*kept) {}

  const Peer& peer() const { return peer_; }

  const acl::User& user() const { return *user_; }
  // Tells whether the user has shown its password, or needs none.
  bool authenticated() const { return authenticated_; }
  void set_user(std::shared_ptr<const acl::User> user, bool authenticated) {
    user_ = std::move(user);
    authenticated_ = authenticated;
  }

  // Names are words: printable ASCII without blanks, so that a client is one line of CLIENT LIST. A
  // name may be empty. The error is a whole reply, which begins with `what`; then nothing has
  // changed.
  Result<void, std::string> set_name(std::string_view word) {
    return set_word(word, "Client names", &name_);
  }
  Result<void, std::string> set_library_name(std::string_view word, const std::string& what) {
    return set_word(word, what, &library_name_);
  }
  Result<void, std::string> set_library_version(std::string_view word, const std::string& what) {
    return set_word(word, what, &library_version_);
  }
  const std::string& name() const { return name_; }
  const std::string& library_name() const { return library_name_; }
  const std::string& library_version() const { return library_version_; }

  int database() const { return database_; }
  void select(int database) { database_ = database; }
  Switches& switches() { return switches_; }
  const Switches& switches() const { return switches_; }

  // Forgets what the client has chosen, as RESET does; it keeps the name of its library.
  void reset() {
    name_ = {};
    note_names();
    database_ = 0;
    switches_ = {};
  }

 private:
  Result<void, std::string> set_word(std::string_view word, const std::string& what,
                                     std::string* kept) {
    if (word.size() > kNameBytesMax) {
      return "ERR " + what + " may have at most " + std::to_string(kNameBytesMax) +
             " bytes, got one of " + std::to_string(word.size());
    }
    if (!std::all_of(word.begin(), word.end(), [](char c) { return c >= '!' && c <= '~'; }))
      return "ERR " + what + " cannot contain spaces, newlines or special characters.";
    *kept = std::string(word);
    note_names();
    return {};
  }
  void note_names() {
    kept_.set(Kept::kNames,
              heap_bytes(name_) + heap_bytes(library_name_) + heap_bytes(library_version_));
  }

  const Peer peer_;
  std::shared_ptr<const acl::User> user_;
  KeptBytes& kept_;
  bool authenticated_ = false;
  std::string name_;
  std::string library_name_;
  std::string library_version_;
  int database_ = 0;
  Switches switches_;
};

}  // namespace weir::server
