// What another member lists of a snapshot (server/commands/weir_snapshot.cc): which files, and how
// large. It is believed only as far as it can be a data directory's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resp/value.h"

namespace weir::server {

inline constexpr std::string_view kIdentityFile = "WEIR";
inline constexpr std::string_view kDataFolders[] = {"log", "state"};

struct ListedFile {
  std::string path;
  uint64_t bytes = 0;
};

// Tells whether the snapshot is made, by the answer to BEGIN.
bool is_made(const resp::Value& begun);
Result<std::vector<ListedFile>, std::string> read_snapshot_list(const resp::Value& begun);

}  // namespace weir::server
