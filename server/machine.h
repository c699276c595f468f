// What is asked of the operating system beside sockets and clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weir::server {

// The memory this process may have: the machine's, or its control group's if that is less.
int64_t machine_memory_bytes();
// Of this process, as the system counts it.
int64_t resident_bytes();
int64_t peak_resident_bytes();

// Deletes all but the newest `kept` of the directories whose names are numbers.
void remove_old_checkpoints(const std::string& directory, size_t kept);

}  // namespace weir::server
