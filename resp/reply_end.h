// Where a reply ends, found as its bytes come.
//
// decode() reads a reply from its beginning at each call, so a long one that comes in pieces would
// be read once for each of them, and one that a hostile server never ends without end. This looks
// at each byte once, makes nothing of them, and bounds what decode() will make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "resp/value.h"

namespace weir::resp {

class ReplyEnd {
 public:
  // `values_max`: values of one reply, those inside others included.
  ReplyEnd(const DecodeLimits& limits, int64_t values_max)
      : limits_(limits), values_left_(values_max) {}

  // Looks at a reply as far as it has come: at each call all of it from its beginning.
  // kValue:    it is whole, and bytes() long; decode() says whether it is right.
  // kNeedMore: nothing wrong so far.
  // kError:    it can become no reply within the limits.
  DecodeStatus look(std::string_view reply);
  size_t bytes() const { return position_; }

 private:
  // What follows the line of a value: bytes of its own, and values inside it.
  struct Rest {
    uint64_t bytes = 0;
    int64_t values = 0;
  };
  std::optional<Rest> rest_of(char type, std::string_view line) const;

  const DecodeLimits limits_;
  int64_t values_left_;   // that may be announced
  size_t position_ = 0;   // of the next value
  int64_t expected_ = 1;  // values that are to come
};

}  // namespace weir::resp
