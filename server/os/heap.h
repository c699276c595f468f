// The process' heap.
#pragma once

namespace weir::server {

// Lets the heap grow and shrink in large steps. Each step waits until no thread's page fault in the
// heap is under way, and the system may take tens of milliseconds for one: the loop has been seen
// to sleep for 43 ms in brk(). What is asked for ahead takes no memory until it is used. To be
// called before threads start; does nothing where the C library is not glibc.
void prepare_heap();

}  // namespace weir::server
