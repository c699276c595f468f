// The page of metrics-port, which shows people what the server does: its parts, which are compiled
// in, and POST /v1/page, by which it asks.
//
//     {"commands": [["RL.TOP", "DENIED", "MINUTE"], ["RL.INFO", "user:42"]]}
//     {"replies": [[["user:42", 7, 0]], {"error": "NOPERM ..."}]}
//
// Words and replies that are no UTF-8 are {"hex": "..."}, in both directions. Rights are those of
// the user whom Authorization names, or else of the user `default`, if that one has no password.
// ["MAY", "RL.POLICY", "SET", "api", "5/1m"] runs nothing: 1 says that this user has the right to
// run it, 0 that not.
//
// Invariants
// 1. The commands are those of a list: what looks, what changes policies, and CONFIG SET limiting.
//    What changes something asks for Authorization in any case, so a page of somebody else's cannot
//    change anything: a browser sends that field for no page but the one that has made it.
// 2. A browser asks for the page that weir has served: Host is a name that weir is known by, which
//    stops names that are made to lead here (DNS rebinding), and Origin, if there is one, is Host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http/format/message.h"
#include "server/http/page_parts.h"

namespace weir::server::http {

inline constexpr std::string_view kPagePath = "/v1/page";
inline constexpr size_t kPageCommandsMax = 64;

// The part at a path, "/" or "/page/NAME"; null if there is none.
const PagePart* find_page_part(std::string_view path);
// `hosts` are the names, beside addresses and localhost, that weir is known by.
Answer page_answer(const PagePart& part, std::string_view host,
                   const std::vector<std::string>& hosts);

// Answers why the question is not that of weir's own page, a whole line "DENIED ..."; empty if it
// may be.
std::string fault_of_page_request(const Request& request, const std::vector<std::string>& hosts);

using Words = std::vector<std::string>;
inline constexpr std::string_view kMay = "MAY";
// Reads the body. The error is a whole line, "ERR ..." or "NOAUTH ...".
Result<std::vector<Words>, std::string> page_commands(std::string_view body, bool logged_in);

}  // namespace weir::server::http
