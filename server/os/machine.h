// Questions to the operating system that concern neither sockets nor clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weir::server {

// Answers the most memory that this process has had, as the system counts it.
int64_t peak_resident_bytes();

// The memory of this process. What is not the heap's is the program's, its threads' stacks, and
// files that are mapped.
struct ProcessMemory {
  int64_t resident = 0;
  int64_t files = 0;           // of that: mapped files, the program's own before all
  int64_t heap_allocated = 0;  // what the C library has handed out
  int64_t heap_active = 0;     // what it holds for that
  int64_t heap_resident = 0;   // of that at most: it does not say what the system has taken back
};
ProcessMemory process_memory();

}  // namespace weir::server
