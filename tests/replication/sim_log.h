// A member's backend for a simulated engine, as a backend for a real one is: it has its own timers,
// gives up what is not answered in time, and swallows what comes later.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/replication/shared_log.h"
#include "tests/replication/sim_network.h"

namespace weir::storage::replication {

class SimLog : public SharedLog {
 public:
  // Both outlive it.
  SimLog(SimNetwork* network, Link* link) : network_(network), link_(link) {}
  // What is on its way goes on without it.
  ~SimLog() override;

  void append(std::optional<Head> expected, std::string record,
              std::function<void(Appended)> answer) override;
  void read(Head after, size_t bytes_max, std::function<void(Read)> answer) override;
  void trim(uint64_t up_to) override { network_->trim(link_, up_to); }
  LogFacts facts() const override;
  void tick(int64_t boot_ns) override;
  int64_t next_deadline() const override;

 private:
  struct Waiting {
    int64_t give_up_at_ns = 0;
    bool is_open = true;
    std::weak_ptr<SimNetwork::Call> call;  // of an append, as long as it is on its way
    std::function<void(Appended)> appended;
    std::function<void(Read)> read;
  };

  std::shared_ptr<Waiting> wait();
  void forget_answered();

  SimNetwork* network_;
  Link* link_;
  int64_t boot_ns_ = 0;  // of the last tick
  std::vector<std::shared_ptr<Waiting>> waiting_;
};

}  // namespace weir::storage::replication
