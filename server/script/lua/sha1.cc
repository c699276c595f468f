#include "server/script/lua/sha1.h"

#include <openssl/evp.h>

#include "base/ascii.h"
#include "base/check.h"

namespace weir::server::script {

std::array<uint8_t, 20> sha1(std::string_view bytes) {
  static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  std::array<uint8_t, 20> digest;
  WEIR_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, method, nullptr) == 1);
  return digest;
}

std::string sha1_hex(std::string_view bytes) { return hex_text(sha1(bytes)); }

}  // namespace weir::server::script
