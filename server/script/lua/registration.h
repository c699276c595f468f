// A function that a library of functions has registered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace weir::server::script {

struct Registration {
  std::string name;
  std::optional<std::string> description;
  uint32_t flags = 0;  // shebang.h
  int reference = -1;
};

}  // namespace weir::server::script
