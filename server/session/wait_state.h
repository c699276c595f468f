// Whether a session is blocked: one of its commands replies later (waiting/waiting.h), and the
// session runs nothing else meanwhile.
#pragma once

namespace weir::server {

class WaitState {
 public:
  // Tells whether the running command may wait. In a transaction or a script it may not.
  bool permitted() const { return permitted_; }
  void permit(bool permitted) { permitted_ = permitted; }

  bool waiting() const { return waiting_; }
  void begin() { waiting_ = true; }
  void end() { waiting_ = false; }

 private:
  bool permitted_ = false;
  bool waiting_ = false;
};

}  // namespace weir::server
