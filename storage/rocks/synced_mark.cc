#include "storage/rocks/synced_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include "storage/format/codec.h"
#include "storage/format/crc32c.h"

namespace weir::storage {
namespace {

std::string encode(uint64_t turn) {
  std::string bytes;
  put_u64_le(&bytes, turn);
  put_u64_le(&bytes, crc32c(bytes));
  return bytes;
}

}  // namespace

void SyncedMark::note(uint64_t turn) {
  const std::lock_guard lock(mutex_);
  if (turn <= noted_) return;
  if (!file_.ok()) file_ = open_own_file(path_, O_WRONLY, 0640, LinksThere::kAreReplaced);
  const std::string bytes = encode(turn);
  if (file_.ok() && ::pwrite(file_.get(), bytes.data(), bytes.size(), 0) > 0) noted_ = turn;
}

uint64_t SyncedMark::read(const std::string& directory) {
  std::string bytes;
  if (!file_exists(path_in(directory)) || !read_file(path_in(directory), &bytes).ok()) return 0;
  Reader reader(bytes);
  const uint64_t turn = reader.u64_le();
  return reader.ok() && bytes == encode(turn) ? turn : 0;
}

}  // namespace weir::storage
