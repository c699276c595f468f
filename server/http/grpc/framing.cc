#include "server/http/grpc/framing.h"

#include <cstdint>

namespace weir::server::grpc {
namespace {

uint32_t size_in(std::string_view head) {
  uint32_t size = 0;
  for (const char c : head.substr(1, 4)) size = size << 8 | static_cast<unsigned char>(c);
  return size;
}

}  // namespace

Result<std::optional<std::string_view>, Status> first_message(std::string_view body,
                                                              size_t bytes_max) {
  const std::optional<std::string_view> none;
  if (!body.empty() && body[0] != 0)
    return Status{Code::kUnimplemented, "messages that are compressed"};
  if (body.size() < kFrameHeadBytes) return none;
  const size_t size = size_in(body);
  if (size > bytes_max) {
    return Status{Code::kResourceExhausted,
                  "a message has at most " + std::to_string(bytes_max) + " bytes"};
  }
  body.remove_prefix(kFrameHeadBytes);
  if (body.size() < size) return none;
  return std::optional(body.substr(0, size));
}

Result<std::string_view, Status> message_of(std::string_view body) {
  if (body.size() < kFrameHeadBytes)
    return Status{Code::kInvalidArgument, "the call has no message, or its frame is cut"};
  const auto message = first_message(body, UINT32_MAX);
  if (!message) return message.error();
  if (!*message) return Status{Code::kInvalidArgument, "the message is cut"};
  if (body.size() > kFrameHeadBytes + (*message)->size())
    return Status{Code::kInvalidArgument, "the call has more than one message"};
  return **message;
}

std::string framed(std::string_view message) {
  const auto size = static_cast<uint32_t>(message.size());
  std::string bytes(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(size >> shift));
  return bytes.append(message);
}

}  // namespace weir::server::grpc
