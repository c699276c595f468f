// The options of a command as a table: one row for each word, in place of a loop and a chain of
// comparisons for each command.
//
// Words are read from the left. A word that no row has, that may not stand where it does, or that
// lacks its values is Redis' syntax error; any other error is the row's own, and what comes first
// is answered first. A word may be repeated unless its row forbids it.
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
  std::string_view word;          // in any case
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

template <typename Options>
using OptionTable = std::span<const OptionRow<Options>>;

// Reads all arguments from call.args[first] on into *options.
template <typename Options>
Result<void, ErrorReplied> read_options(Call& call, size_t first,
                                        std::type_identity_t<OptionTable<Options>> table,
                                        Options* options) {
  for (size_t at = first; at < call.args.size();) {
    const auto row = std::find_if(table.begin(), table.end(), [&](const OptionRow<Options>& known) {
      return at + known.values < call.args.size() &&
             equals_ignoring_case(call.args[at], known.word) &&
             (known.fits == nullptr || known.fits(call, *options));
    });
    if (row == table.end()) return reply_error(call, kSyntaxError);
    if (row->flag != nullptr) options->*row->flag = true;
    const Args values = call.args.subspan(at + 1, row->values);
    if (row->take != nullptr) {
      if (const auto taken = row->take(call, values, options); !taken) return taken;
    }
    at += 1 + row->values;
  }
  return {};
}

}  // namespace weir::server
