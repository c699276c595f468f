// Cuts a byte stream into requests: RESP arrays of bulk strings, and inline lines.
//
// The parser does no I/O, keeps no copy of the stream and knows no command. What it accepts, what
// it refuses and in which words is Redis 7.0's.
//
// Invariants
// 1. The outcome depends on the bytes alone, never on how they were cut into calls: what a later
//    call needs is kept as a state, counts and offsets from the request's beginning.
// 2. A declared length or count never takes memory: memory grows with the bytes received.
// 3. The work is linear in the bytes, however small the pieces in which they arrive: `scanned_`
//    keeps a byte from being searched twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "resp/request_limits.h"

namespace weir::resp {

enum class ParseStatus { kNeedMore, kRequest, kError };

// Parses one connection. After kError the connection is to be closed: every further call repeats
// the error until reset().
class RequestParser {
 public:
  // Parses the next request at the front of `input`.
  // kNeedMore: call again with the same bytes, from the same beginning, with more after them; they
  //            may have moved in memory.
  // kRequest:  args() holds the request, which may be empty (a blank line, "*0", "*-1"). The caller
  //            drops consumed() bytes before the next call.
  // kError:    error() is the line to send.
  ParseStatus parse(std::string_view input, const RequestLimits& limits);

  // The arguments. REQUIRES: the last parse() said kRequest. The views point into its input, or
  // into the parser for inline requests; they hold until the next parse() or until the input goes.
  std::span<const std::string_view> args() const { return args_; }

  // How many bytes of the input the last request took; 0 unless parse() said kRequest.
  size_t consumed() const { return consumed_; }

  // How many bytes the request in progress has at least, as far as the last parse() was told; 0
  // unless an argument was under way.
  size_t told_bytes() const {
    return state_ == State::kBulkBody ? position_ + static_cast<size_t>(bulk_size_) + 2 : 0;
  }

  // The error's line without '-' and CRLF, as "ERR Protocol error: invalid bulk length".
  const std::string& error() const { return error_; }

  // How many bytes were looked at so far, over all calls; tests of invariant 3 use it.
  uint64_t work() const { return work_; }

  // Forgets the request in progress and any error.
  void reset();
  // Gives back the memory of a large request, unless one is in progress. The arguments do not hold
  // any more.
  void give_back() {
    if (is_large() && state_ == State::kStart) [[unlikely]]
      free_large();
  }
  // Tells whether a request is in progress: parse() has seen its beginning and not its end.
  bool in_progress() const { return state_ != State::kStart; }
  // Answers how much memory the parser holds.
  size_t memory_bytes() const {
    return args_.capacity() * sizeof(std::string_view) + pieces_.capacity() * sizeof(Piece) +
           unescaped_.capacity();
  }

 private:
  enum class State { kStart, kInline, kCount, kBulkHeader, kBulkBody, kFailed };
  enum class Line { kComplete, kIncomplete, kTooLong };
  struct Piece {
    size_t offset, size;
  };

  // This much memory is kept from one request to the next.
  static constexpr size_t kArgumentsKept = 1024;
  static constexpr size_t kInlineBytesKept = 4096;

  bool is_large() const {
    return args_.capacity() > kArgumentsKept || pieces_.capacity() > kArgumentsKept ||
           unescaped_.capacity() > kInlineBytesKept;
  }
  void free_large();
  void start_request();
  bool parse_plain(std::string_view input, const RequestLimits& limits);
  ParseStatus parse_multibulk(std::string_view input, const RequestLimits& limits);
  ParseStatus parse_count(std::string_view input, const RequestLimits& limits);
  ParseStatus parse_bulk_header(std::string_view input, const RequestLimits& limits);
  ParseStatus parse_inline(std::string_view input, const RequestLimits& limits);
  Line find_header(std::string_view input, int64_t bytes_max);
  Line find_line_end(std::string_view input, char terminator, int64_t bytes_max);
  ParseStatus finish(std::string_view input);
  ParseStatus fail(std::string_view reason);

  State state_ = State::kStart;
  size_t position_ = 0;                  // first byte of the line or argument being parsed
  size_t scanned_ = 0;                   // no line end before this byte
  bool line_hidden_ = false;             // a NUL came before the end of this line
  std::optional<int64_t> header_value_;  // the last header line's number; none if it is no number
  int64_t bulks_left_ = 0;               // arguments still to come, the current one included
  int64_t bulk_size_ = 0;                // declared size of the current argument
  size_t consumed_ = 0;
  uint64_t work_ = 0;
  std::vector<Piece> pieces_;  // arguments complete so far; offsets, since the input may move
  std::vector<std::string_view> args_;
  std::string unescaped_;  // holds inline arguments
  std::string error_;
};

}  // namespace weir::resp
