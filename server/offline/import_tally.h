// What an import has done so far, and how far it is: what is told at the end, and what a file keeps
// so that the import can be resumed.
//
//     weir import 1
//     of <source> <run id of the source> <replace: 0 or 1> <pattern, percent-encoded>
//     at <database> <cursor of SCAN>
//     copied <keys> <bytes>
//     left <keys>            weir had them
//     gone <keys>            they had ended meanwhile
//     refused <keys> <a key, percent-encoded> <reason>
//
// The file is replaced as a whole. It names a place at or before that of the import, so what was
// copied since it was written is copied, or left alone, once more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/offline/import_options.h"

namespace weir::server {

struct ImportTally {
  struct Refused {
    uint64_t keys = 0;
    std::string example;
  };

  int database = -1;  // -1: not begun
  std::string cursor = "0";
  uint64_t copied = 0;
  uint64_t bytes = 0;
  uint64_t left = 0;
  uint64_t gone = 0;
  std::map<std::string, Refused> refused;  // by reason

  void refuse(std::string_view key, const std::string& reason);
  uint64_t refused_keys() const;
  uint64_t seen() const { return copied + left + gone + refused_keys(); }
  // What is told at the end, a line each.
  std::string report() const;
};

// Writes the file. The error names it.
Result<void, std::string> keep_tally(const ImportOptions& options, const std::string& run_id,
                                     const ImportTally& tally);

// Reads the file, if there is one. An import of something else is refused. A cursor is of one
// process: where the source was started anew, or does not say which it is ("-"), the database in
// progress begins again.
Result<void, std::string> resume_tally(const ImportOptions& options, const std::string& run_id,
                                       ImportTally* tally);

}  // namespace weir::server
