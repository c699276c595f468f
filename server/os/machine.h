// Questions to the operating system that concern neither sockets nor clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weir::server {

// Answers the memory that this process may have: the machine's, or its control group's if that is
// less.
int64_t machine_memory_bytes();
// Answers how much memory this process has, as the system counts it.
int64_t resident_bytes();
int64_t peak_resident_bytes();

}  // namespace weir::server
