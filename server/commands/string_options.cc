#include "server/commands/string_options.h"

#include "server/command/option_table.h"

namespace weir::server {
namespace {

using Row = OptionRow<StringOptions>;

// The same word twice is accepted, and the last one counts; words that contradict are refused.
template <bool kInSeconds, bool kAbsolute>
constexpr Row expire_row(std::string_view word) {
  return {.word = word,
          .values = 1,
          .take = take_expire<&StringOptions::expire, kInSeconds, kAbsolute>,
          .fits = [](const Call&, const StringOptions& options) {
            const auto& expire = options.expire;
            return !options.keep_expiry && !options.persist &&
                   (!expire || (expire->in_seconds == kInSeconds && expire->absolute == kAbsolute));
          }};
}

constexpr Row kEx = expire_row<true, false>("EX");
constexpr Row kPx = expire_row<false, false>("PX");
constexpr Row kExat = expire_row<true, true>("EXAT");
constexpr Row kPxat = expire_row<false, true>("PXAT");

constexpr Row kSetOptions[] = {{.word = "NX",
                                .flag = &StringOptions::only_if_absent,
                                .fits = without<&StringOptions::only_if_present>},
                               {.word = "XX",
                                .flag = &StringOptions::only_if_present,
                                .fits = without<&StringOptions::only_if_absent>},
                               {.word = "GET", .flag = &StringOptions::answer_old},
                               {.word = "KEEPTTL",
                                .flag = &StringOptions::keep_expiry,
                                .fits = without<&StringOptions::expire>},
                               kEx,
                               kPx,
                               kExat,
                               kPxat};

constexpr Row kGetexOptions[] = {
    {.word = "PERSIST", .flag = &StringOptions::persist, .fits = without<&StringOptions::expire>},
    kEx,
    kPx,
    kExat,
    kPxat};

Result<StringOptions, ErrorReplied> read(Call& call, size_t first,
                                         OptionTable<StringOptions> table) {
  StringOptions options;
  if (const auto done = read_options(call, first, table, &options); !done) return done.error();
  return options;
}

}  // namespace

Result<StringOptions, ErrorReplied> set_options(Call& call, size_t first) {
  return read(call, first, kSetOptions);
}

Result<StringOptions, ErrorReplied> getex_options(Call& call, size_t first) {
  return read(call, first, kGetexOptions);
}

}  // namespace weir::server
