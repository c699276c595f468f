// Ends a step that another thread waits in, by the socket that it waits for.
#pragma once

#include <mutex>

namespace weir::server {

// Ends the steps of a request that another thread makes. All its functions may be called at any
// time by either.
class CutOff {
 public:
  // The thread that asks uses a socket, until it says that it does no longer. False: it was cut.
  bool hold(int descriptor);
  void let_go();
  // What is held now, and all that would be held, ends with an error.
  void cut();
  // The next request may go on.
  void mend();

 private:
  std::mutex mutex_;
  int descriptor_ = -1;
  bool is_cut_ = false;
};

}  // namespace weir::server
