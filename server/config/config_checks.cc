#include "server/config/config_checks.h"

#include <string_view>

#include "server/config/config_words.h"

namespace weir::server {
namespace {

constexpr std::string_view kKeyClasses = "g$lshzxetd";  // what A stands for
constexpr std::string_view kOtherClasses = "nKEmr";

bool contains(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

}  // namespace

Result<void, Refusal> accept_path(std::string* value) {
  if (!contains(*value, '\0')) return {};
  return Refusal{.redis = "argument must be a path",
                 .plain = "must be a path without NUL bytes, got " + printable(*value)};
}

Result<void, Refusal> accept_path_not_empty(std::string* value) {
  if (!value->empty()) return accept_path(value);
  return Refusal{.redis = "argument must be a path", .plain = "must be a path, got ''"};
}

Result<void, Refusal> accept_event_classes(std::string* value) {
  bool all = true;
  for (char c : kKeyClasses) all = all && contains(*value, c);
  all = all || contains(*value, 'A');
  for (char c : *value) {
    if (c == 'A' || contains(kKeyClasses, c) || contains(kOtherClasses, c)) continue;
    return Refusal{
        .redis = "Invalid event class character. Use 'Ag$lshzxeKEtmdnr'.",
        .plain = "must be made of the characters Ag$lshzxeKEtmdnr, got " + printable(*value)};
  }
  std::string ordered = all ? "A" : "";
  for (char c : kKeyClasses) {
    if (!all && contains(*value, c)) ordered += c;
  }
  for (char c : kOtherClasses) {
    if (contains(*value, c)) ordered += c;
  }
  *value = std::move(ordered);
  return {};
}

}  // namespace weir::server
