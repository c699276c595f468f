// What somebody meant who wrote a word where RL.* commands take none of the kind: a word that
// belongs to another command, to another limit, or to another place.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::server {

// Answers what to add to a syntax error at `word`, "; RL.ACQUIRE waits, and takes TIMEOUT" for
// instance; empty if nothing is known of it. `after_options` tells that an option of the request
// came before.
std::string hint_about(std::string_view word, bool after_options);

// Answers what to add to an error of RL.MTAKE if one of its keys looks like the beginning of a
// limit, so that numkeys may be wrong: "; numkeys is 3, so 'GCRA' is key 2".
std::string hint_about_keys(std::span<const std::string_view> keys);

}  // namespace weir::server
