// Whom a question to the gate is about: keys whose ends stand in fields that the caller may have
// sent, and several keys that are asked together, all or none.
//
//     key        the key, or its beginning; must be given
//     policy     POLICY with its value; it or limits must be given
//     limits     limits, with blanks between their words
//     NAME       any other is a word of RL.TAKE, NAME in upper case with its value: COST, ID,
//                SHADOW ... So a new one needs nothing here
//     key-header the field whose value is the rest of it
//     key-ipv6   how many bits are kept of an address of IPv6 in that field, 1 to 128: it is read
//     key-ipv4   and cut as client_address.h says; likewise, 1 to 32. One of both may be left out:
//                such addresses stay whole
//     key.2, key-header.2, policy.2 ... to .16    the same of a second key and all further ones,
//                each with limits of its own; the question is an RL.MTAKE then
//
// Of several keys no two may begin alike: where two came to the same key, whoever has chosen a
// value would have an error in the place of a verdict. Two begin alike if they are the same, or if
// one, with a value after it, can come to be the other: "ip:" with a field, and "ip:a".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/http/format/message.h"

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

// Puts the values of fields in the place of their names: `NAME-header` becomes NAME, which is left
// out if there is no such field and it is no key, and is added to key's value. REQUIRES: no name
// stands twice. The error is a whole line, "ERR ...".
Result<Parameters, std::string> with_values_of_fields(const Parameters& given, Fields fields);

// Answers RL.TAKE or RL.MTAKE and its arguments, HEADERS among them. REQUIRES: the parameters are
// those that with_values_of_fields() has answered, without the gate's own. The error likewise.
Result<std::vector<std::string>, std::string> words_of_keys(const Parameters& parameters);

}  // namespace weir::server::http
