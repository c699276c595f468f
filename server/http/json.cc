#include "server/http/json.h"

#include <algorithm>
#include <boost/json/src.hpp>  // here alone: the library without its .so

#include "algorithms/words.h"

namespace weir::server::http {
namespace {

namespace json = boost::json;
using resp::Value;

constexpr size_t kDepthMax = 4;

std::string_view view(json::string_view text) { return {text.data(), text.size()}; }

std::optional<std::string> plain_text(const json::value& value) {
  if (value.is_string()) return std::string(view(value.get_string()));
  if (value.is_int64()) return std::to_string(value.get_int64());
  if (value.is_uint64()) return std::to_string(value.get_uint64());
  return std::nullopt;
}

std::optional<std::string> joined(const json::array& values, char separator) {
  std::string text;
  for (const json::value& value : values) {
    const auto next = plain_text(value);
    if (!next) return std::nullopt;
    if (!text.empty()) text.push_back(separator);
    text += *next;
  }
  return text;
}

bool is_flag(std::string_view name) {
  return name == "allowed" || name == "shadow" || name == "banned";
}

json::value converted(const Value& value);

json::object object_of(const std::vector<Value>& elements) {
  json::object object;
  for (size_t i = 0; i + 1 < elements.size(); i += 2) {
    const std::string& name = elements[i].text;
    const Value& value = elements[i + 1];
    if (is_flag(name) && value.type == Value::Type::kInteger) {
      object[name] = value.integer != 0;
    } else {
      object[name] = converted(value);
    }
  }
  return object;
}

json::value converted(const Value& value) {
  using Type = Value::Type;
  switch (value.type) {
    case Type::kNull:
      return nullptr;
    case Type::kInteger:
      return value.integer;
    case Type::kBoolean:
      return value.integer != 0;
    case Type::kDouble:
      return value.real;
    case Type::kMap:
      return object_of(value.elements);
    case Type::kArray:
    case Type::kSet:
    case Type::kPush: {
      json::array array;
      for (const Value& element : value.elements) array.push_back(converted(element));
      return array;
    }
    default:
      return json::string(value.text);
  }
}

}  // namespace

Result<Parameters, std::string> parameters_of_json(std::string_view text) {
  json::error_code error;
  json::parse_options options;
  options.max_depth = kDepthMax;
  const json::value parsed = json::parse({text.data(), text.size()}, error, {}, options);
  if (error) return "ERR the body is no JSON: " + error.message();
  if (!parsed.is_object()) return std::string("ERR the body must be an object of JSON");
  Parameters parameters;
  for (const auto& member : parsed.get_object()) {
    const std::string name(view(member.key()));
    const json::value& value = member.value();
    if (value.is_null() || (value.is_bool() && !value.get_bool())) continue;
    if (value.is_bool()) {
      parameters.push_back({.name = name, .value = std::nullopt});
      continue;
    }
    const auto words = value.is_array() ? joined(value.get_array(), name == "limits" ? ' ' : ',')
                                        : plain_text(value);
    if (!words) {
      return "ERR " + algorithms::shown(name) +
             " must be a string, an integer, true, false, null, or an array of strings and "
             "integers";
    }
    parameters.push_back({.name = name, .value = *words});
  }
  return parameters;
}

std::string json_of(const Value& reply) { return json::serialize(converted(reply)) + "\n"; }

std::string json_of_error(std::string_view error) {
  return json::serialize(json::object{{"error", json::string(error.data(), error.size())}}) + "\n";
}

}  // namespace weir::server::http
