// The `dynamic_metadata` of a response, a google.protobuf.Struct, for rules that say METADATA: what
// was asked, in the reference service's form, and beside each descriptor what became of it.
//
//     domain, hitsAddend, quotaModeEnabled (false),
//     descriptors [{entries ["name=value", ...], hitsAddend, policy, code, remaining}, ...]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/http/grpc/rate_limit_messages.h"

namespace weir::server::grpc {

// What is kept of a request until it is answered.
struct AskedMetadata {
  struct Asked {
    std::vector<std::string> entries;  // "name=value"
    std::optional<uint64_t> hits;
  };
  std::string domain;
  std::optional<uint64_t> hits;
  std::vector<Asked> descriptors;

  explicit AskedMetadata(const RateLimitRequest& request);
  size_t memory_bytes() const;
};

// A client may refuse a whole message for text that is no UTF-8, and callers choose values: of such
// text every byte that is not of ASCII is a '?'.
std::string written_metadata(const AskedMetadata& asked,
                             const std::vector<DescriptorStatus>& statuses);

}  // namespace weir::server::grpc
