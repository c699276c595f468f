// What is done beside appends and reads: the member registry, trimming, and looking what has become
// of the stream.
//
// Invariants
// 1. A purge is asked for up to a sequence that the stream was just told to reach: beyond its end
//    the server would remove all and jump ahead.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/replication/shared_log.h"
#include "storage/shared_logs/nats/answers.h"
#include "storage/shared_logs/nats/calls.h"
#include "storage/shared_logs/nats/names.h"

namespace weir::storage::nats {

class Maintenance {
 public:
  Maintenance(const Names& names, Calls* calls) : names_(names), calls_(*calls) {}

  void put(std::string name, std::string facts) { unwritten_[std::move(name)] = std::move(facts); }
  bool has_written() const { return unwritten_.empty() && !is_putting_; }
  // The registry is read at the next step.
  void read_soon() { look_at_ns_ = 0; }
  // As it was last read; ages are of `now_ns`.
  std::vector<replication::RegistryEntry> registry(int64_t now_ns) const;
  void trim(uint64_t up_to);

  // A new connection, whose session has told this.
  void begin(const StreamInfo& info);
  // Asks what is due. REQUIRES: there is a connection, and its session is over.
  void step(int64_t now_ns);
  int64_t next_deadline() const;

  const StreamInfo& info() const { return info_; }
  // The stream was looked for, and is not there.
  bool is_stream_gone() const { return is_stream_gone_; }

 private:
  void take_info(const Reply& reply);
  void read_registry(uint64_t from);
  void take_entry(const Reply& reply);
  void end_registry(bool is_whole);
  void purge();

  const Names& names_;
  Calls& calls_;
  StreamInfo info_;
  bool is_stream_gone_ = false;
  int64_t now_ns_ = 0;

  std::map<std::string, std::string> unwritten_;
  bool is_putting_ = false;
  int64_t look_at_ns_ = 0;
  bool is_looking_ = false;
  std::vector<replication::RegistryEntry> registry_;
  std::vector<replication::RegistryEntry> registry_read_;  // so far
  size_t looked_at_ = 0;                                   // entries, so far
  int64_t registry_read_ns_ = 0;

  uint64_t trim_up_to_ = 0;
  int64_t trim_at_ns_ = 0;
  bool is_trimming_ = false;
};

}  // namespace weir::storage::nats
