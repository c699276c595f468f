// What the store on RocksDB has on its disk: the data directory with its identity, the reserve, and
// the two databases. It opens them together, and copies them together.
//
// Invariant: data that was opened read-only stays so. So nothing is ever appended to a log that
// RocksDB has read without taking it over.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "storage/rocks/reserve_file.h"
#include "storage/rocks/rocks_directory.h"
#include "storage/rocks/rocks_log.h"
#include "storage/rocks/rocks_state.h"
#include "storage/store/store.h"

namespace weir::storage {

class RocksData {
 public:
  // `notify` is called as RocksLog says.
  RocksData(const RocksOptions& options, std::function<void()> notify);

  // Opens the directory, or begins a new one; with a seed, only the directory that has it will do.
  // The options say whether to look only, and whether to join or leave a shard. `watch` is told how
  // far it is.
  Status open(const std::optional<HashSeed>& expected, const OpeningWatch& watch,
              OpenReport* report);
  // Why nothing can be written; ok if it can.
  const Status& read_only() const { return read_only_; }
  const HashSeed& hash_seed() const { return identity_.seed; }
  bool is_there() const { return file_exists(directory_.identity_path()); }
  // Tries with a small file whether the disk takes writes.
  Status probe() const;

  RocksLog& log() { return log_; }
  const RocksLog& log() const { return log_; }
  RocksState& state() { return state_; }
  const RocksState& state() const { return state_; }

  // The next functions run on the worker thread.
  // Makes the reserve as large as it should be, if there is room.
  void keep_reserve() { reserve_.keep(); }
  // Copies everything into a directory that is not there yet.
  Status make_checkpoint(const std::string& directory);

  void add_metrics(StoreMetrics* metrics) const;
  StoreMemory memory() const;

 private:
  Status begin_creation();
  Status take_shard_step();
  Status open_existing(const OpeningWatch& watch, OpenReport* report);
  Status open_to_look(const OpeningWatch& watch, OpenReport* report);
  Status find_databases() const;
  Status open_databases(OpenMode mode, const OpeningWatch& watch, OpenReport* report);
  Status fit_together(const RocksLog::Opened& log, const WrittenBack& state) const;

  const RocksOptions options_;
  RocksDirectory directory_;
  ReserveFile reserve_;
  DirectoryIdentity identity_;
  RocksLog log_;
  RocksState state_;
  Status read_only_;
};

std::string without_trailing_slash(std::string path);

}  // namespace weir::storage
