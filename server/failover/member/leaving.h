// How a member whose process is to end leaves its shard.
//
// A primary serves on until somebody is there to follow it: the standbys that are shown may have
// been killed since, or have ended without a word, as those of before do. So only one that has told
// of itself since this began is given the role, and they do so every two seconds. It takes the one
// that has most turns of all that are shown, and waits for those that have not told yet kToldNs at
// most. Where members are starting or ending and none follows, as in a restart of one after the
// other, it waits kSearchNs at most; where no other member was heard of lately, not at all.
//
// Together with what follows (log-timeout and a second to commit, then the closing of files) it
// stays below the ten seconds after which `docker stop` kills; systemd and Kubernetes wait longer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time_units.h"
#include "server/core/shard/membership.h"

namespace weir::server {

class Leaving {
 public:
  static constexpr int64_t kSearchNs = 6 * kNsPerS;
  static constexpr int64_t kToldNs = 3 * kNsPerS;

  // Instants are of CLOCK_BOOTTIME. `end_ns` is how long the log may take to commit what there is,
  // and to hear that this member leaves. Called again, it ends a search, and gives the log that
  // time anew.
  void begin(bool is_primary, int64_t end_ns, int64_t boot_ns);
  bool has_begun() const { return began_ns_ != kNotYet; }
  // A primary that searches serves meanwhile.
  bool is_searching() const { return is_searching_; }
  void look(const std::vector<MemberSeen>& members, int64_t boot_ns);
  void end_search(int64_t boot_ns, std::string successor = "");
  // The node of who is to be promoted; "": nobody, or not yet.
  const std::string& successor() const { return successor_; }
  bool has_nobody() const { return !is_searching_ && successor_.empty(); }
  // Whether the log was given all the time that it may take.
  bool is_over(int64_t boot_ns) const { return !is_searching_ && boot_ns >= until_ns_; }
  // When look() is due next; INT64_MAX: never.
  int64_t next_ns() const { return is_searching_ ? look_at_ns_ : INT64_MAX; }

 private:
  static constexpr int64_t kNotYet = -1;
  static constexpr int64_t kLookNs = 50 * kNsPerMs;

  int64_t began_ns_ = kNotYet;
  int64_t end_ns_ = 0;
  bool is_searching_ = false;
  int64_t look_at_ns_ = 0;
  std::string successor_;
  int64_t until_ns_ = 0;
};

}  // namespace weir::server
