// The bound of names: of the key of a record, and of the member of an element. A store keeps names
// in memory that it keeps of values on disk only (the first and the last of each file, several
// times), so they are shorter than values may be.
//
// Commands make no longer name. What a log or a state holds is taken whatever its length: it was
// made under another bound, and all who read a log must come to the same.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::storage {

// The error line for a name that is longer than `bytes_max`; `what` says what it names: "a key".
inline std::string long_name_error(std::string_view what, size_t bytes, size_t bytes_max) {
  return "ERR " + std::string(what) + " may have at most " + std::to_string(bytes_max) +
         " bytes (key-bytes-max), got one of " + std::to_string(bytes);
}

}  // namespace weir::storage
