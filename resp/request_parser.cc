#include "resp/request_parser.h"

#include <algorithm>

#include "resp/inline_arguments.h"
#include "resp/numbers.h"
#include "resp/plain_request.h"

namespace weir::resp {
namespace {

constexpr int64_t kUnauthenticatedCountMax = 10;
constexpr int64_t kUnauthenticatedBulkBytesMax = 16384;

}  // namespace

void RequestParser::reset() {
  state_ = State::kStart;
  consumed_ = 0;
  args_.clear();
  error_.clear();
}

void RequestParser::free_large() {
  if (args_.capacity() > kArgumentsKept) std::vector<std::string_view>().swap(args_);
  if (pieces_.capacity() > kArgumentsKept) std::vector<Piece>().swap(pieces_);
  if (unescaped_.capacity() > kInlineBytesKept) std::string().swap(unescaped_);
}

void RequestParser::start_request() {
  give_back();
  args_.clear();
  pieces_.clear();
  position_ = scanned_ = 0;
  line_hidden_ = false;
}

ParseStatus RequestParser::parse(std::string_view input, const RequestLimits& limits) {
  consumed_ = 0;
  if (state_ == State::kStart) {
    start_request();
    if (parse_plain(input, limits)) return ParseStatus::kRequest;
    if (input.empty()) return ParseStatus::kNeedMore;
    state_ = input.front() == '*' ? State::kCount : State::kInline;
  }
  if (state_ == State::kFailed) return ParseStatus::kError;
  if (input.size() < scanned_) return fail("bytes of a request were lost");  // a bug of the caller
  return state_ == State::kInline ? parse_inline(input, limits) : parse_multibulk(input, limits);
}

// Takes the fast way. Where that is none, nothing has changed, and the bytes were looked at once.
bool RequestParser::parse_plain(std::string_view input, const RequestLimits& limits) {
  const PlainRequest request = take_plain_request(input, limits, &args_);
  work_ += request.looked_at + 1;
  consumed_ = request.bytes;
  return request.bytes > 0;
}

ParseStatus RequestParser::parse_multibulk(std::string_view input, const RequestLimits& limits) {
  if (state_ == State::kCount) {
    const ParseStatus status = parse_count(input, limits);
    if (status != ParseStatus::kRequest) return status;
  }
  while (bulks_left_ > 0) {
    if (state_ == State::kBulkHeader) {
      const ParseStatus status = parse_bulk_header(input, limits);
      if (status != ParseStatus::kRequest) return status;
    }
    const size_t size = static_cast<size_t>(bulk_size_);
    const size_t available = input.size() - position_;
    if (available < size + 2) return ParseStatus::kNeedMore;
    // The two bytes after an argument are skipped unread, as Redis does.
    pieces_.push_back({position_, size});
    scanned_ = position_ += size + 2;
    state_ = State::kBulkHeader;
    --bulks_left_;
    ++work_;
  }
  return finish(input);
}

// In this function and those below, kRequest means that this part is done and parsing goes on.
ParseStatus RequestParser::parse_count(std::string_view input, const RequestLimits& limits) {
  switch (find_header(input, limits.inline_bytes_max)) {
    case Line::kIncomplete:
      return ParseStatus::kNeedMore;
    case Line::kTooLong:
      return fail("too big mbulk count string");
    case Line::kComplete:
      break;
  }
  if (!header_value_ || *header_value_ > limits.multibulk_count_max) {
    return fail("invalid multibulk length");
  }
  if (!limits.authenticated && *header_value_ > kUnauthenticatedCountMax) {
    return fail("unauthenticated multibulk length");
  }
  bulks_left_ = *header_value_;
  state_ = State::kBulkHeader;
  return ParseStatus::kRequest;
}

ParseStatus RequestParser::parse_bulk_header(std::string_view input, const RequestLimits& limits) {
  const size_t start = position_;
  switch (find_header(input, limits.inline_bytes_max)) {
    case Line::kIncomplete:
      return ParseStatus::kNeedMore;
    case Line::kTooLong:
      return fail("too big bulk count string");
    case Line::kComplete:
      break;
  }
  if (input[start] != '$') {
    const char got = input[start] == '\r' || input[start] == '\n' ? ' ' : input[start];
    return fail(std::string("expected '$', got '") + got + "'");
  }
  if (!header_value_ || *header_value_ < 0 || *header_value_ > limits.bulk_bytes_max) {
    return fail("invalid bulk length");
  }
  if (!limits.authenticated && *header_value_ > kUnauthenticatedBulkBytesMax) {
    return fail("unauthenticated bulk length");
  }
  bulk_size_ = *header_value_;
  state_ = State::kBulkBody;
  return ParseStatus::kRequest;
}

// Steps over the header line at position_ and reads its number. Only the CR is searched: the byte
// after it must be there but may be any.
RequestParser::Line RequestParser::find_header(std::string_view input, int64_t bytes_max) {
  const Line line = find_line_end(input, '\r', bytes_max);
  if (line != Line::kComplete) return line;
  if (scanned_ + 1 >= input.size()) return Line::kIncomplete;
  const size_t digits = std::min(position_ + 1, scanned_);
  header_value_ = parse_int64(input.substr(digits, scanned_ - digits));
  scanned_ = position_ = scanned_ + 2;
  return Line::kComplete;
}

// Moves scanned_ to the terminator of the line at position_. The line may have up to `bytes_max`
// bytes before it. A NUL byte hides what follows, so that such a line ends as too long: this is
// what Redis does, and as good as any other answer to a stream that is not the protocol.
RequestParser::Line RequestParser::find_line_end(std::string_view input, char terminator,
                                                 int64_t bytes_max) {
  const uint64_t available = input.size() - position_, max = static_cast<uint64_t>(bytes_max);
  if (!line_hidden_) {
    const size_t window_end = position_ + std::min(available, max + 1);
    const std::string_view unseen = input.substr(scanned_, window_end - scanned_);
    const size_t found = unseen.find(terminator);
    const std::string_view seen = unseen.substr(0, found);
    work_ += seen.size() + 1;
    scanned_ += seen.size();
    line_hidden_ = seen.find('\0') != seen.npos;
    if (found != unseen.npos && !line_hidden_) return Line::kComplete;
  }
  return available > max ? Line::kTooLong : Line::kIncomplete;
}

ParseStatus RequestParser::parse_inline(std::string_view input, const RequestLimits& limits) {
  switch (find_line_end(input, '\n', limits.inline_bytes_max)) {
    case Line::kIncomplete:
      return ParseStatus::kNeedMore;
    case Line::kTooLong:
      return fail("too big inline request");
    case Line::kComplete:
      break;
  }
  if (!split_arguments(input.substr(0, scanned_), &unescaped_, &args_)) {
    return fail("unbalanced quotes in request");
  }
  work_ += scanned_;
  consumed_ = scanned_ + 1;
  state_ = State::kStart;
  return ParseStatus::kRequest;
}

ParseStatus RequestParser::finish(std::string_view input) {
  args_.clear();
  for (const Piece& piece : pieces_) args_.push_back(input.substr(piece.offset, piece.size));
  work_ += pieces_.size();
  consumed_ = position_;
  state_ = State::kStart;
  return ParseStatus::kRequest;
}

ParseStatus RequestParser::fail(std::string_view reason) {
  state_ = State::kFailed;
  args_.clear();
  error_ = "ERR Protocol error: ";
  error_ += reason;
  return ParseStatus::kError;
}

}  // namespace weir::resp
