// The items of RateLimit and RateLimit-Policy (server/limiter/policy/http_fields.h), of which a
// reply has those of all keys in one list, in the order of the keys and of their limits.
//
//     "api";q=100;w=60, "pool";q=5
//
// It reads what weir itself has written: a name holds no quotation mark and no escape, but it may
// hold what else stands between items, and between parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::server::grpc {

// Cuts as many items off the beginning of a list, or all that there are, and answers them, a list
// too.
std::string_view cut_items(size_t count, std::string_view* list);

// Answers a number among the parameters of the item at a place, from 0; -1: it has none. `name` is
// as it stands before the number, ";q=".
int64_t item_parameter(std::string_view list, size_t place, std::string_view name);

}  // namespace weir::server::grpc
