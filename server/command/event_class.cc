#include "server/command/event_class.h"

namespace weir::server {
namespace {

struct Letter {
  char letter;
  EventClass event_class;
};

constexpr Letter kLetters[] = {
    {'K', EventClass::kKeyspace}, {'E', EventClass::kKeyevent}, {'g', EventClass::kGeneric},
    {'$', EventClass::kString},   {'l', EventClass::kList},     {'s', EventClass::kSet},
    {'h', EventClass::kHash},     {'z', EventClass::kZset},     {'x', EventClass::kExpired},
    {'e', EventClass::kEvicted},  {'t', EventClass::kStream},   {'m', EventClass::kMiss},
    {'d', EventClass::kModule},   {'n', EventClass::kNew},      {'r', EventClass::kLimiter},
};

constexpr std::string_view kAll = "g$lshzxetd";

}  // namespace

uint32_t event_classes(std::string_view letters) {
  uint32_t classes = 0;
  for (const char letter : letters) {
    if (letter == 'A') classes |= event_classes(kAll);
    for (const Letter& known : kLetters) {
      if (known.letter == letter) classes |= static_cast<uint32_t>(known.event_class);
    }
  }
  return classes;
}

}  // namespace weir::server
