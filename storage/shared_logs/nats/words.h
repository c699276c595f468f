// Why a call of cnats failed, in one line.
#pragma once

#include <nats/nats.h>

#include <string>
#include <string_view>

namespace weir::storage::nats {

// The library's own words, if they say more than the status.
inline std::string words_of(natsStatus status) {
  if (status == NATS_SECURE_CONNECTION_WANTED) return "the server does not encrypt connections";
  natsStatus last = NATS_OK;
  const char* const words = nats_GetLastError(&last);
  const std::string text = natsStatus_GetText(status);
  if (words == nullptr || *words == '\0' || last != status) return text;
  const std::string_view said = words;
  // So cnats prints that OpenSSL knows of no error.
  if (said.find("(null)") != std::string_view::npos) return text + ": no handshake within a second";
  if (said.ends_with("got ''"))
    return "the server closed the connection, as it does when it wants another certificate "
           "(tlscert)";
  return text + " (" + std::string(said) + ")";
}

}  // namespace weir::storage::nats
