// Feeds the request parser arbitrary bytes, once whole and once in pieces, and demands the same
// requests and the same end.
//
// Input: one byte of limits, four bytes that seed the cuts, then the stream.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "resp/request_parser.h"

namespace {

using weir::resp::ParseStatus;
using weir::resp::RequestLimits;
using weir::resp::RequestParser;

void check(bool holds) {
  if (!holds) std::abort();
}

class Connection {
 public:
  explicit Connection(const RequestLimits& limits) : limits_(limits) {}

  void receive(std::string_view bytes) {
    buffer_ += bytes;
    received_ += bytes.size();
    while (step()) {
    }
  }

  // Requests as argument lists, then the error or the bytes left over.
  std::vector<std::string> story() const {
    std::vector<std::string> story = story_;
    story.push_back(failed_ ? parser_.error() : std::to_string(buffer_.size()));
    return story;
  }

  // Invariant of the parser: linear work, whatever the cuts. Each call may look twice at its first
  // request.
  void check_work(size_t calls) const { check(parser_.work() <= 6 * (received_ + calls) + 16); }

 private:
  bool step() {
    if (failed_) return false;
    const std::unique_ptr<char[]> copy(new char[buffer_.size()]);
    buffer_.copy(copy.get(), buffer_.size());
    const ParseStatus status = parser_.parse({copy.get(), buffer_.size()}, limits_);
    failed_ = status == ParseStatus::kError;
    if (failed_) check(parser_.error().starts_with("ERR Protocol error: "));
    if (status != ParseStatus::kRequest) return false;
    check(parser_.consumed() > 0 && parser_.consumed() <= buffer_.size());
    story_.push_back("request of " + std::to_string(parser_.args().size()));
    for (const std::string_view arg : parser_.args()) story_.emplace_back(arg);
    buffer_.erase(0, parser_.consumed());
    return true;
  }

  RequestLimits limits_;
  RequestParser parser_;
  std::string buffer_;
  size_t received_ = 0;
  bool failed_ = false;
  std::vector<std::string> story_;
};

RequestLimits limits_from(uint8_t byte) {
  RequestLimits limits;
  limits.authenticated = (byte & 1) == 0;
  if (byte & 2) limits.bulk_bytes_max = 8;
  if (byte & 4) limits.multibulk_count_max = 3;
  if (byte & 8) limits.inline_bytes_max = 6;
  return limits;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeader = 5;
  if (size < kHeader) return 0;
  const RequestLimits limits = limits_from(data[0]);
  std::minstd_rand random(data[1] | data[2] << 8 | data[3] << 16 | (data[4] & 0x7f) << 24);
  const std::string_view stream(reinterpret_cast<const char*>(data) + kHeader, size - kHeader);

  Connection whole(limits);
  whole.receive(stream);
  whole.check_work(1);

  Connection pieces(limits);
  const size_t piece_max = 1 + random() % 32;
  size_t calls = 0;
  for (size_t at = 0; at < stream.size(); ++calls) {
    const std::string_view piece = stream.substr(at, 1 + random() % piece_max);
    pieces.receive(piece);
    at += piece.size();
  }
  pieces.check_work(calls);
  check(pieces.story() == whole.story());
  return 0;
}
