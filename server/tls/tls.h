// The server's TLS: the context that new connections get, and what is counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time_units.h"
#include "server/config/config.h"
#include "server/os/reloaded.h"

namespace weir::server {

class TlsContext;

struct TlsMetrics {
  uint64_t handshakes = 0;  // that have succeeded
  uint64_t failed = 0;
  uint64_t resumed = 0;  // of those that have succeeded
  uint64_t pending = 0;

  void reset() { handshakes = failed = resumed = 0; }
};

class Tls {
 public:
  // Reads the files anew. An error leaves what was there before.
  Result<Reloaded, std::string> load(const Config& config);
  // Null before the first load().
  const std::shared_ptr<const TlsContext>& context() const { return context_; }

  // Warns once a day of a certificate that ends within kWarnedS, or has ended. To be called from
  // time to time with the Unix time.
  void look_at_the_end(int64_t now_s);

  TlsMetrics metrics;

 private:
  static constexpr int64_t kWarnedS = 14 * kSPerDay;

  std::shared_ptr<const TlsContext> context_;
  uint64_t digest_ = 0;  // of the files as they were read last
  std::string file_;
  int64_t look_again_s_ = 0;
};

}  // namespace weir::server
