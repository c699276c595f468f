// A body of JSON becomes the words of a command, by the row of its endpoint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http/format/json.h"
#include "server/http/v1/endpoint.h"

namespace weir::server::http {

// The words, the command's name among them. `at` is where the body stands: "" or
// "requests[3].take". The fault names the member.
Result<std::vector<std::string>, Fault> words_of(const Endpoint& endpoint, const Json& body,
                                                 std::string_view at = {});

// What a member of that kind must be: "must be a string or an integer".
std::string form_of(const Member& member);

// "cost" within "requests[3].take"
std::string place_of(std::string_view at, std::string_view name);

}  // namespace weir::server::http
