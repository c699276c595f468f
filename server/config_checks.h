// What a text option may hold, beyond being text. Each checks, and may rewrite, one value.
#pragma once

#include <optional>
#include <string>

#include "server/config_options.h"

namespace weir::server {

// A path: no NUL byte.
std::optional<Refusal> accept_path(std::string* value);
std::optional<Refusal> accept_path_not_empty(std::string* value);

// Classes of keyspace events, as notify-keyspace-events has them; put into Redis' order.
std::optional<Refusal> accept_event_classes(std::string* value);

}  // namespace weir::server
