// Tells subscribers to +switch-master of each new primary, as a Redis Sentinel does.
#pragma once

#include <string>

namespace weir::server {

class Pubsub;

class PrimaryTeller {
 public:
  // `address` is the primary's, as the log has it; "": not known.
  void look(const std::string& shard, const std::string& address, Pubsub* pubsub);

 private:
  std::string told_;
};

}  // namespace weir::server
