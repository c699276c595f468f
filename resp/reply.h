// Writes replies as bytes, in RESP2 or RESP3.
//
// The writer appends to a buffer that it does not own, and never looks at what is there. It does
// not check that an aggregate gets the elements it announced: the caller writes them next.
//
// The buffer may have a bound. A reply that would pass it throws ReplyTooLong, and nothing of it is
// written. Errors and replies of constant size have no bound, so that an error always fits.
//
// The bytes are Redis 7.0's: DO NOT CHANGE.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "resp/numbers.h"

namespace weir::resp {

struct ReplyTooLong : std::exception {
  const char* what() const noexcept override { return "the reply passes its buffer's bound"; }
};

class ReplyWriter {
 public:
  // `out` outlives the writer. `protocol` is 2 or 3.
  explicit ReplyWriter(std::string* out, int protocol = 2) : out_(out), protocol_(protocol) {}

  int protocol() const { return protocol_; }
  void set_protocol(int protocol) { protocol_ = protocol; }
  std::string* buffer() { return out_; }
  // The most bytes that the buffer may hold, its older contents included.
  void set_size_max(size_t bytes) { size_max_ = bytes; }
  size_t size_max() const { return size_max_; }
  // Appends bytes that are a reply already.
  void raw(std::string_view bytes) {
    make_room(bytes.size());
    out_->append(bytes);
  }

  // Writes one line without CR or LF, such as "OK".
  void status(std::string_view text) {
    out_->push_back('+');
    out_->append(text);
    out_->append("\r\n", 2);
  }

  // Writes an error whose text begins with its code: "ERR ...". CR and LF become spaces; at its end
  // they are dropped.
  void error(std::string_view text);

  void integer(int64_t value) { header(':', value); }

  // Writes a bulk string of any bytes.
  void bulk(std::string_view bytes) {
    make_room(bytes.size());
    if (bytes.size() <= kSmallBytes) return small_bulk(bytes);
    if (bytes.size() > kLargeBytes) [[unlikely]]
      reserve_for(bytes.size());
    char line[kLineBytesMax];
    append(line, write_line('$', static_cast<int64_t>(bytes.size()), line));
    out_->append(bytes);
    out_->append("\r\n", 2);
  }

  // Writes the decimal digits as a bulk string.
  void bulk_integer(int64_t value) {
    char digits[20];
    bulk({digits, format_int64(value, digits)});
  }

  void null();        // RESP2: the null bulk string
  void null_array();  // RESP2: the null array

  // Aggregates announce how many elements follow. In RESP2 all are arrays, a map one of 2 * pairs.
  void array(int64_t elements) { header('*', elements); }
  // Writes an array of integers in one go: verdicts are such arrays.
  template <size_t N>
  void integers(const int64_t (&values)[N]) {
    char lines[kLineBytesMax * (N + 1)];
    char* end = write_line('*', N, lines);
    for (const int64_t value : values) end = write_line(':', value, end);
    append(lines, end);
  }
  void map(int64_t pairs) { is_resp3() ? header('%', pairs) : header('*', pairs * 2); }
  void set(int64_t elements) { header(is_resp3() ? '~' : '*', elements); }
  void push(int64_t elements) { header(is_resp3() ? '>' : '*', elements); }

  void boolean(bool value);                  // RESP2: 1 or 0
  void real(double value);                   // RESP2: format_double() as a bulk string
  void real_text(std::string_view digits);   // a double by its text; RESP2: a bulk string
  void big_number(std::string_view digits);  // RESP2: a bulk string

  // Writes a text in a format of three bytes, "txt" or "mkd". RESP2: a bulk string.
  void verbatim(std::string_view text, std::string_view format = "txt");

 private:
  bool is_resp3() const { return protocol_ >= 3; }

  static constexpr size_t kLineBytesMax = 23;
  static constexpr size_t kSmallBytes = 64;
  static constexpr size_t kLargeBytes = 64 << 10;

  // Answers the end of what it wrote.
  static char* write_line(char type, int64_t value, char* out) {
    *out++ = type;
    if (value >= 0 && value <= 9) {
      *out++ = static_cast<char>('0' + value);
    } else {
      out += format_int64(value, out);
    }
    *out++ = '\r';
    *out++ = '\n';
    return out;
  }

  void make_room(size_t bytes) {
    if (out_->size() + bytes > size_max_) [[unlikely]]
      throw ReplyTooLong();
  }

  // Takes memory for a large bulk string once: its last two bytes would double what was taken.
  void reserve_for(size_t bytes);

  void append(const char* begin, const char* end) {
    out_->append(begin, static_cast<size_t>(end - begin));
  }

  void header(char type, int64_t value) {
    make_room(0);
    char line[kLineBytesMax];
    append(line, write_line(type, value, line));
  }

  // A short bulk string is put together before it is appended, once.
  void small_bulk(std::string_view bytes) {
    char reply[kLineBytesMax + kSmallBytes + 2];
    char* end = write_line('$', static_cast<int64_t>(bytes.size()), reply);
    end = std::copy(bytes.begin(), bytes.end(), end);
    *end++ = '\r';
    *end++ = '\n';
    append(reply, end);
  }

  std::string* out_;
  int protocol_;
  size_t size_max_ = SIZE_MAX;
};

}  // namespace weir::resp
