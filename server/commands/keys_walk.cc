// Walks over a database: KEYS, SCAN, RANDOMKEY.
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>

#include "resp/glob.h"
#include "resp/numbers.h"
#include "server/arguments.h"
#include "server/commands/families.h"
#include "server/lookups.h"
#include "server/server.h"

namespace weir::server {
namespace {

constexpr size_t kStep = 1000;
constexpr uint64_t kCursorMask = (uint64_t{1} << 53) - 1;

// Bulk strings whose number is known only when they have all been written.
class Bulks {
 public:
  void add(std::string_view bytes) {
    writer_.bulk(bytes);
    ++count_;
  }
  void reply(Call& call) const {
    call.reply.array(count_);
    call.reply.buffer()->append(bytes_);
  }

 private:
  std::string bytes_;
  resp::ReplyWriter writer_{&bytes_};
  int64_t count_ = 0;
};

struct Filter {
  std::string_view pattern = "*";
  std::optional<std::string_view> type = {};

  bool accepts(const storage::Seen& seen) const {
    if (type && !resp::equals_ignoring_case(*type, type_name(seen.type))) return false;
    return pattern == "*" || resp::glob_match(pattern, seen.key);
  }
};

void keys(Call& call) {
  const Filter filter{.pattern = call.args[1]};
  Bulks found;
  uint64_t cursor = 0;
  do {
    cursor = call.keys.scan(call.database(), cursor, kStep, [&](const storage::Seen& seen) {
      if (filter.accepts(seen)) found.add(seen.key);
    });
  } while (cursor != 0);
  found.reply(call);
}

// As lenient as strtoul, which clients have come to rely on: a sign, no digits at all, and what
// follows a NUL pass.
std::optional<uint64_t> parse_cursor(std::string_view text) {
  const std::string digits(text);
  if (!digits.empty() && std::isspace(static_cast<unsigned char>(digits[0]))) return std::nullopt;
  errno = 0;
  char* end = nullptr;
  const uint64_t cursor = std::strtoull(digits.c_str(), &end, 10);
  if (*end != '\0' || errno == ERANGE) return std::nullopt;
  return cursor & kCursorMask;
}

struct ScanOptions {
  Filter filter;
  size_t count = 10;
};

// Answers nothing after replying the error.
std::optional<ScanOptions> scan_options(Call& call) {
  ScanOptions options;
  const auto is = [&](size_t at, std::string_view word) {
    return at + 1 < call.args.size() && resp::equals_ignoring_case(call.args[at], word);
  };
  for (size_t at = 2; at < call.args.size(); at += 2) {
    if (is(at, "MATCH")) {
      options.filter.pattern = call.args[at + 1];
    } else if (is(at, "TYPE")) {
      options.filter.type = call.args[at + 1];
    } else if (is(at, "COUNT")) {
      const auto count = integer_argument(call, call.args[at + 1]);
      if (!count) return std::nullopt;
      if (*count < 1) {
        call.reply.error(kSyntaxError);
        return std::nullopt;
      }
      options.count = static_cast<size_t>(*count);
    } else {
      call.reply.error(kSyntaxError);
      return std::nullopt;
    }
  }
  return options;
}

void scan(Call& call) {
  const auto cursor = parse_cursor(call.args[1]);
  if (!cursor) return call.reply.error("ERR invalid cursor");
  const auto options = scan_options(call);
  if (!options) return;
  Bulks found;
  const uint64_t next =
      call.keys.scan(call.database(), *cursor, options->count, [&](const storage::Seen& seen) {
        if (options->filter.accepts(seen)) found.add(seen.key);
      });
  call.reply.array(2);
  call.reply.bulk_integer(static_cast<int64_t>(next));
  found.reply(call);
}

// The first key from a random place on. A key after a wide gap is likelier than its neighbours.
void randomkey(Call& call) {
  const uint64_t start = call.server.random() & kCursorMask;
  std::string found;
  bool any = false;
  const auto look_from = [&](uint64_t cursor) {
    return call.keys.scan(call.database(), cursor, 1, [&](const storage::Seen& seen) {
      if (!any) found = seen.key;
      any = true;
    });
  };
  uint64_t cursor = start;
  do {
    cursor = look_from(cursor);
  } while (!any && cursor != 0);
  if (!any) {
    do {
      cursor = look_from(cursor);
    } while (!any && cursor != 0 && cursor < start);
  }
  any ? call.reply.bulk(found) : call.reply.null();
}

constexpr Command kCommands[] = {
    {.name = "keys",
     .arity = 2,
     .flags = kReads | kDangerous,
     .group = "generic",
     .usage = "pattern",
     .summary = "Answers all keys of the database that match a pattern; holds up everybody.",
     .since = "1.0.0",
     .run = keys},
    {.name = "scan",
     .arity = -2,
     .flags = kReads,
     .group = "generic",
     .usage = "cursor [MATCH pattern] [COUNT count] [TYPE type]",
     .summary = "Answers some keys of the database and the cursor to go on from, 0 at the end.",
     .since = "2.8.0",
     .run = scan},
    {.name = "randomkey",
     .arity = 1,
     .flags = kReads,
     .group = "generic",
     .summary = "Answers one key of the database.",
     .since = "1.0.0",
     .run = randomkey},
};

}  // namespace

Commands keys_walk_commands() { return kCommands; }

}  // namespace weir::server
