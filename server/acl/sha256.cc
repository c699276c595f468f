#include "server/acl/sha256.h"

#include <openssl/evp.h>

#include "base/ascii.h"
#include "base/check.h"

namespace weir::server::acl {

std::array<uint8_t, 32> sha256(std::string_view bytes) {
  static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::array<uint8_t, 32> digest;
  WEIR_REQUIRE(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, method, nullptr) ==
               1);
  return digest;
}

std::string sha256_hex(std::string_view bytes) { return hex_text(sha256(bytes)); }

}  // namespace weir::server::acl
