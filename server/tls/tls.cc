#include "server/tls/tls.h"

#include <utility>

#include "server/os/log.h"
#include "server/tls/tls_context.h"

namespace weir::server {

Result<void, std::string> Tls::load(const Config& config) {
  auto made = TlsContext::make(config);
  if (!made) return made.error();
  context_ = std::move(*made);
  spdlog::info("tls: the certificate {} has {}", config.tls_cert_file,
               context_->describe_certificate());
  return {};
}

}  // namespace weir::server
