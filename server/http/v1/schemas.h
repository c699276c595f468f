// Schemas of JSON (draft 2020-12, as OpenAPI 3.1 has them) of what rows say: of members, bodies,
// and answers.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/format/json_value.h"
#include "server/http/v1/endpoint.h"

namespace weir::server::http {

// For documents: {"type": "string", "minLength": 1}.
using JsonMembers = std::initializer_list<std::pair<std::string_view, Json>>;
Json made_object(JsonMembers members);
// {"$ref": "#/components/schemas/NAME"}
Json reference(std::string_view kind, std::string_view name);

// What the body of an endpoint may be: exactly what body_words.h reads, but for what the command
// itself refuses.
Json body_schema(const Endpoint& endpoint);
// An object of answers.
Json shape_schema(const Shape& shape);
// Adds the shape and all that are within it, by name.
void collect_shapes(const Shape& shape, std::map<std::string_view, const Shape*>* shapes);

// Names that others are made of: "Bytes" and its schema.
Json bytes_schema();

}  // namespace weir::server::http
