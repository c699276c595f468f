#include "server/tls/tls.h"

#include <utility>

#include "server/os/log.h"
#include "server/tls/tls_context.h"

namespace weir::server {

Result<void, std::string> Tls::load(const Config& config) {
  auto made = TlsContext::make(config);
  if (!made) return made.error();
  context_ = std::move(*made);
  file_ = config.tls_cert_file;
  look_again_s_ = 0;
  log_info("tls: the certificate {} has {}", config.tls_cert_file,
           context_->describe_certificate());
  return {};
}

void Tls::look_at_the_end(int64_t now_s) {
  if (context_ == nullptr || now_s < look_again_s_) return;
  look_again_s_ = now_s + kSPerDay;
  const int64_t left_s = context_->not_after_s() - now_s;
  if (left_s > kWarnedS) return;
  log_event(left_s < 0 ? EventLevel::kError : EventLevel::kWarning,
            "tls: the certificate {} has {}: put a new one in its place and send SIGHUP", file_,
            context_->describe_certificate());
}

}  // namespace weir::server
