// Copies of this member's data that other members of its shard take over a connection: a checkpoint
// by hard links, which is read in pieces.
//
// They go over the client port, because a second protocol and port would need authentication, TLS
// and bounds of their own. What is given up are copies as fast as the disks could make them. Where
// the log holds other turns than a member, a person decides: an emptied directory joins anew.
//
// Invariants
// 1. Nothing here waits: checkpoints are made as others are, and of their files no more than
//    kTurnBytesMax are read in one turn.
// 2. A file's path is one of the list that begin() has answered, whatever the other side asks for.
// 3. What nobody has read of for kIdleNs is removed, and so is at the start what an earlier process
//    has left.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time_units.h"
#include "server/core/disk/checkpoints.h"
#include "server/core/disk/remover.h"
#include "server/os/clock.h"
#include "storage/format/file.h"

namespace weir::server {

struct SnapshotFile {
  std::string path;  // in the checkpoint
  uint64_t bytes = 0;
};

struct SnapshotPiece {
  std::string bytes;
};

// A place in the shared log: what is in the snapshot reaches at least to it.
struct SnapshotPlace {
  uint64_t log_index = 0;
  uint64_t crc = 0;
};

class Snapshots {
 public:
  static constexpr size_t kPieceBytesMax = 256 << 10;
  static constexpr size_t kTurnBytesMax = 1 << 20;
  static constexpr int64_t kIdleNs = kNsPerMinute;
  static constexpr size_t kAtOnceMax = 4;
  static constexpr size_t kIdBytesMax = 40;

  // What the state files of this member have reached, or why it gives no snapshot: a whole line.
  using Place = std::function<Result<SnapshotPlace, std::string>()>;

  // Snapshots lie in `folder`, which is beside the data.
  Snapshots(std::string folder, Checkpoints* checkpoints, Clock* clock, Place place);

  struct Begun {
    bool is_made = false;
    SnapshotPlace place;
    const std::vector<SnapshotFile>* files = nullptr;
  };
  // Begins the snapshot that the other side has named so, or tells of it if it has begun. An error
  // is a whole line.
  Result<Begun, std::string> begin(std::string_view id);
  // Answers up to `length` bytes; fewer, perhaps none, at the end of the file and where this turn
  // has read enough.
  Result<SnapshotPiece, std::string> read(std::string_view id, std::string_view path,
                                          uint64_t offset, uint64_t length);
  // The files go; the place is kept for kIdleNs more, since who took the snapshot reads the log
  // after it has opened it.
  Result<void, std::string> end(std::string_view id);

  // A new turn may read anew; what nobody reads any more goes.
  void begin_turn();
  // The oldest place that the shared log is kept from because of snapshots; {0, 0}: none.
  SnapshotPlace oldest() const;
  size_t count() const { return snapshots_.size(); }

 private:
  enum class State { kMaking, kMade, kFailed, kEnded };
  struct Snapshot {
    State state = State::kMaking;
    SnapshotPlace place;
    std::vector<SnapshotFile> files;
    int64_t used_ns = 0;
    std::string open_path;
    storage::Descriptor open;
  };

  std::string directory_of(std::string_view id) const { return folder_ + "/" + std::string(id); }
  // Answers a snapshot that is used now; an error is a whole line.
  Result<Snapshot*, std::string> use(std::string_view id);
  void made(const std::string& id, bool is_made);

  const std::string folder_;
  Checkpoints& checkpoints_;
  Clock& clock_;
  const Place place_;
  Remover remover_;
  std::map<std::string, Snapshot, std::less<>> snapshots_;
  size_t read_this_turn_ = 0;
};

}  // namespace weir::server
