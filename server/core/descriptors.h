// Open files: how many the process may have, and who gets them.
//
// The system's limit is shared out before anything is opened, so that no number of clients can take
// the descriptors that storage needs. It reads and raises the process' own limit and opens nothing.
//
// Invariants:
//  1. kOwnDescriptors + storage + clients <= the hard limit, whatever clients do.
//  2. Storage gets its tables before clients get more than they asked for, and at least a quarter
//     of what is left when both cannot have what they want.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "server/config/config.h"

namespace weir::server {

// Standard streams, log, event loop, listeners, a configuration or user file being written.
inline constexpr int64_t kOwnDescriptors = 32;

struct DescriptorShares {
  int64_t needed_min = 0;       // for one client; below it nothing can start
  int64_t reserved = 0;         // not for clients
  int64_t open_tables_max = 0;  // of it, storage's tables; 0 without storage on disk
  int64_t clients_max = 0;      // at most maxclients; 0: the limit is too low
};
DescriptorShares share_descriptors(int64_t limit, int64_t maxclients, StorageForm storage);

class Descriptors {
 public:
  explicit Descriptors(const Config& config);

  // Fails if the limit is too low for anything; the line says what is needed.
  const Result<void, std::string>& enough() const { return enough_; }
  // A line for the log if fewer clients fit than the configuration asks for, else empty.
  const std::string& warning() const { return warning_; }
  int64_t clients_max() const { return shares_.clients_max; }
  int open_tables_max() const { return static_cast<int>(shares_.open_tables_max); }

  // Raises the process' limit as far as that is needed for so many clients. If that is not
  // possible, the error is the number that is.
  Result<void, int64_t> make_room_for(int64_t maxclients);

 private:
  DescriptorShares shares_;
  Result<void, std::string> enough_;
  std::string warning_;
};

}  // namespace weir::server
