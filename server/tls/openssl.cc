#include "server/tls/openssl.h"

#include <openssl/err.h>

#include <algorithm>
#include <cstring>

#include "base/ascii.h"

namespace weir::server {

std::string take_openssl_error() {
  const unsigned long error = ERR_peek_error();
  ERR_clear_error();
  if (error == 0) return "unknown error";
  if (ERR_SYSTEM_ERROR(error)) return std::strerror(ERR_GET_REASON(error));
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? "error " + std::to_string(error) : reason;
}

std::string common_name_of(const X509& certificate) {
  const X509_NAME* subject = X509_get_subject_name(&certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return "";
  unsigned char* bytes = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  ERR_clear_error();
  if (size < 0) return "";
  std::string name(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return std::any_of(name.begin(), name.end(), is_control) ? "" : name;
}

}  // namespace weir::server
