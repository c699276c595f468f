// Looks at data that was copied of another member before it becomes this member's own: each record
// by what decodes it, and against the others (core/disk/contents.h). Changes not a byte.
//
// It reads all of it once, so it takes about as long as --check.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace weir::server {

// The error names the first thing that is wrong. `tell` is called now and then with the number of
// records that were read; `stops`, if another thread sets it, makes it fail soon.
Result<void, std::string> check_copy(const std::string& directory,
                                     const std::function<void(uint64_t records)>& tell,
                                     const std::atomic<bool>& stops);

}  // namespace weir::server
