// Why a session does not go on.
#pragma once

#include <cstdint>

namespace weir::server {

// Why a complete request waits at the front of a session's input.
enum class Hold : uint8_t {
  kNone,
  kPause,      // CLIENT PAUSE
  kOpening,    // a long list of elements is being read
  kWriteBack,  // it may change something, and too much is owed to the disk
};

}  // namespace weir::server
