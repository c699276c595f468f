// How often each thing that can go wrong really did. A fault that never has an effect tests
// nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::storage::replication {

enum class Fault : size_t {
  kLateAnswer,          // an append was answered after more than log-timeout
  kRequestLost,         // an append never reached the engine
  kAnswerLost,          // an append took effect, and its author never heard of it
  kRefusedUntried,      // the engine did nothing, and said so
  kRefusedByCondition,  // the end of the log was another record
  kSentTwice,           // the answer to the second attempt came first
  kZombie,              // an append took effect after its author had given it up, or had died
  kZombieRefused,       // ... or was refused then
  kStaleRead,           // a read missed records that another had seen
  kStaleRewound,        // ... so that it looked like a rewind
  kFailedRead,
  kVisibleLost,  // a record that somebody had read was lost by a failover
  kRewind,       // a failover lost records
  kFailover,     // with or without
  kOldLeader,    // an append took effect on an engine that was leader no more
  kTrimUndone,   // a failover brought trimmed records back
  kEngineRestart,
  kStandbyAway,     // an append waited for the engine's standby
  kAppendsBlocked,  // an append waited, or was refused, where reads went on
  kKill,
  kPowerCut,
  kWritesCut,  // writes of the local log that a power cut lost
  kPause,
  kCut,  // of a member, in both directions
  kCutOneWay,
  kWallStep,
  kSwitchover,  // that was sent
  kOperatorClaim,
  kTimesChanged,
  kTwin,           // a copied directory ran beside the original
  kNewMember,      // an empty one, while the shard was at work
  kTrim,           // that removed records
  kTrimmedRead,    // a member found that the log no longer keeps what it needs
  kSnapshot,       // a member joined by one
  kSnapshotAgain,  // ... after one that came to nothing
  kEarlyLost,      // a reply that had left early, and whose turn was never committed
  kNumber,
};

const char* name_of(Fault fault);

class Counts {
 public:
  void add(Fault fault, uint64_t number = 1) { counts_[static_cast<size_t>(fault)] += number; }
  uint64_t of(Fault fault) const { return counts_[static_cast<size_t>(fault)]; }
  void add(const Counts& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }

 private:
  std::array<uint64_t, static_cast<size_t>(Fault::kNumber)> counts_{};
};

}  // namespace weir::storage::replication
