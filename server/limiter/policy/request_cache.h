// Parsed requests, found by their words. Clients send the same limits over and over; finding them
// here takes a comparison instead of parsing and checking, and allocates nothing.
//
// The memory is fixed: one place per hash, where the newest request wins. A request with an ID is
// found by its other words, and its token is put into what was parsed for another one: the parser
// takes whatever word follows ID, and asks for no more of it than its length. Requests with
// TRACEPARENT are not kept, unless it is last and so was taken away before (trace_words.h).
#pragma once

#include <string>
#include <vector>

#include "server/limiter/policy/request.h"

namespace weir::server {

class RequestCache {
 public:
  explicit RequestCache(const algorithms::Zones* zones = nullptr)
      : zones_(zones), places_(kPlaces) {}

  using Parsed = Result<const LimiterRequest*, std::string>;
  // Parses as parse_request() does. The request is valid until the next call.
  Parsed parse(Args words, uint32_t options);

 private:
  static constexpr size_t kPlaces = 512;
  static constexpr size_t kBytesMax = 512;  // of all words together, with a size of two bytes each
  static constexpr size_t kWordsMax = kBytesMax / 2;

  struct Place {
    uint32_t options = 0;
    std::string words;  // each word with its size before it, but a mark for the token
    LimiterRequest request;
  };

  Parsed parse_anew(Args words, uint32_t options);

  const algorithms::Zones* zones_;
  std::vector<Place> places_;
  LimiterRequest uncached_;
};

}  // namespace weir::server
