// The reply of a command becomes the answer's object, by the row of its endpoint.
#pragma once

#include "resp/value.h"
#include "server/http/format/json_value.h"
#include "server/http/v1/endpoint.h"

namespace weir::server::http {

// What a map has beside the fields of the row is told as it is. REQUIRES: no error, in RESP3.
Json answer_of(const Endpoint& endpoint, const resp::Value& reply);

}  // namespace weir::server::http
