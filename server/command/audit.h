// What the log tells of who has changed what (server/core/run/audit_trail.h): which commands it is
// about, and what a command says of its change beside its arguments.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weir::server {

// Whether a command's requests are told. An administrator's command has to say it.
enum class Audit : uint8_t {
  kUndecided,  // no administrator's, and not told
  kNo,         // it tells something, or it changes its own session, or keys as any client does
  kYes,        // each request
  kIfNoted,    // each whose function has noted a change
};

// A setting, a user, a policy: its name, and what it was and is; "" where there is none.
struct AuditChange {
  std::string name = {};
  std::string before = {};
  std::string after = {};
};

// What the running command has noted. Secrets are hidden already.
class AuditNotes {
 public:
  // The command has made a change: this one, or what its arguments say.
  void note(AuditChange change = {}) { changes_.push_back(std::move(change)); }

  bool empty() const { return changes_.empty(); }
  std::vector<AuditChange> take() { return std::exchange(changes_, {}); }
  void clear() { changes_.clear(); }

 private:
  std::vector<AuditChange> changes_;
};

}  // namespace weir::server
