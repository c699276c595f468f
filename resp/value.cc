// Invariants
// 1. Recursion is bounded by depth_max; attributes are skipped in a loop, not by recursion.
// 2. Nothing is reserved because of a declared length.
#include "resp/value.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "resp/numbers.h"

namespace weir::resp {
namespace {

using Type = Value::Type;

class Decoder {
 public:
  Decoder(std::string_view bytes, const DecodeLimits& limits) : bytes_(bytes), limits_(limits) {}

  size_t position() const { return position_; }

  DecodeStatus read(Value* value, int depth) {
    char type = 0;
    std::string_view line;
    for (;;) {
      if (const DecodeStatus status = read_line(&type, &line); status != DecodeStatus::kValue) {
        return status;
      }
      if (type != '|') break;
      Value attributes;
      const DecodeStatus status = read_aggregate(Type::kMap, line, &attributes, depth);
      if (status != DecodeStatus::kValue) return status;
    }
    *value = Value();
    switch (type) {
      case '$':
        return read_string(Type::kBulk, line, value);
      case '!':
        return read_string(Type::kError, line, value);
      case '=':
        return read_verbatim(line, value);
      case '*':
        return read_aggregate(Type::kArray, line, value, depth);
      case '~':
        return read_aggregate(Type::kSet, line, value, depth);
      case '>':
        return read_aggregate(Type::kPush, line, value, depth);
      case '%':
        return read_aggregate(Type::kMap, line, value, depth);
      default:
        return read_scalar(type, line, value);
    }
  }

 private:
  // A type byte and the rest of its line. CRLF is required.
  DecodeStatus read_line(char* type, std::string_view* line) {
    const std::string_view rest = bytes_.substr(position_);
    const size_t max = static_cast<size_t>(limits_.line_bytes_max);
    const size_t size = rest.substr(0, max + 1).find('\r');
    if (size == rest.npos) {
      return rest.size() > max ? DecodeStatus::kError : DecodeStatus::kNeedMore;
    }
    if (size == 0) return DecodeStatus::kError;
    if (size + 1 == rest.size()) return DecodeStatus::kNeedMore;
    if (rest[size + 1] != '\n') return DecodeStatus::kError;
    *type = rest[0];
    *line = rest.substr(1, size - 1);
    position_ += size + 2;
    return DecodeStatus::kValue;
  }

  DecodeStatus read_string(Type type, std::string_view line, Value* value) {
    const std::optional<int64_t> size = parse_int64(line);
    if (size == -1 && type == Type::kBulk) return DecodeStatus::kValue;  // RESP2's null
    if (!size || *size < 0 || *size > limits_.bulk_bytes_max) return DecodeStatus::kError;
    const std::string_view rest = bytes_.substr(position_);
    if (rest.size() < static_cast<uint64_t>(*size) + 2) return DecodeStatus::kNeedMore;
    const size_t bytes = static_cast<size_t>(*size);
    if (rest.substr(bytes, 2) != "\r\n") return DecodeStatus::kError;
    value->type = type;
    value->text = rest.substr(0, bytes);
    position_ += bytes + 2;
    return DecodeStatus::kValue;
  }

  DecodeStatus read_verbatim(std::string_view line, Value* value) {
    const DecodeStatus status = read_string(Type::kVerbatim, line, value);
    if (status != DecodeStatus::kValue) return status;
    if (value->text.size() < 4 || value->text[3] != ':') return DecodeStatus::kError;
    value->format = value->text.substr(0, 3);
    value->text.erase(0, 4);
    return DecodeStatus::kValue;
  }

  DecodeStatus read_aggregate(Type type, std::string_view line, Value* value, int depth) {
    const std::optional<int64_t> count = parse_int64(line);
    if (count == -1 && type == Type::kArray) return DecodeStatus::kValue;  // RESP2's null array
    const int64_t per_entry = type == Type::kMap ? 2 : 1;
    if (!count || *count < 0 || *count > limits_.elements_max / per_entry) {
      return DecodeStatus::kError;
    }
    if (depth >= limits_.depth_max) return DecodeStatus::kError;
    value->type = type;
    for (int64_t left = *count * per_entry; left > 0; --left) {
      Value element;
      const DecodeStatus status = read(&element, depth + 1);
      if (status != DecodeStatus::kValue) return status;
      value->elements.push_back(std::move(element));
    }
    return DecodeStatus::kValue;
  }

  static DecodeStatus read_scalar(char type, std::string_view line, Value* value) {
    switch (type) {
      case '+':
        value->type = Type::kStatus;
        break;
      case '-':
        value->type = Type::kError;
        break;
      case '(':
        value->type = Type::kBigNumber;
        break;
      case ':':
        return read_integer(line, value);
      case ',':
        return read_double(line, value);
      case '#':
        value->type = Type::kBoolean;
        value->integer = line == "t";
        return line == "t" || line == "f" ? DecodeStatus::kValue : DecodeStatus::kError;
      case '_':
        return line.empty() ? DecodeStatus::kValue : DecodeStatus::kError;
      default:
        return DecodeStatus::kError;
    }
    value->text = line;
    return DecodeStatus::kValue;
  }

  static DecodeStatus read_integer(std::string_view line, Value* value) {
    const std::optional<int64_t> number = parse_int64(line);
    value->type = Type::kInteger;
    value->integer = number.value_or(0);
    return number ? DecodeStatus::kValue : DecodeStatus::kError;
  }

  static DecodeStatus read_double(std::string_view line, Value* value) {
    std::optional<double> number = parse_double(line);
    if (line == "nan" || line == "-nan") number = std::numeric_limits<double>::quiet_NaN();
    value->type = Type::kDouble;
    value->text = line;
    value->real = number.value_or(0);
    return number ? DecodeStatus::kValue : DecodeStatus::kError;
  }

  std::string_view bytes_;
  const DecodeLimits& limits_;
  size_t position_ = 0;
};

bool same_real(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

bool operator==(const Value& a, const Value& b) {
  if (a.type != b.type) return false;
  if (a.type == Type::kDouble) return same_real(a.real, b.real);
  return a.integer == b.integer && a.text == b.text && a.format == b.format &&
         a.elements == b.elements;
}

DecodeStatus decode(std::string_view bytes, Value* value, size_t* consumed,
                    const DecodeLimits& limits) {
  Decoder decoder(bytes, limits);
  const DecodeStatus status = decoder.read(value, 0);
  *consumed = status == DecodeStatus::kValue ? decoder.position() : 0;
  return status;
}

}  // namespace weir::resp
