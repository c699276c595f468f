// The requests of one run and what their replies must look like.
//
// Requests are built once; afterwards only the digits of their keys are patched.
//
// Invariants
// 1. Every reply is looked at whole. Only +PONG, +OK, the stored value and verdicts that grant
//    pass.
// 2. Keys are 16 bytes, whatever the server and the command: "key:" (SET, GET), "lim:"
//    (CL.THROTTLE) or "gcr:" (EVALSHA) and twelve digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/weir_bench/options.h"

namespace weir::bench {

inline constexpr size_t kKeyDigits = 12;

// Writes `key` as kKeyDigits digits.
void write_key_digits(uint64_t key, char* out);

// A RESP request of these arguments.
std::string encode_request(std::initializer_list<std::string_view> arguments);

// What a script's author would write for a limiter like CL.THROTTLE: same arguments, same reply.
std::string_view limiter_script();

struct Tally {
  uint64_t good = 0;
  uint64_t absent = 0;  // GET of a key that is not there; counted in good, too
  uint64_t denied = 0;
  uint64_t wrong = 0;
  std::string first_bad;  // a denial or a wrong reply, as text
};

class Workload {
 public:
  // `script_sha1` is used by EVALSHA alone.
  Workload(const Options& options, std::string_view script_sha1);

  std::string_view request() const { return request_; }
  bool has_key() const { return key_offset_ != 0; }
  size_t key_offset() const { return key_offset_; }  // of the digits

  // Takes whole replies off the front of `bytes` until `replies_max` are taken; answers how many,
  // and their size. Malformed bytes set `broken`.
  struct Taken {
    size_t replies = 0;
    size_t bytes = 0;
    bool broken = false;
  };
  Taken take_replies(std::string_view bytes, size_t replies_max, Tally* tally) const;

 private:
  size_t take_expected(std::string_view bytes) const;
  size_t take_good(std::string_view bytes) const;
  size_t take_granted(std::string_view bytes) const;
  size_t take_throttlecrab(std::string_view bytes) const;
  size_t take_other(std::string_view bytes, Tally* tally, bool* broken) const;

  Kind kind_;
  uint64_t permits_max_ = 0;
  std::string request_;
  size_t key_offset_ = 0;
  std::string expected_;  // the whole reply, or of a verdict what precedes "remaining"
};

}  // namespace weir::bench
