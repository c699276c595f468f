#include "storage/rocks/wal_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "storage/format/file.h"
#include "storage/rocks/synced_mark.h"
#include "storage/rocks/wal_manifest.h"

namespace weir::storage {
namespace {

Status destroyed(const WalFile& file, uint64_t offset, const std::string& why) {
  return Status::corrupt("the log is damaged: " + file.path + " at byte " + std::to_string(offset) +
                         ": " + why + "; restore from a checkpoint");
}

class Judge {
 public:
  Judge(std::vector<WalFile>* files, std::optional<uint64_t> covered, uint64_t synced_turn)
      : files_(*files), covered_(covered), synced_turn_(synced_turn) {}

  Status run() {
    for (size_t i = 0; i < files_.size(); ++i) {
      if (Status status = look_at(i); !status.ok()) return status;
    }
    const uint64_t last = std::max(last_turn_, covered_.value_or(0));
    if (!covered_ || last >= synced_turn_) return {};
    return Status::corrupt("the log is damaged: it ends with turn " + std::to_string(last) +
                           ", though turn " + std::to_string(synced_turn_) +
                           " was known to be on the disk; restore from a checkpoint, or remove "
                           "its file SYNCED to go on without what is lost");
  }

  std::string note;

 private:
  Status look_at(size_t i) {
    WalFile& file = files_[i];
    const WalScan& scan = file.scan;
    if (lost_) return give_up(&file, 0);
    if (scan.first_turn != 0) {
      if (scan.first_turn <= last_turn_) return destroyed(file, 0, "its turns come twice");
      if (last_there() && scan.first_turn > *last_there() + 1) {
        lost_ = true;
        return give_up(&file, 0);
      }
    }
    last_turn_ = std::max(last_turn_, scan.last_turn);
    file.kept_bytes = scan.valid_bytes;
    if (!scan.broken) return {};
    if (!scan.unwritten && scan.valid_record_behind) {
      return destroyed(file, scan.valid_bytes,
                       "a broken record, but valid records follow it from byte " +
                           std::to_string(*scan.valid_record_behind) + " on");
    }
    if (!scan.unwritten && records_after(i)) {
      return destroyed(file, scan.valid_bytes,
                       "a broken record, but valid records follow it in later files");
    }
    if (!scan.valid_record_behind) return tell(file);
    lost_ = true;
    return give_up(&file, scan.valid_bytes);
  }

  // The last turn before the next file; nullopt: not known.
  std::optional<uint64_t> last_there() const { return last_turn_ != 0 ? last_turn_ : covered_; }

  bool records_after(size_t i) const {
    return std::any_of(files_.begin() + static_cast<ptrdiff_t>(i) + 1, files_.end(),
                       [](const WalFile& file) {
                         return file.scan.valid_bytes != 0 || file.scan.valid_record_behind;
                       });
  }

  // Gives up a file from `kept_bytes` on. Bytes after a part that was never written were not synced
  // either, unless a record says otherwise.
  Status give_up(WalFile* file, uint64_t kept_bytes) {
    const uint64_t missing = last_there().value_or(0) + 1;
    const uint64_t synced = kept_bytes == 0
                                ? std::max(file->scan.synced_turn, file->scan.synced_turn_behind)
                                : file->scan.synced_turn_behind;
    if (last_there() && synced >= missing) {
      return destroyed(*file, kept_bytes,
                       "turn " + std::to_string(missing) + " is missing before it, though turn " +
                           std::to_string(synced) + " was known to be on the disk");
    }
    file->kept_bytes = kept_bytes;
    return tell(*file);
  }

  Status tell(const WalFile& file) {
    if (file.kept_bytes == file.size) return {};
    if (!note.empty()) note += ", ";
    note += file.path + " is cut from " + std::to_string(file.size) + " to " +
            std::to_string(file.kept_bytes) + " bytes";
    return {};
  }

  std::vector<WalFile>& files_;
  const std::optional<uint64_t> covered_;
  const uint64_t synced_turn_;
  uint64_t last_turn_ = 0;  // of the files so far
  bool lost_ = false;       // turns are missing, so nothing after them may be kept
};

uint64_t log_number(const std::filesystem::path& path) {
  return std::strtoull(path.stem().c_str(), nullptr, 10);
}

Status scan_files(const std::string& directory, std::vector<WalFile>* files) {
  uint64_t first_live = 0;
  if (Status status = read_first_live_wal(directory, &first_live); !status.ok()) return status;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".log" || log_number(at->path()) < first_live) continue;
    files->push_back({.path = at->path().string()});
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return Status::failed("cannot list " + directory + ": " + error.message());
  }
  std::sort(files->begin(), files->end(), [](const WalFile& a, const WalFile& b) {
    return log_number(a.path) < log_number(b.path);
  });
  for (WalFile& file : *files) {
    std::string bytes;
    if (Status status = read_file(file.path, &bytes); !status.ok()) return status;
    file.size = bytes.size();
    file.scan = scan_wal(bytes);
  }
  return {};
}

Status cut(const WalFile& file) {
  const Descriptor descriptor(::open(file.path.c_str(), O_RDWR | O_CLOEXEC));
  if (!descriptor.ok()) return system_failure("cannot open", file.path);
  if (::ftruncate(descriptor.get(), static_cast<off_t>(file.kept_bytes)) != 0) {
    return system_failure("cannot cut", file.path);
  }
  return ::fsync(descriptor.get()) == 0 ? Status() : system_failure("cannot sync", file.path);
}

}  // namespace

Status judge_wal(std::vector<WalFile>* files, std::optional<uint64_t> covered, uint64_t synced_turn,
                 std::string* note) {
  Judge judge(files, covered, synced_turn);
  Status status = judge.run();
  *note = std::move(judge.note);
  return status;
}

namespace {

Status look_at(const std::string& directory, std::optional<uint64_t> covered,
               std::vector<WalFile>* files, WalReport* report) {
  if (Status status = scan_files(directory, files); !status.ok()) return status;
  report->synced_turn = SyncedMark::read(directory);
  if (Status status = judge_wal(files, covered, report->synced_turn, &report->note); !status.ok())
    return status;
  for (const WalFile& file : *files) {
    report->bytes += file.kept_bytes;
    report->synced_turn =
        std::max({report->synced_turn, file.scan.synced_turn, file.scan.synced_turn_behind});
  }
  return {};
}

}  // namespace

Status inspect_wal(const std::string& directory, std::optional<uint64_t> covered,
                   WalReport* report) {
  std::vector<WalFile> files;
  return look_at(directory, covered, &files, report);
}

Status check_wal(const std::string& directory, std::optional<uint64_t> covered, WalReport* report) {
  std::vector<WalFile> files;
  if (Status status = look_at(directory, covered, &files, report); !status.ok()) return status;
  for (const WalFile& file : files) {
    if (file.kept_bytes == file.size) continue;
    if (Status status = cut(file); !status.ok()) return status;
  }
  return {};
}

}  // namespace weir::storage
