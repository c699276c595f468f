// The options that SET and GETEX share: NX XX GET KEEPTTL PERSIST EX PX EXAT PXAT.
#pragma once

#include <cstdint>
#include <optional>

#include "server/command/arguments.h"
#include "server/command/error_replied.h"

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
// another.
Result<StringOptions, ErrorReplied> set_options(Call& call, size_t first);
Result<StringOptions, ErrorReplied> getex_options(Call& call, size_t first);

}  // namespace weir::server
