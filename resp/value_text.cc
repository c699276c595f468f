// Decoded replies as text for people, apart from the decoder, which never formats.
#include <cstdio>

#include "resp/numbers.h"
#include "resp/value.h"

namespace weir::resp {
namespace {

using Type = Value::Type;

std::string quoted(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      char hex[5];
      std::snprintf(hex, sizeof(hex), "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      text += hex;
    }
  }
  return text + '"';
}

std::string joined(const Value& value, std::string_view open, std::string_view close) {
  std::string text(open);
  for (size_t i = 0; i < value.elements.size(); ++i) {
    if (i > 0) text += value.type == Type::kMap && i % 2 == 1 ? ": " : ", ";
    text += to_string(value.elements[i]);
  }
  return text.append(close);
}

}  // namespace

std::string to_string(const Value& value) {
  switch (value.type) {
    case Type::kNull:
      return "(nil)";
    case Type::kStatus:
    case Type::kBigNumber:
      return value.text;
    case Type::kError:
      return "(error " + value.text + ")";
    case Type::kInteger:
      return std::to_string(value.integer);
    case Type::kBulk:
    case Type::kVerbatim:
      return quoted(value.text);
    case Type::kBoolean:
      return value.integer != 0 ? "true" : "false";
    case Type::kDouble:
      return format_double(value.real);
    case Type::kArray:
      return joined(value, "[", "]");
    case Type::kSet:
      return joined(value, "~[", "]");
    case Type::kPush:
      return joined(value, ">[", "]");
    case Type::kMap:
      return joined(value, "{", "}");
  }
  return {};
}

}  // namespace weir::resp
