// The options that SET and GETEX share: NX XX GET KEEPTTL PERSIST EX PX EXAT PXAT.
#pragma once

#include <cstdint>
#include <optional>

#include "server/command/arguments.h"

namespace weir::server {

struct StringOptions {
  bool only_if_absent = false;           // NX
  bool only_if_present = false;          // XX
  bool answer_old = false;               // GET
  bool keep_expiry = false;              // KEEPTTL
  bool persist = false;                  // PERSIST
  std::optional<ExpireArgument> expire;  // not yet checked
};

// Reads the options from args[first] on; the command's grammar says which of them exclude one
// another. Nothing after replying the syntax error.
std::optional<StringOptions> set_options(Call& call, size_t first);
std::optional<StringOptions> getex_options(Call& call, size_t first);

}  // namespace weir::server
