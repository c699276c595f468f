// Plain requests: arrays of bulk strings that are all there, in the usual spelling and far from
// every bound. Most are, and to take one is much less work than to parse any request.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "resp/request_limits.h"

namespace weir::resp {

struct PlainRequest {
  size_t bytes = 0;      // 0: there is none
  size_t looked_at = 0;  // arguments, of one that is none, too
};

// Takes the plain request at the front of `input`: appends its arguments to *args, as views. Where
// there is none, because it is incomplete, unusual or wrong, *args stays as it was.
PlainRequest take_plain_request(std::string_view input, const RequestLimits& limits,
                                std::vector<std::string_view>* args);

}  // namespace weir::resp
