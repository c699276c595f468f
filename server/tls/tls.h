// The server's TLS: the context that new connections get, and what is counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "server/config/config.h"

namespace weir::server {

class TlsContext;

struct TlsFigures {
  uint64_t handshakes = 0;  // that have succeeded
  uint64_t failed = 0;
  uint64_t resumed = 0;  // of those that have succeeded
  uint64_t pending = 0;

  void reset() { handshakes = failed = resumed = 0; }
};

class Tls {
 public:
  // Reads the files anew. An error leaves what was there before.
  Result<void, std::string> load(const Config& config);
  // Null before the first load().
  const std::shared_ptr<const TlsContext>& context() const { return context_; }

  TlsFigures figures;

 private:
  std::shared_ptr<const TlsContext> context_;
};

}  // namespace weir::server
