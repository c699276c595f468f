#include "server/http/grpc/status.h"

#include "base/ascii.h"

namespace weir::server::grpc {
namespace {

// By the first word of an error. What is not here means that the server cannot do now what it could
// at another time, or another member could.
constexpr struct {
  std::string_view word;
  Code code;
} kCodes[] = {{"ERR", Code::kFailedPrecondition},       {"WRONGTYPE", Code::kFailedPrecondition},
              {"CROSSSLOT", Code::kFailedPrecondition}, {"MOVED", Code::kFailedPrecondition},
              {"ASK", Code::kFailedPrecondition},       {"NOAUTH", Code::kUnauthenticated},
              {"WRONGPASS", Code::kUnauthenticated},    {"NOPERM", Code::kPermissionDenied},
              {"DENIED", Code::kPermissionDenied},      {"ACL", Code::kPermissionDenied}};

constexpr std::string_view kBugBegins = "ERR internal error";

}  // namespace

Status status_of_error(std::string_view error) {
  Status status = {.code = Code::kUnavailable, .text = std::string(error)};
  const std::string_view word = error.substr(0, error.find(' '));
  for (const auto& row : kCodes) {
    if (row.word == word) status.code = row.code;
  }
  if (error.starts_with(kBugBegins)) status.code = Code::kInternal;
  return status;
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_printable(c) && c != '%') {
      encoded.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', to_upper(kHexDigits[byte >> 4]), to_upper(kHexDigits[byte & 15])};
  }
  return encoded;
}

}  // namespace weir::server::grpc
