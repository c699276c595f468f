// How a call of gRPC ends: a number and a line of text (the specification's "status codes").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server::grpc {

// The numbers are on the wire. DO NOT CHANGE.
enum class Code : uint8_t {
  kOk = 0,
  kInvalidArgument = 3,
  kNotFound = 5,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kUnauthenticated = 16,
};

struct Status {
  Code code = Code::kOk;
  std::string text = {};  // for people; any bytes
};

// What an error of a command is, such as "NOPERM this user ...".
Status status_of_error(std::string_view error);

// Writes a text as the field grpc-message has it: bytes that are no printable ASCII, and '%', as
// %XX.
std::string percent_encoded(std::string_view text);

}  // namespace weir::server::grpc
