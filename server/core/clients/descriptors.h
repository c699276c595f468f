// Open files: how many the process may have, and who gets them.
//
// The system's limit is shared out before anything is opened, so that no number of clients can take
// the descriptors that storage needs. Nothing here opens a file: Descriptors reads and raises the
// limit of its own process.
//
// Invariants
// 1. kOwnDescriptors + storage + clients <= the hard limit, whatever clients do, because
//    share_descriptors() gives clients what is left. Where nothing is left, enough() fails.
// 2. Storage gets for its tables what the clients that are asked for leave, but at least a quarter
//    of what there is for both, within kOpenTablesMin and kOpenTablesMax. Clients get the rest.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "server/config/config.h"

namespace weir::server {

// The standard streams, the log, the event loop, listeners, and a configuration or user file that
// is being written.
inline constexpr int64_t kOwnDescriptors = 32;

struct DescriptorShares {
  int64_t needed_min = 0;       // for one client; with a lower limit nothing can start
  int64_t reserved = 0;         // not for clients
  int64_t open_tables_max = 0;  // of it, storage's tables; 0 without storage on disk
  int64_t clients_max = 0;      // at most maxclients; 0: the limit is too low
};
DescriptorShares share_descriptors(int64_t limit, int64_t maxclients, StorageForm storage);

class Descriptors {
 public:
  explicit Descriptors(const Config& config);

  // Fails if the limit is too low for a single client; the line says what is needed.
  const Result<void, std::string>& enough() const { return enough_; }
  // Answers a line for the log if fewer clients fit than the configuration asks for; empty
  // otherwise.
  const std::string& warning() const { return warning_; }
  int64_t clients_max() const { return shares_.clients_max; }
  int open_tables_max() const { return static_cast<int>(shares_.open_tables_max); }

  // Raises the process' limit as far as so many clients need it. If that is not possible, the error
  // is the number of clients that is.
  Result<void, int64_t> make_room_for(int64_t maxclients);

 private:
  DescriptorShares shares_;
  Result<void, std::string> enough_;
  std::string warning_;
};

}  // namespace weir::server
