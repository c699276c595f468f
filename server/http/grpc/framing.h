// The five bytes that gRPC puts before a message in a body:
//
//     u8 = 0 (not compressed), u32 big-endian = size, message                     DO NOT CHANGE
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/http/grpc/status.h"

namespace weir::server::grpc {

inline constexpr size_t kFrameHeadBytes = 5;

// Answers the message that a body begins with, none if it is not whole; it points into the body.
// One of more than so many bytes is an error as soon as its size is there.
Result<std::optional<std::string_view>, Status> first_message(std::string_view body,
                                                              size_t bytes_max);
// Answers the one message that a body is; it points into the body.
Result<std::string_view, Status> message_of(std::string_view body);
// Puts the bytes before it.
std::string framed(std::string_view message);

}  // namespace weir::server::grpc
