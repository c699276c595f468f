// What a call asks of limiters: commands in one or more parts, of which each follows from the
// replies to the one before. It runs nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "resp/value.h"
#include "server/http/grpc/asked_key.h"
#include "server/http/grpc/status.h"

namespace weir::server::grpc {

class Ask {
 public:
  Ask() = default;
  virtual ~Ask() = default;
  Ask(const Ask&) = delete;
  Ask& operator=(const Ask&) = delete;

  // The commands to be run next; none: message() is what they have led to. REQUIRES: take() was
  // called for all before.
  virtual std::vector<Words> next() = 0;
  // Takes the reply to one of them, by its place. The error is how the call ends.
  virtual Result<void, Status> take(size_t place, const resp::Value& reply) = 0;
  virtual bool is_over() const = 0;  // some limit has not enough
  virtual std::string message() const = 0;
  virtual size_t memory_bytes() const = 0;  // with its own members

  // Descriptors without a rule and without a limit of their own.
  size_t unruled() const { return unruled_; }
  // Rules that were looked at one after the other.
  size_t rules_passed() const { return passed_; }

 protected:
  size_t unruled_ = 0;
  size_t passed_ = 0;
};

}  // namespace weir::server::grpc
