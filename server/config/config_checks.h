// What a text option may hold beyond being text. Each function checks one value and may rewrite it.
#pragma once

#include <string>

#include "server/config/config_options.h"

namespace weir::server {

// Accepts a path: no NUL byte.
Result<void, Refusal> accept_path(std::string* value);
Result<void, Refusal> accept_path_not_empty(std::string* value);

// Accepts classes of keyspace events, as notify-keyspace-events has them, and puts them into Redis'
// order.
Result<void, Refusal> accept_event_classes(std::string* value);

}  // namespace weir::server
