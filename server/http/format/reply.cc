#include "server/http/format/reply.h"

namespace weir::server::http {

Result<resp::Value, std::string_view> read_reply(std::string_view bytes) {
  resp::Value reply;
  size_t consumed = 0;
  if (resp::decode(bytes, &reply, &consumed) != resp::DecodeStatus::kValue)
    return std::string_view("ERR internal error: the reply is none");
  return reply;
}

}  // namespace weir::server::http
