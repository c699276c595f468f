#include "server/tls/tls.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "base/crc64.h"
#include "server/os/log.h"
#include "server/tls/tls_context.h"

namespace weir::server {

namespace {

// What stands for the files that are read: their names and what is in them. Of a folder of
// authorities, which OpenSSL reads when it needs one, the names that it has.
uint64_t digest_of(const Config& config) {
  std::string all;
  std::error_code error;
  for (const std::string* path :
       {&config.tls_cert_file, &config.tls_key_file, &config.tls_ca_cert_file}) {
    std::ostringstream text;
    // A pipe would hold the loop up until somebody writes it.
    if (std::filesystem::is_regular_file(*path, error)) text << std::ifstream(*path).rdbuf();
    all.append(*path).append(1, '\0').append(text.str()).append(1, '\0');
  }
  std::set<std::string> names;
  if (!config.tls_ca_cert_dir.empty()) {
    for (const auto& entry : std::filesystem::directory_iterator(config.tls_ca_cert_dir, error))
      names.insert(entry.path().string());
  }
  for (const std::string& name : names) all.append(name).append(1, '\0');
  return crc64_xz(all);
}

}  // namespace

Result<Reloaded, std::string> Tls::load(const Config& config) {
  const uint64_t digest = digest_of(config);  // before, so that what comes meanwhile counts as new
  auto made = TlsContext::make(config);
  if (!made) return made.error();
  const bool is_new = context_ == nullptr || digest != digest_;
  context_ = std::move(*made);
  digest_ = digest;
  file_ = config.tls_cert_file;
  look_again_s_ = 0;
  if (is_new)
    log_info("tls: the certificate {} has {}", config.tls_cert_file,
             context_->describe_certificate());
  return is_new ? Reloaded::kNew : Reloaded::kSame;
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
