// Stops a child, as SIGSTOP does. When it returns, the child does nothing more: the signal alone
// may take a while to be heard.
#pragma once

#include <sys/wait.h>

#include <cerrno>
#include <csignal>

namespace weir {

inline void stop_process(pid_t child) {
  ::kill(child, SIGSTOP);
  while (::waitpid(child, nullptr, WUNTRACED) < 0 && errno == EINTR) {
  }
}

}  // namespace weir
