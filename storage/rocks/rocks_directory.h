// A data directory as such: which process has it now (LOCK) and what it is (WEIR). Knows no
// RocksDB.
//
// WEIR is written last, so it says that creation had ended. Until then there is a WEIR.new, and
// what lies beside it cannot hold data yet. A directory that holds databases but neither file is
// refused: a lost identity must not become a fresh start. So is one that a restore has begun to
// fill and has not ended, which has a WEIR.restoring.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/format/file.h"
#include "storage/format/key_order.h"
#include "storage/format/shard_identity.h"
#include "storage/format/status.h"

namespace weir::storage {

inline constexpr int kDirectoryFormat = 1;       // of a directory of no shard
inline constexpr int kShardDirectoryFormat = 2;  // of a shard's, which was founded with all slots
inline constexpr int kPartDirectoryFormat = 3;   // of a shard's, which was born otherwise

struct DirectoryIdentity {
  std::string id;  // 32 hexadecimal digits, drawn at creation; checkpoints share it
  HashSeed seed{};
  std::optional<ShardIdentity> shard = {};

  int format() const {
    if (!shard) return kDirectoryFormat;
    return shard->origin.is_whole() ? kShardDirectoryFormat : kPartDirectoryFormat;
  }
};

DirectoryIdentity draw_identity();
std::string encode_identity(const DirectoryIdentity& identity);
Status parse_identity(std::string_view text, const std::string& path, DirectoryIdentity* identity);

class RocksDirectory {
 public:
  explicit RocksDirectory(std::string path);

  // Makes the directory where there is none, and locks it until this object ends.
  Status lock();
  // Locks an existing directory against servers until this object ends, and changes nothing in it.
  // A checkpoint that no server has opened has nothing to lock.
  Status lock_to_look();
  // Tells whether a creation is to be done (`fresh`), or else what the directory is. REQUIRES:
  // lock() or lock_to_look().
  Status identify(bool* fresh, DirectoryIdentity* identity);
  // Begin and end the making of the databases, in which the directory is marked as unfinished.
  Status begin_creation(const DirectoryIdentity& identity);
  Status end_creation();
  // Says anew what the directory is: a power cut leaves what was said before, or this.
  Status change_identity(const DirectoryIdentity& identity);
  // The data was deleted under the server that used it: says so in a file, because of which the
  // directory is refused until a person has removed the file. Answers the refusal.
  Status mark_gone();

  const std::string& path() const { return path_; }
  // The mark of a directory that a restore fills.
  std::string restoring_path() const { return path_ + "/WEIR.restoring"; }
  std::string log_path() const { return path_ + "/log"; }
  std::string state_path() const { return path_ + "/state"; }
  std::string identity_path() const { return path_ + "/WEIR"; }
  std::string reserve_path() const { return path_ + "/reserve"; }
  std::string write_back_path() const { return path_ + "/pass.sst"; }

 private:
  std::string creation_path() const { return path_ + "/WEIR.new"; }
  std::string gone_path() const { return path_ + "/WEIR.gone"; }
  Status gone() const;
  Status restoring() const;

  const std::string path_;
  Descriptor lock_;
};

}  // namespace weir::storage
