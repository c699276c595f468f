// Decoded replies as text for people, apart from the decoder, which never formats.
#include <cstdio>

#include "resp/numbers.h"
#include "resp/value.h"

namespace weir::resp {
namespace {

std::string quoted_bytes(std::string_view bytes) {
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
    if (i > 0) text += value.type == Value::Type::kMap && i % 2 == 1 ? ": " : ", ";
    text += to_string(value.elements[i]);
  }
  return text.append(close);
}

}  // namespace

std::string to_string(const Value& value) {
  switch (value.type) {
    case Value::Type::kNull:
      return "(nil)";
    case Value::Type::kStatus:
    case Value::Type::kBigNumber:
      return value.text;
    case Value::Type::kError:
      return "(error " + value.text + ")";
    case Value::Type::kInteger:
      return std::to_string(value.integer);
    case Value::Type::kBulk:
    case Value::Type::kVerbatim:
      return quoted_bytes(value.text);
    case Value::Type::kBoolean:
      return value.integer != 0 ? "true" : "false";
    case Value::Type::kDouble:
      return format_double(value.real);
    case Value::Type::kArray:
      return joined(value, "[", "]");
    case Value::Type::kSet:
      return joined(value, "~[", "]");
    case Value::Type::kPush:
      return joined(value, ">[", "]");
    case Value::Type::kMap:
      return joined(value, "{", "}");
  }
  return {};
}

}  // namespace weir::resp
