// The sessions that wait: each is served as a command of its own.
#pragma once

#include "server/core/run/executor_needs.h"
#include "server/core/run/running_command.h"

namespace weir::server {

class Cluster;

class WaitingSessions {
 public:
  WaitingSessions(const ExecutorNeeds& needs, RunningCommand* running, Cluster* cluster)
      : needs_(needs), running_(*running), cluster_(*cluster) {}

  // Serves those that may be served now. REQUIRES: no command runs.
  void serve();

 private:
  bool act(Waiter& waiter, Act act);
  void act_once(Call& call, Waiter* waiter, Act act, bool* done);

  const ExecutorNeeds needs_;
  RunningCommand& running_;
  Cluster& cluster_;
};

}  // namespace weir::server
