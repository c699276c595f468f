#include "server/types/scan.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/ascii.h"
#include "resp/glob.h"
#include "server/command/arguments.h"
#include "server/command/option_table.h"

namespace weir::server {

namespace {

bool take_count(Call& call, Args values, ScanOptions* options) {
  const auto count = integer_argument(call, values[0]);
  if (!count) return false;
  if (*count < 1) {
    call.reply.error(kSyntaxError);
    return false;
  }
  options->count = static_cast<size_t>(*count);
  return true;
}

constexpr OptionRow<ScanOptions> kOptions[] = {
    {.word = "TYPE", .values = 1, .take = take_word<&ScanOptions::type>},  // of SCAN only
    {.word = "MATCH", .values = 1, .take = take_word<&ScanOptions::pattern>},
    {.word = "COUNT", .values = 1, .take = take_count}};

}  // namespace

bool ScanOptions::accepts(std::string_view key) const {
  return pattern == "*" || resp::glob_match(pattern, key);
}

// A cursor is read as leniently as by strtoul, on which clients rely: a sign, no digits at all, and
// whatever follows a NUL are accepted.
std::optional<uint64_t> cursor_argument(Call& call, std::string_view text) {
  const std::string digits(text);
  const bool leading_space = !digits.empty() && is_space(digits[0]);
  errno = 0;
  char* end = nullptr;
  const uint64_t cursor = std::strtoull(digits.c_str(), &end, 10);
  if (leading_space || *end != '\0' || errno == ERANGE) {
    call.reply.error("ERR invalid cursor");
    return std::nullopt;
  }
  return cursor & kCursorMask;
}

std::optional<ScanOptions> scan_options(Call& call, size_t first, bool with_type) {
  ScanOptions options;
  const OptionTable<ScanOptions> table = kOptions;
  if (!read_options(call, first, with_type ? table : table.subspan(1), &options))
    return std::nullopt;
  return options;
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
    if (options->accepts(element.member)) add(element, &page);
    return true;
  };
  uint64_t next = 0;
  if (collection->is_compact()) {
    collection->walk(visit);
  } else {
    call.work().charge_entries(std::min(options->count, collection->size()));
    next = collection->elements().scan(*cursor, options->count, visit);
  }
  reply_page(call, next, page);
}

}  // namespace weir::server
