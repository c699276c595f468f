// The OpenAPI 3.1 document of /v1/, made of the rows that the bodies are read by. What each
// endpoint does is told in the words of its command's row.
#pragma once

#include <string>

#include "server/command/command_table.h"

namespace weir::server::http {

// The document, which is made once and stays.
const std::string& openapi_text(const CommandTable& commands);

}  // namespace weir::server::http
