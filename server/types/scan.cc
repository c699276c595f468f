#include "server/types/scan.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/command/option_table.h"

namespace weir::server {

namespace {

Result<void, ErrorReplied> take_count(Call& call, Args values, ScanOptions* options) {
  const auto count = integer_argument(call, values[0]);
  if (!count) return count.error();
  if (*count < 1) return reply_error(call, kSyntaxError);
  options->count = static_cast<size_t>(*count);
  return {};
}

Result<void, ErrorReplied> take_pattern(Call& call, Args values, ScanOptions* options) {
  options->pattern = values[0];
  return check_pattern(call, values[0]);
}

constexpr OptionRow<ScanOptions> kOptions[] = {
    {.word = "TYPE", .values = 1, .take = take_word<&ScanOptions::type>},  // of SCAN only
    {.word = "MATCH", .values = 1, .take = take_pattern},
    {.word = "COUNT", .values = 1, .take = take_count}};

}  // namespace

bool ScanOptions::accepts(const Call& call, std::string_view key) const {
  return pattern == "*" || matches_pattern(call, pattern, key);
}

// A cursor is read as leniently as by strtoul, on which clients rely: a sign, no digits at all, and
// whatever follows a NUL are accepted.
Result<uint64_t, ErrorReplied> cursor_argument(Call& call, std::string_view text) {
  const std::string digits(text);
  const bool leading_space = !digits.empty() && is_space(digits[0]);
  errno = 0;
  char* end = nullptr;
  const uint64_t cursor = std::strtoull(digits.c_str(), &end, 10);
  if (leading_space || *end != '\0' || errno == ERANGE) {
    return reply_error(call, "ERR invalid cursor");
  }
  return cursor & kCursorMask;
}

Result<ScanOptions, ErrorReplied> scan_options(Call& call, size_t first, bool with_type) {
  ScanOptions options;
  const OptionTable<ScanOptions> table = kOptions;
  const auto read = read_options(call, first, with_type ? table : table.subspan(1), &options);
  if (!read) return read.error();
  return options;
}

// The first piece is a guess. The others are as long as half of the work that is left lets expect.
uint64_t scan_page(Call& call, uint64_t cursor, size_t count, const Bulks& page,
                   const std::function<uint64_t(uint64_t cursor, size_t count)>& scan) {
  constexpr size_t kFirstPiece = 10;
  constexpr uint64_t kUnits = WorkMeter::kSliceUnits / 2;
  const uint64_t begin = call.work().units();
  size_t visited = 0;
  size_t piece = std::min(count, kFirstPiece);
  while (true) {
    call.work().charge_entries(piece);
    cursor = scan(cursor, piece);
    visited += piece;
    const uint64_t used = call.work().units() - begin + page.bytes() / WorkMeter::kBytesPerUnit;
    if (cursor == 0 || visited >= count || used >= kUnits) return cursor;
    const size_t expected = (kUnits - used) * visited / (2 * used);
    piece = std::clamp<size_t>(expected, 1, count - visited);
  }
}

void reply_page(Call& call, uint64_t next_cursor, const Bulks& page) {
  call.reply.array(2);
  call.reply.bulk_integer(static_cast<int64_t>(next_cursor));
  page.reply(call);
}

void scan_collection(Call& call, storage::Type type,
                     const std::function<void(const storage::Element&, Bulks*)>& add) {
  const auto cursor = cursor_argument(call, call.args[2]);
  if (!cursor) return;
  const auto collection = read_collection(call, call.args[1], type);
  if (!collection) return;
  Bulks page(call.reply);
  if (!collection->exists()) return reply_page(call, 0, page);  // whatever the options are
  const auto options = scan_options(call, 3, false);
  if (!options) return;
  const auto visit = [&](const storage::Element& element) {
    if (options->accepts(call, element.member)) add(element, &page);
    return true;
  };
  uint64_t next = 0;
  if (collection->is_compact()) {
    collection->walk(visit);
  } else {
    next = scan_page(call, *cursor, options->count, page, [&](uint64_t from, size_t count) {
      return collection->elements().scan(from, count, visit);
    });
  }
  reply_page(call, next, page);
}

}  // namespace weir::server
