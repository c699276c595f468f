// What a session has asked for with CLIENT TRACKING.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace weir::server {

struct TrackingState {
  bool on = false;
  bool broadcasts = false;  // BCAST: told of every change under the prefixes, whatever was read
  bool opts_in = false;     // OPTIN: only what is read right after CLIENT CACHING YES
  bool opts_out = false;    // OPTOUT: not what is read right after CLIENT CACHING NO
  bool no_loop = false;     // NOLOOP: not told of the session's own changes
  bool caching = false;     // CLIENT CACHING was the last command
  bool redirect_broken = false;
  uint64_t redirect = 0;  // the session that is told instead; 0: this one
  std::set<std::string, std::less<>> prefixes;
};

}  // namespace weir::server
