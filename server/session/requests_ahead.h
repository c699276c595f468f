// Requests of one session that are parsed before they run, so that it is known which keys come
// next.
//
// There is one such object for all sessions. A session fills it while it runs its requests, and has
// used it up or forgotten it when it is done; the next one begins anew.
//
// Invariants
// 1. What is parsed ahead is what would have been parsed later. It holds because only plain
//    requests are (resp/plain_request.h), which mean the same at any time, and because next() gives
//    up what was parsed under other limits.
// 2. Parsing ahead is little work, because a request that is long, or has many arguments, is not
//    parsed ahead: before every request a slice may end (slice.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "resp/plain_request.h"
#include "server/command/command.h"

namespace weir::server {

class RequestsAhead {
 public:
  static constexpr size_t kRequestsMax = 16;
  static constexpr size_t kBytesMax = 16 << 10;  // of all
  static constexpr int64_t kArgumentsMax = 32;   // of each

  struct Request {
    Args args;
    size_t bytes = 0;
  };

  void forget() { next_ = count_ = 0; }
  // Tells whether all are used.
  bool at_end() const { return next_ == count_; }

  // Parses requests at the front of `bytes`, `requests_max` and kRequestsMax at the most; answers
  // how many. The views point into the bytes, and hold until the next fill().
  size_t fill(std::string_view bytes, const resp::RequestLimits& limits, size_t requests_max) {
    forget();
    args_.clear();
    limits_ = limits;
    resp::RequestLimits narrow = limits;
    narrow.multibulk_count_max = std::min(limits.multibulk_count_max, kArgumentsMax);
    bytes = bytes.substr(0, kBytesMax);
    std::array<size_t, kRequestsMax + 1> begins{};
    while (count_ < std::min(requests_max, kRequestsMax)) {
      const resp::PlainRequest plain = resp::take_plain_request(bytes, narrow, &args_);
      if (plain.bytes == 0) break;
      bytes.remove_prefix(plain.bytes);
      requests_[count_].bytes = plain.bytes;
      begins[++count_] = args_.size();
    }
    for (size_t i = 0; i < count_; ++i)
      requests_[i].args = Args(args_).subspan(begins[i], begins[i + 1] - begins[i]);
    return count_;
  }
  // Answers the arguments of a request. REQUIRES: `at` is less than what fill() has answered.
  Args args(size_t at) const { return requests_[at].args; }

  // Takes the next request; null if there is none, or if it may be none under these limits.
  const Request* next(const resp::RequestLimits& limits) {
    if (at_end()) return nullptr;
    if (limits == limits_) [[likely]]
      return &requests_[next_++];
    forget();
    return nullptr;
  }

 private:
  size_t next_ = 0;
  size_t count_ = 0;
  std::array<Request, kRequestsMax> requests_;
  std::vector<std::string_view> args_;
  resp::RequestLimits limits_;
};

}  // namespace weir::server
