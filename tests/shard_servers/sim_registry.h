// A simulated member registry beside the simulated log.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/replication/agenda.h"
#include "tests/replication/sim_log.h"
#include "tests/simulation/random.h"

namespace weir::server {

// What the members tell one another: as an engine's registry is, late, and now and then lost.
class SimRegistry {
 public:
  SimRegistry(const storage::replication::Agenda* agenda, simulation::Random* random)
      : agenda_(*agenda), random_(*random) {}

  void put(std::string name, std::string bytes);
  std::vector<storage::replication::RegistryEntry> snapshot() const;

 private:
  struct Put {
    std::string bytes;
    int64_t at_ns = 0;
  };
  const storage::replication::Agenda& agenda_;
  simulation::Random& random_;
  std::map<std::string, std::deque<Put>> puts_;  // of each name the newest two
};

// A member's backend: the simulated log with the simulated registry.
class SimLogWithRegistry final : public storage::replication::SimLog,
                                 public storage::replication::MemberRegistry {
 public:
  SimLogWithRegistry(storage::replication::SimNetwork* network, storage::replication::Link* link,
                     SimRegistry* registry)
      : SimLog(network, link), registry_(*registry) {}
  void put(std::string name, std::string bytes) override {
    registry_.put(std::move(name), std::move(bytes));
  }
  std::vector<storage::replication::RegistryEntry> snapshot() const override {
    return registry_.snapshot();
  }

 private:
  SimRegistry& registry_;
};

}  // namespace weir::server
