// The options of a command as a table: one row for each word, in place of a loop and a chain of
// comparisons for each command.
//
// Words are read from the left. A word that no row has, that may not stand where it does, or that
// lacks its values is Redis' syntax error; any other error is the row's own, and what comes first
// is answered first. A word may be repeated unless its row forbids it.
//
// So an option is a row, and in every command the first error from the left is the one that is
// answered. What is given up are walks over words that no table knows how to take. Four kinds are
// read by hand:
//   - The words after a limit (limiter/policy/request.h). They have rows of their own, because they
//     are parsed without a Call, once for all requests that are written alike, and an error names
//     every word that might have come.
//   - One word that has one place, such as FLUSHALL ASYNC or LMPOP ... COUNT n: it is compared
//     where it stands, because too many words are often another error there.
//   - What looks at a request that does not run: where SORT's keys are, what monitors may not see
//     of HELLO (redaction.h). It passes by wrong words, and has no reply for an error.
//   - Rules and names, of which any number may come: ACL SETUSER, CONFIG GET, INFO.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/command/command.h"
#include "server/command/error_replied.h"

namespace weir::server {

template <typename Options>
struct OptionRow {
  std::string_view word;          // in upper case; it is accepted in any
  size_t values = 0;              // the words that follow it
  bool Options::*flag = nullptr;  // becomes true; null: `take` does everything
  // Takes the values.
  Result<void, ErrorReplied> (*take)(Call& call, Args values, Options* options) = nullptr;
  // Whether the word may stand after what was read before it; null: always.
  bool (*fits)(const Call& call, const Options& options) = nullptr;
};

// For rows whose one value is kept as it is.
template <auto kMember, typename Options>
Result<void, ErrorReplied> take_word(Call&, Args values, Options* options) {
  options->*kMember = values[0];
  return {};
}

// For the rows of EX, PX, EXAT and PXAT.
template <auto kMember, bool kInSeconds, bool kAbsolute, typename Options>
Result<void, ErrorReplied> take_expire(Call&, Args values, Options* options) {
  options->*kMember =
      ExpireArgument{.text = values[0], .in_seconds = kInSeconds, .absolute = kAbsolute};
  return {};
}

// For rows whose word may stand only where a member is not set, by another word or by itself.
template <auto kMember, typename Options>
bool without(const Call&, const Options& options) {
  return !(options.*kMember);
}

template <typename Options>
using OptionTable = std::span<const OptionRow<Options>>;

// Reads words into *options up to the first that no row takes; answers that word and all after it.
template <typename Options>
Result<Args, ErrorReplied> read_leading_options(Call& call, Args words,
                                                std::type_identity_t<OptionTable<Options>> table,
                                                Options* options) {
  while (!words.empty()) {
    // Most rows are passed over by one letter.
    const char first = words[0].empty() ? '\0' : to_upper(words[0][0]);
    const auto row = std::find_if(table.begin(), table.end(), [&](const OptionRow<Options>& known) {
      return known.word[0] == first && equals_ignoring_case(words[0], known.word) &&
             known.values < words.size() && (known.fits == nullptr || known.fits(call, *options));
    });
    if (row == table.end()) break;
    if (row->flag != nullptr) options->*row->flag = true;
    if (row->take != nullptr) {
      const auto taken = row->take(call, words.subspan(1, row->values), options);
      if (!taken) return taken.error();
    }
    words = words.subspan(1 + row->values);
  }
  return words;
}

// Reads all arguments from call.args[first] on into *options.
template <typename Options>
Result<void, ErrorReplied> read_options(Call& call, size_t first,
                                        std::type_identity_t<OptionTable<Options>> table,
                                        Options* options) {
  if (call.args.size() <= first) return {};
  const auto rest = read_leading_options(call, call.args.subspan(first), table, options);
  if (!rest) return rest.error();
  if (!rest->empty()) return reply_error(call, kSyntaxError);
  return {};
}

}  // namespace weir::server
