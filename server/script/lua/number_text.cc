#include "server/script/lua/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/ascii.h"
#include "resp/numbers.h"

namespace weir::server::script {
namespace {

// Powers of ten that a double has exactly. The quotient of two exact doubles is rounded once, so it
// is the nearest to the text (W. D. Clinger, How to read floating point numbers accurately, 1990).
constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr uint64_t kExactIntegersMax = uint64_t{1} << 53;
constexpr int kDigitsMax = 19;  // that fit into 64 bits, whatever they are
constexpr int kDigitsOfLua = 14;

// A plain decimal: a sign or none, digits with a point or none among them, and then the end.
struct Decimal {
  const char* end = nullptr;  // of the text; null: it is no plain decimal
  uint64_t digits = 0;
  int decimals = 0;
};

Decimal plain_decimal(const char* at) {
  Decimal decimal;
  int count = 0;
  const char* point = nullptr;
  for (;; ++at) {
    if (is_digit(*at)) {
      if (++count > kDigitsMax) return {};
      decimal.digits = decimal.digits * 10 + static_cast<uint64_t>(*at - '0');
    } else if (*at == '.' && point == nullptr) {
      point = at;
    } else {
      break;
    }
  }
  if (*at != '\0' || count == 0) return {};
  if (point != nullptr) decimal.decimals = static_cast<int>(at - point) - 1;
  decimal.end = at;
  return decimal;
}

size_t write_integer(char* out, int64_t number) { return resp::format_int64(number, out); }

// Writes the nearest integer as %.0f does; 0: not here.
size_t write_rounded(char* out, double number) {
  if (!(std::fabs(number) < static_cast<double>(kExactIntegersMax))) return 0;
  const double rounded = std::nearbyint(number);
  if (rounded == 0 && std::signbit(number)) return 0;
  return write_integer(out, static_cast<int64_t>(rounded));
}

// The formats that scripts use most, of one argument each; 0: not here.
size_t write_common(char* out, std::string_view format, va_list arguments) {
  if (format == "%.14g") return write_number_text(va_arg(arguments, double), kDigitsOfLua, out);
  if (format == "%.0f") return write_rounded(out, va_arg(arguments, double));
  if (format == "%ld") return write_integer(out, va_arg(arguments, long));
  return 0;
}

}  // namespace

size_t write_number_text(double number, int digits, char out[kNumberTextBytes]) {
  if (std::fabs(number) < kPowersOfTen[digits]) {  // below, %g writes no exponent
    const auto integer = static_cast<int64_t>(number);
    if (static_cast<double>(integer) == number && (integer != 0 || !std::signbit(number)))
      return write_integer(out, integer);
  }
  const auto end =
      std::to_chars(out, out + kNumberTextBytes, number, std::chars_format::general, digits);
  return static_cast<size_t>(end.ptr - out);
}

}  // namespace weir::server::script

// The linker's names. NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

double __real_strtod(const char* text, char** end);
int __vsprintf_chk(char* out, int flag, size_t size, const char* format, va_list arguments);

double __wrap_strtod(const char* text, char** end) {
  using namespace weir::server::script;
  const bool negative = *text == '-';
  const Decimal decimal = plain_decimal(text + (negative ? 1 : 0));
  if (decimal.end == nullptr) return __real_strtod(text, end);
  double number = 0;
  if (decimal.digits <= kExactIntegersMax) {
    number = static_cast<double>(decimal.digits) / kPowersOfTen[decimal.decimals];
    if (negative) number = -number;
  } else {
    std::from_chars(text, decimal.end, number, std::chars_format::fixed);
  }
  if (end != nullptr) *end = const_cast<char*>(decimal.end);
  return number;
}

int __wrap___sprintf_chk(char* out, int flag, size_t size, const char* format, ...) {
  using namespace weir::server::script;
  va_list arguments;
  va_start(arguments, format);
  char text[kNumberTextBytes];
  int written = static_cast<int>(write_common(text, format, arguments));
  va_end(arguments);
  if (written != 0 && static_cast<size_t>(written) < size) {
    std::memcpy(out, text, static_cast<size_t>(written));
    out[written] = '\0';
    return written;
  }
  va_start(arguments, format);
  written = __vsprintf_chk(out, flag, size, format, arguments);
  va_end(arguments);
  return written;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
