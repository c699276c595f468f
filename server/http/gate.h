// The gate: a proxy asks whether a request may pass, and reads the answer from the status.
//
//     GET /v1/gate?policy=api&key=user:42    from the query, and from the fields that it names
//     GET /v1/gate, GET /v1/gate/ANYTHING    from the fields X-Weir-Policy, X-Weir-Key ...; what
//                                            else stands in path and query is not read
//
// Names are those of gate_keys.h and of the gate's own:
//
//     NAME-header   the name of a field whose value NAME has: all such fields, with ", " between.
//                   After key it is added to key's value, and "" if there is no such field; any
//                   other NAME is then left out.
//     legacy, problem, partition, shadow, upto, force
//                   words without a value: alone or with yes; no is as if it were left out. Many
//                   proxies send no field without a value
//     deny          the status of a denial, 401 to 599; 429 if it is left out
//     errors        what an error is answered: open lets the request through, unless a value of
//                   the caller's may have made it; closed does not; neither tells what is wrong. If
//                   it is left out, the error's status and words
//
// So whoever sends the request to the proxy cannot add names to a query that the proxy has fixed,
// nor can the names in a query be changed by fields that the proxy passes on. Who could add one
// `cost=0` would have no limit. What is given up are defaults in a query that a field overrides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resp/value.h"
#include "server/http/format/message.h"
#include "server/http/gate_keys.h"

namespace weir::server::http {

inline constexpr std::string_view kGatePath = "/v1/gate";

bool is_gate(const Request& request);

// What is answered where there is no verdict.
enum class OnGateError : uint8_t { kTells, kOpens, kCloses };

// How verdicts and errors are told.
struct GateTerms {
  unsigned deny = 429;
  OnGateError on_error = OnGateError::kTells;
};

// Answers RL.TAKE or RL.MTAKE and its arguments, and sets `terms`, as far as they can be read, in
// any case. The error is a whole line, "ERR ...".
Result<std::vector<std::string>, std::string> parse_gate(const Request& request, GateTerms* terms);

// Splits a query at '&' and '=', and decodes %XX and '+', a blank; a '%' that nothing of that kind
// follows stays as it is. A name without '=' is a word alone.
Parameters parameters_of_query(std::string_view query);

// With PROBLEM a denial has the problem as its body, with the status of this answer. REQUIRES:
// `reply` is what RL.TAKE or RL.MTAKE answers with HEADERS in RESP3.
Answer gate_answer(const resp::Value& reply, const GateTerms& terms);
// An error is never answered with the status of a denial. Where `terms` let requests through or
// not, the answer has no word of the error; and one that a caller's value may have made lets nobody
// through.
Answer gate_error(std::string_view error, const GateTerms& terms);

}  // namespace weir::server::http
