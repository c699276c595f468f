// Why a call of cnats failed, in one line.
#pragma once

#include <nats/nats.h>

#include <string>
#include <string_view>

#include "base/one_line.h"

namespace weir::storage::nats {

// The library's own words, if they say more than the status. A server's may be among them.
inline std::string words_of(natsStatus status) {
  if (status == NATS_SECURE_CONNECTION_WANTED) return "the server does not encrypt connections";
  if (status == NATS_NO_SERVER) return "nobody listens there, or the name is not known";
  natsStatus last = NATS_OK;
  const char* const words = nats_GetLastError(&last);
  const std::string text = natsStatus_GetText(status);
  std::string_view said = words && last == status ? words : "";
  // Where in its source, which is no help to anybody here.
  if (const size_t place = said.find("): "); said.starts_with('(') && place < said.size())
    said.remove_prefix(place + 3);
  // So it prints that OpenSSL knows of no error.
  if (said.find("(null)") != std::string_view::npos)
    return text + ": the handshake ended, or took too long";
  if (said.ends_with("got ''"))
    return "the server closed the connection, as it does when it wants another certificate "
           "(tlscert)";
  return one_line(said.empty() || said == text ? text : text + " (" + std::string(said) + ")");
}

}  // namespace weir::storage::nats
