// What SCAN, HSCAN, SSCAN and ZSCAN have in common: cursors, options and pages.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "resp/reply.h"
#include "server/command/command.h"
#include "server/command/error_replied.h"
#include "server/types/collection.h"

namespace weir::server {

// Cursors are below 2^53, since clients keep them in doubles.
inline constexpr uint64_t kCursorMask = (uint64_t{1} << 53) - 1;

// Bulk strings whose number is known only when all have been written.
class Bulks {
 public:
  // The strings will be part of `reply`, and have its bound.
  explicit Bulks(const resp::ReplyWriter& reply) { writer_.set_size_max(reply.size_max()); }
  void add(std::string_view bytes) {
    writer_.bulk(bytes);
    ++count_;
  }
  size_t bytes() const { return bytes_.size(); }
  void reply(Call& call) const {
    call.reply.array(count_);
    call.reply.raw(bytes_);
  }

 private:
  std::string bytes_;
  resp::ReplyWriter writer_{&bytes_};
  int64_t count_ = 0;
};

struct ScanOptions {
  std::string_view pattern = "*";
  std::optional<std::string_view> type = {};
  size_t count = 10;

  bool accepts(const Call& call, std::string_view key) const;
};

Result<uint64_t, ErrorReplied> cursor_argument(Call& call, std::string_view text);
// Reads the options from args[first] on; TYPE is a syntax error unless `with_type`.
Result<ScanOptions, ErrorReplied> scan_options(Call& call, size_t first, bool with_type);

// Visits what a page shows: calls `scan` with a cursor and a count, which answers the next cursor,
// until as many as the options say were visited, or half of a session's slice is used up. Answers
// the cursor to go on from.
uint64_t scan_page(Call& call, uint64_t cursor, size_t count, const Bulks& page,
                   const std::function<uint64_t(uint64_t cursor, size_t count)>& scan);

void reply_page(Call& call, uint64_t next_cursor, const Bulks& page);

// Runs HSCAN, SSCAN or ZSCAN: args are the key, a cursor and options. `add` puts an element whose
// member matches into the page. A compact collection is one page, in its own order.
void scan_collection(Call& call, storage::Type type,
                     const std::function<void(const storage::Element&, Bulks*)>& add);

}  // namespace weir::server
