// Whether a session is blocked: a command of it replies later (waiting/waiting.h), and nothing else
// of it runs meanwhile.
#pragma once

namespace weir::server {

class WaitState {
 public:
  // Whether the running command may wait: in a transaction or a script it may not.
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
