// Parsed requests, by their words. Callers send the same limits over and over; finding them here
// costs a comparison instead of parsing and checking, and allocates nothing.
//
// Fixed memory: a slot per hash, the newest wins. Requests with an ID never repeat and stay out.
#pragma once

#include <string>
#include <vector>

#include "server/limiter/request.h"

namespace weir::server {

class RequestCache {
 public:
  RequestCache() : slots_(kSlots) {}

  // As parse_request(). Null: it was refused, and `*error` says why. Valid until the next call.
  const LimiterRequest* parse(Args words, uint32_t options, std::string* error);

 private:
  static constexpr size_t kSlots = 512;
  static constexpr size_t kBytesMax = 512;  // of the words together

  struct Slot {
    uint32_t options = 0;
    std::string words;  // each with its size in front
    LimiterRequest request;
  };

  const LimiterRequest* parse_anew(Args words, uint32_t options, std::string* error);

  std::vector<Slot> slots_;
  LimiterRequest uncached_;
};

}  // namespace weir::server
