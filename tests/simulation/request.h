// A request as a client sends it, and what becomes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/expected.h"

namespace weir::simulation {

struct Request {
  std::vector<std::string> args = {};
  std::string bytes = {};        // on the wire
  bool breaks_protocol = false;  // then `bytes` is no request
  bool is_wrong = false;         // whatever the data, an error is due
  bool is_audited = false;       // takes permits that never come back (audit.h)

  // Filled in when the server has run it.
  bool ran = false;
  Expected expected = {};
  bool depends_on_data = false;  // an error if its turn cannot be committed
  // The state that a reply vouches for (history.h), and whether it does so after a power cut too.
  std::optional<uint64_t> vouches_for = std::nullopt;
  bool vouches_for_power_cut = false;
  uint64_t storage_failures_seen = 0;
};

inline std::string encode(const std::vector<std::string>& args) {
  std::string bytes = "*" + std::to_string(args.size()) + "\r\n";
  for (const std::string& arg : args) {
    bytes += "$" + std::to_string(arg.size()) + "\r\n" + arg + "\r\n";
  }
  return bytes;
}

}  // namespace weir::simulation
