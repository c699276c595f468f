// RL.TAKE over HTTP: names with values, as a query, fields or JSON have them, become the words of
// the command. Only the names below are known here; any other is a word of RL.TAKE with its value,
// so a new one needs nothing.
//
//     key      the key; must be given
//     policy   POLICY with its value
//     limits   limits, with blanks between their words
//     NAME     NAME in upper case and its value: COST, ID, SHADOW ...
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace weir::server::http {

struct Parameter {
  std::string name;                  // in any case
  std::optional<std::string> value;  // nothing: the name alone is the word
};
using Parameters = std::vector<Parameter>;
inline constexpr size_t kParametersMax = 64;

// Says what is wrong with the names alone: too many, or one that is given twice. REQUIRES of all
// that works with names that a client chose: this was asked before.
std::optional<std::string> fault_of_names(const Parameters& parameters);

// Answers RL.TAKE with its arguments, HEADERS among them. The error is a whole line, "ERR ...".
Result<std::vector<std::string>, std::string> take_words(const Parameters& parameters);

}  // namespace weir::server::http
