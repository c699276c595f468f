#include "server/http/json.h"

#include <algorithm>
#include <boost/json.hpp>

#include "algorithms/words.h"
#include "base/ascii.h"

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

// How text is written that is no UTF-8: as it is, or in hexadecimal digits.
enum class Bytes : uint8_t { kRaw, kHex };

constexpr std::string_view kHex = "hex";

// Tells whether all of it is UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = at + text.size();
  while (at != end) {
    if (*at < 0x80) {
      ++at;
      continue;
    }
    const int more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : 1;
    if (*at < 0xc2 || *at > 0xf4 || end - at <= more) return false;
    const unsigned char low = *at == 0xe0 ? 0xa0 : *at == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = *at == 0xed ? 0x9f : *at == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high) return false;
    for (int i = 2; i <= more; ++i) {
      if (at[i] < 0x80 || at[i] > 0xbf) return false;
    }
    at += more + 1;
  }
  return true;
}

json::value text_of(const std::string& text, Bytes bytes) {
  if (bytes == Bytes::kRaw || is_utf8(text)) return json::string(text);
  const auto* const data = reinterpret_cast<const uint8_t*>(text.data());
  return json::object{{json::string_view(kHex.data(), kHex.size()), hex_text({data, text.size()})}};
}

std::optional<std::string> bytes_of_hex(const json::object& object) {
  const json::value* digits = object.if_contains("hex");
  if (digits == nullptr || !digits->is_string() || object.size() != 1) return std::nullopt;
  const std::string_view text = view(digits->get_string());
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_value(text[i]);
    const int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

json::value converted(const Value& value, Bytes bytes = Bytes::kRaw);

json::object object_of(const std::vector<Value>& elements, Bytes bytes) {
  json::object object;
  for (size_t i = 0; i + 1 < elements.size(); i += 2) {
    const std::string& name = elements[i].text;
    const Value& value = elements[i + 1];
    if (is_flag(name) && value.type == Value::Type::kInteger) {
      object[name] = value.integer != 0;
    } else {
      object[name] = converted(value, bytes);
    }
  }
  return object;
}

json::value converted(const Value& value, Bytes bytes) {
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
      return object_of(value.elements, bytes);
    case Type::kArray:
    case Type::kSet:
    case Type::kPush: {
      json::array array;
      for (const Value& element : value.elements) array.push_back(converted(element, bytes));
      return array;
    }
    default:
      return text_of(value.text, bytes);
  }
}

// How many members the text gives its object, those that it gives twice counted twice: the library
// keeps the last of them. REQUIRES: it has read the text.
size_t members_in(std::string_view text) {
  size_t members = 0;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    members += c == ':' && depth == 1 ? 1 : 0;
  }
  return members;
}

}  // namespace

Result<Parameters, std::string> parameters_of_json(std::string_view text) {
  json::error_code error;
  json::parse_options options;
  options.max_depth = kDepthMax;
  const json::value parsed = json::parse({text.data(), text.size()}, error, {}, options);
  if (error) return "ERR the body is no JSON: " + error.message();
  if (!parsed.is_object()) return std::string("ERR the body must be an object of JSON");
  if (members_in(text) != parsed.get_object().size())
    return std::string("ERR the body gives a name twice");
  Parameters parameters;
  for (const auto& member : parsed.get_object()) {
    const std::string name(view(member.key()));
    const json::value& value = member.value();
    // Whatever else became a text would be one key for all who send it.
    if (equals_ignoring_case(name, "key") && !plain_text(value))
      return std::string("ERR key must be a string or an integer");
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

Result<std::vector<std::vector<std::string>>, std::string> commands_of_json(std::string_view text) {
  const std::string form =
      R"(ERR the body must be {"commands": [[word, ...], ...]}, words being strings, integers or )"
      R"({"hex": "..."})";
  json::error_code error;
  json::parse_options options;
  options.max_depth = kDepthMax;
  const json::value parsed = json::parse({text.data(), text.size()}, error, {}, options);
  if (error) return "ERR the body is no JSON: " + error.message();
  const json::value* list =
      parsed.is_object() ? parsed.get_object().if_contains("commands") : nullptr;
  if (list == nullptr || !list->is_array()) return form;
  std::vector<std::vector<std::string>> commands;
  for (const json::value& each : list->get_array()) {
    if (!each.is_array()) return form;
    std::vector<std::string>& words = commands.emplace_back();
    for (const json::value& word : each.get_array()) {
      auto read = word.is_object() ? bytes_of_hex(word.get_object()) : plain_text(word);
      if (!read) return form;
      words.push_back(std::move(*read));
    }
  }
  return commands;
}

std::string page_json_of(const Value& reply) {
  if (reply.is_error())
    return json::serialize(json::object{{"error", text_of(reply.text, Bytes::kHex)}});
  return json::serialize(converted(reply, Bytes::kHex));
}

std::string json_of(const Value& reply) { return json::serialize(converted(reply)) + "\n"; }

std::string json_of_error(std::string_view error) {
  return json::serialize(json::object{{"error", json::string(error.data(), error.size())}}) + "\n";
}

}  // namespace weir::server::http
