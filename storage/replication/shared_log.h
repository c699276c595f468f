// The ordered log of one shard, as an engine (a database, a message broker, a file) keeps it.
//
// The interface is narrow on purpose: identity at append is all that the protocol needs of an
// engine, because an append that names its predecessor by identity makes two logs that agree on one
// record agree on everything before it. A log index alone would not do: an engine that loses the
// end of its log gives the same log indexes out again. So an append names its predecessor by log
// index and checksum, and each record has a random number. What is given up are engines that cannot
// append on a condition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time_units.h"
#include "storage/replication/head.h"

namespace weir::storage::replication {

struct Appended {
  enum class Outcome {
    kDone,     // the record stands at `head` and is as safe as the engine makes records
    kRefused,  // the end of the log was another record, or the engine did nothing
    kUnknown,  // given up without an answer; the record may still appear later
  };
  Outcome outcome = Outcome::kUnknown;
  Head head;  // of kDone
};

struct Record {
  Head head;
  std::string bytes;
};

struct Read {
  enum class Outcome {
    kRecords,  // what follows, perhaps nothing: consecutive, one consistent prefix
    kRewound,  // another record stands at the log index asked for, or the log ends before it
    kTrimmed,  // the record asked for is no longer kept
    kDamaged,  // a record is missing or broken after one that is there
    kFailed,   // no answer; it may be asked again
  };
  Outcome outcome = Outcome::kFailed;
  std::vector<Record> records;
  bool at_end = false;  // of kRecords: nothing followed when the log was read
};

// What is known of the engine; for people and for the sizes of records.
struct LogFacts {
  enum class Fsync { kUnknown, kNo, kYes };
  std::string engine;
  std::string version;
  uint64_t copies = 1;
  Fsync fsync = Fsync::kUnknown;
  size_t record_bytes_max = 0;
  bool uses_parts = false;  // a turn larger than record_bytes_max travels as PART records
  // Why the engine may lose what it has acknowledged, one line; empty: it is not known to.
  std::string weakness;
};

// Why an engine does not do what it should; for people.
struct LogTrouble {
  std::string text;           // one line; empty: all is well, as far as is known
  bool needs_person = false;  // it does not pass with time: a server that starts should not start
};

// Called on the server's loop. Answers come on the loop too, later and each exactly once, never
// from inside the call.
class SharedLog {
 public:
  virtual ~SharedLog() = default;

  // Refused unless the end of the log is the record `expected`; {0, 0} expects an empty log. With
  // nullopt the append is unconditional, and the backend never sends it twice.
  virtual void append(std::optional<Head> expected, std::string record,
                      std::function<void(Appended)> answer) = 0;
  // Records after `after`, about `bytes_max` bytes of them, at least one if there is one; with 0
  // bytes it only tells whether the record `after` is there. A record whose bytes do not give
  // its stored checksum is read once more and is kDamaged then.
  virtual void read(Head after, size_t bytes_max, std::function<void(Read)> answer) = 0;
  // A hint that records up to this log index may go, from the first on. The last record stays.
  virtual void trim(uint64_t up_to) = 0;
  virtual LogFacts facts() const = 0;
  virtual LogTrouble trouble() const { return {}; }

  // The backend's own timers, in nanoseconds of CLOCK_BOOTTIME.
  virtual void tick(int64_t boot_ns) = 0;
  virtual int64_t next_deadline() const = 0;
};

struct RegistryEntry {
  std::string name;
  std::string bytes;
  int64_t age_ns = 0;  // since it was put, by the engine's clock
};

// Facts that members tell one another (member_registry.h), by the member's name; the last writer
// wins. Late or wrong facts cost a hop or some retained log, never safety.
class MemberRegistry {
 public:
  // Facts that are so old are of a member that does not come back, and are removed.
  static constexpr int64_t kRemovedAfterNs = 24 * kNsPerHour;
  // What is longer is nobody's facts, and of more entries only the youngest are read: whoever can
  // write to the engine can fill it.
  static constexpr size_t kFactsBytesMax = 4096;
  static constexpr size_t kNameBytesMax = 64;
  static constexpr size_t kEntriesMax = 64;

  virtual ~MemberRegistry() = default;

  virtual void put(std::string name, std::string bytes) = 0;
  // Tells whether what was put has arrived, or will not be tried again.
  virtual bool has_written() const { return true; }
  // Whoever waits for what others tell has the backend read it before it is due.
  virtual void read_soon() {}
  // As the backend last read it; ages are of now.
  virtual std::vector<RegistryEntry> snapshot() const = 0;
};

}  // namespace weir::storage::replication
