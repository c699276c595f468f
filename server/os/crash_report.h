// What a crash leaves in the log and on stderr: the signal and its address, what ran, the frames,
// and which build it was. Then the signal does what it does by itself, so that the system keeps a
// core.
//
//     critical crash: signal 11 (SIGSEGV), no such address: 0x0; weir 0.1.0, build 5d25...
//     critical crash: the command that ran is get
//     critical crash: frame 0: weir-server+0x1a2b3c
//     critical crash: frame 1: libc.so.6+0x3bfd0 (raise+0x10)
//
// The numbers are for addr2line, with the program's debug symbols (docs/operations.md#crashes).
//
// Invariants
// 1. After the signal nothing asks for memory, and nothing waits for a lock of weir's own, so that
//    a crash in malloc or in the log is told, too. What finds frames and modules is glibc's; it was
//    called once before.
// 2. The thread of the loop has another stack for this, so that a stack without room is told, too.
// 3. Names of commands are told and no arguments, which may be secrets.
// 4. A crash in here ends the process at once: the signals are blocked meanwhile.
#pragma once

#include <string>
#include <string_view>

namespace weir::server {

// From here on crashes are reported. To be called once, by the thread that will run the loop.
// Programs with sanitizers leave it to those.
void report_crashes();

// Answers what the thread of the loop runs, "" for nothing. It is called in a signal handler, and
// gets the pointer that was given with it.
using RunningName = std::string_view (*)(const void* of);
// Says who is asked. Null: nobody, and nothing is told of commands.
void ask_what_runs(RunningName name, const void* of);

// A crash also writes a line to this file, for who looks at what the last run has left; -1: none.
void keep_crash_line_in(int descriptor);

// Answers what the linker has called this program: 40 hexadecimal digits, by which debug symbols
// are found. "" if it has no name.
const std::string& build_id();

}  // namespace weir::server
