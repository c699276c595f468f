// A trimmed log is there under its name after a power cut: the folder is synced after the rename.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>

#include "storage/shared_logs/file_log.h"
#include "tests/storage/store_driver.h"

namespace {

ino_t folder_synced = 0;  // the last one
ino_t file_in_it = 0;     // what the name stood for then
std::string watched;      // the file's path

}  // namespace

// In the place of the C library's, which the log calls.
extern "C" int fsync(int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) == 0 && S_ISDIR(facts.st_mode)) {
    folder_synced = facts.st_ino;
    struct stat named {};
    if (!watched.empty() && ::stat(watched.c_str(), &named) == 0) file_in_it = named.st_ino;
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace weir::storage::replication {
namespace {

ino_t inode_of(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

TEST(FileLogTrim, TheFolderIsSyncedAfterTheRename) {
  TemporaryDirectory directory;
  watched = directory / "shard.log";
  FileLog log(watched);
  std::optional<Head> head;
  for (int i = 0; i < 3; ++i) {
    log.append(head, "record", [&](const Appended& appended) { head = appended.head; });
    log.tick(0);
  }
  ASSERT_TRUE(head);
  const ino_t before = inode_of(watched);
  folder_synced = file_in_it = 0;
  log.trim(2);
  EXPECT_NE(inode_of(watched), before);
  EXPECT_EQ(folder_synced, inode_of(directory / ""));
  EXPECT_EQ(file_in_it, inode_of(watched));
  watched.clear();
}

}  // namespace
}  // namespace weir::storage::replication
