// The side of an import that reads: what a Redis has, and each key as a dump of one moment.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/offline/import_tally.h"
#include "server/os/clock.h"
#include "server/peer/redis_client.h"

namespace weir::server {

struct SourceKey {
  std::string name;
  int64_t bytes = 0;  // of the source's memory, about
};

struct SourceDump {
  const SourceKey* key = nullptr;
  std::string payload;  // that weir's RESTORE takes, if anything does
  int64_t ttl_ms = -1;  // -1: for ever
  int64_t read_ns = 0;  // when, by the steady clock
};

// The value of a line "name:value" of INFO; "" if there is none.
std::string info_line(const std::string& text, std::string_view name);

class ImportSource {
 public:
  // What is not taken is counted in the tally.
  ImportSource(RedisClient* client, Clock* clock, ImportTally* tally)
      : client_(*client), clock_(*clock), tally_(*tally) {}

  // Learns who the source is and what it has, of one database or (-1) of all. Where INFO is refused
  // the number of keys stays 0.
  Result<void, std::string> identify(int only);
  bool knows_databases() const { return knows_databases_; }
  const std::map<int, uint64_t>& databases() const { return databases_; }  // and their keys
  const std::string& run_id() const { return run_id_; }                    // "-": not known

  Result<void, std::string> select(int database);
  // Answers SCAN's two elements, which are checked.
  Result<resp::Value, std::string> scan(const std::string& cursor, const std::string& match);
  // Learns how large the keys are, and leaves out those that weir cannot hold.
  Result<void, std::string> weigh(std::vector<SourceKey>* keys);
  // Reads the keys. Those that have ended or cannot be restored are left out.
  Result<std::vector<SourceDump>, std::string> dump(std::span<const SourceKey> keys);

 private:
  Result<void, std::string> take_dump(const SourceKey& key, const resp::Value* replies,
                                      std::vector<SourceDump>* dumps);

  RedisClient& client_;
  Clock& clock_;
  ImportTally& tally_;
  std::string run_id_ = "-";
  std::map<int, uint64_t> databases_;
  bool knows_databases_ = false;
};

}  // namespace weir::server
