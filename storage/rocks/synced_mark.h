// `SYNCED` in a log's directory: the newest turn that is known to be on the disk, in a second
// place. A log whose last file was emptied or cut at the end of a record looks as one that ended
// there; this file knows better.
//
//     file := turn(u64 le) crc32c of it(u64 le)                               DO NOT CHANGE
//
// Invariants
// 1. It tells of no turn that is not on the disk: a turn is noted when its sync has returned. The
//    file is not synced itself, so after a power cut it may tell of an earlier turn, or of none.
// 2. Other bytes tell of none, as a directory of an earlier version does, which has no such file.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "storage/format/file.h"

namespace weir::storage {

class SyncedMark {
 public:
  // Nothing is written until note().
  explicit SyncedMark(const std::string& directory) : path_(path_in(directory)) {}

  // The turn is on the disk. May be called on any thread. A failure leaves what was told before.
  void note(uint64_t turn);

  // Answers the turn that a directory's file tells of; 0: none.
  static uint64_t read(const std::string& directory);

 private:
  static std::string path_in(const std::string& directory) { return directory + "/SYNCED"; }

  const std::string path_;
  std::mutex mutex_;
  Descriptor file_;
  uint64_t noted_ = 0;
};

}  // namespace weir::storage
