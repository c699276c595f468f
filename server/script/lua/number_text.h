// Numbers as text and back, as scripts see them: to the byte what printf() and strtod() say.
//
// Lua's own code converts numbers wherever a text stands in arithmetic or a number in a text, which
// is a fifth of the time of a limiter's script. So Lua is linked as an archive, and its calls of
// strtod() and sprintf() come here (the linker's --wrap, CMakeLists.txt). What is not among the
// common forms goes to the C library. What is given up: a new liblua5.1 of the system is taken by
// another build, not by another start.
//
// Invariant: no answer depends on which of the two ways a text or a number goes.
#pragma once

#include <cstddef>

namespace weir::server::script {

inline constexpr size_t kNumberTextBytes = 32;

// Writes a number as printf's %.<digits>g does, of 17 digits at most; answers how many bytes,
// without a terminator.
size_t write_number_text(double number, int digits, char out[kNumberTextBytes]);

}  // namespace weir::server::script
