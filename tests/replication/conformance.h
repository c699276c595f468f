// The same cases for every engine behind SharedLog. An engine's own test gives a LogEngine and
// names it with INSTANTIATE_TEST_SUITE_P; conformance_test.cc and conformance_loss_test.cc have the
// cases and belong to its program. sim_conformance_test.cc shows how.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "storage/replication/shared_log.h"

namespace weir::storage::replication {

using AppendOutcome = Appended::Outcome;
using ReadOutcome = Read::Outcome;

inline std::string numbered(size_t number) { return "record " + std::to_string(number); }

// What a case needs of an engine beside the interface. Faults answer false where the engine cannot
// be made to have them; what needs them is skipped then.
class LogEngine {
 public:
  virtual ~LogEngine() = default;

  // A member's own connection. All connections of one shard share one log, which begins empty.
  virtual std::unique_ptr<SharedLog> connect(const std::string& shard) = 0;
  // Lets a little time pass, in which answers come. Backends are ticked by the caller.
  virtual void pass() = 0;
  virtual int64_t boot_ns() = 0;

  // Of the next append: it never arrives; or it takes effect and nobody hears of it; or it arrives
  // after its backend has given it up.
  virtual bool lose_next_request() { return false; }
  virtual bool lose_next_answer() { return false; }
  virtual bool delay_next_request() { return false; }
  // A failover to a copy that lacks the newest records.
  virtual bool lose_records(const std::string& /*shard*/, size_t /*count*/) { return false; }
  // Other bytes under the stored checksum; a row that is missing among others.
  virtual bool damage(const std::string& /*shard*/, uint64_t /*log_index*/) { return false; }
  virtual bool remove(const std::string& /*shard*/, uint64_t /*log_index*/) { return false; }
  // How many records are many.
  virtual size_t many() const { return 100'000; }
  // After so many passes nothing is on its way any more.
  virtual int passes_in_a_while() const { return 1000; }
};

struct LogEngineFactory {
  std::string name;
  std::function<std::unique_ptr<LogEngine>()> make;

  friend std::ostream& operator<<(std::ostream& out, const LogEngineFactory& factory) {
    return out << factory.name;
  }
};

class Conformance : public testing::TestWithParam<LogEngineFactory> {
 protected:
  Conformance() : engine_(GetParam().make()) {}

  SharedLog* connect(const std::string& shard = "main");
  // Time passes until `done`, with an end.
  void wait_until(const std::function<bool()>& done);
  void wait_a_while();

  Appended append(SharedLog* log, std::optional<Head> expected, const std::string& record);
  Read read(SharedLog* log, const Head& after, size_t bytes_max = 1024 * 1024);
  // Appends after `*end` and moves it there.
  void put(SharedLog* log, Head* end, const std::string& record);
  // Everything after `after`, in as many reads as it takes.
  std::vector<Record> read_all(SharedLog* log, Head after, size_t bytes_max = 1024 * 1024);

  std::unique_ptr<LogEngine> engine_;
  std::vector<std::unique_ptr<SharedLog>> logs_;  // go before the engine
};

}  // namespace weir::storage::replication
