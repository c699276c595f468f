// Splits a line of text into arguments: an inline request, or a line of a configuration file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::resp {

// Words are separated by white space. A quoted part may begin anywhere in a word but must end it:
//   "..."  any bytes; \n \r \t \b \a, \xHH, and \c for any other byte c itself
//   '...'  any bytes; only \' is an escape
// Returns false if a quote stays open or is followed by anything but white space.
// The arguments are views into *storage, which is overwritten and must outlive them unchanged;
// `line` is not needed any more.
[[nodiscard]] bool split_arguments(std::string_view line, std::string* storage,
                                   std::vector<std::string_view>* arguments);

// Writes an argument in double quotes with printable bytes only; split_arguments reads it back.
std::string quote_argument(std::string_view argument);

}  // namespace weir::resp
