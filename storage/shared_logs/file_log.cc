#include "storage/shared_logs/file_log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/crc64.h"
#include "storage/format/codec.h"
#include "storage/format/crc32c.h"
#include "storage/replication/log_rows.h"

namespace weir::storage {

using replication::Appended;
using replication::Head;
using replication::Read;
using replication::Record;

namespace {

constexpr uint64_t kRewrittenAlways = 1 << 20;
constexpr int kLockLooks = 20;  // a millisecond apart
constexpr size_t kCheckedBytes = 4 + 8 + 8;
constexpr size_t kEntryHeadBytes = kCheckedBytes + 4;

void put_u32_le(std::string* out, uint32_t value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string encode_entry(const Head& head, const std::string& record) {
  std::string out;
  put_u32_le(&out, static_cast<uint32_t>(record.size()));
  put_u64_le(&out, head.log_index);
  put_u64_le(&out, head.crc);
  put_u32_le(&out, crc32c(out));
  return out + record;
}

Read outcome_of(Read::Outcome outcome) {
  Read read;
  read.outcome = outcome;
  return read;
}

uint64_t size_of(int file) {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 ? static_cast<uint64_t>(facts.st_size) : 0;
}

// A process that holds the lock and was stopped holds it for as long as it is: nobody waits for
// that.
bool lock_soon(int file) {
  for (int look = 0; look < kLockLooks; ++look) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    ::poll(nullptr, 0, 1);
  }
  errno = EWOULDBLOCK;
  return false;
}

bool write_at(int file, uint64_t at, const std::string& bytes) {
  return ::lseek(file, static_cast<off_t>(at), SEEK_SET) >= 0 && write_and_sync(file, bytes);
}

}  // namespace

uint64_t FileLog::Entry::end() const { return at + kEntryHeadBytes + size; }

void FileLog::append(std::optional<Head> expected, std::string record,
                     std::function<void(Appended)> answer) {
  answers_.push_back(
      [answer = std::move(answer), told = append_now(expected, record)] { answer(told); });
}

void FileLog::read(Head after, size_t bytes_max, std::function<void(Read)> answer) {
  Read told = read_now(after, bytes_max);
  if (told.outcome == Read::Outcome::kDamaged) told = read_now(after, bytes_max);
  answers_.push_back(
      [answer = std::move(answer), told = std::move(told)]() mutable { answer(std::move(told)); });
}

void FileLog::trim(uint64_t up_to) { (void)trim_now(up_to); }

replication::LogFacts FileLog::facts() const {
  return {.engine = "file",
          .version = "1",
          .copies = 1,
          .fsync = replication::LogFacts::Fsync::kYes,
          .record_bytes_max = kRecordBytesMax,
          .uses_parts = false,
          .weakness = ""};
}

void FileLog::tick(int64_t boot_ns) {
  boot_ns_ = boot_ns;
  for (const auto& answer : std::exchange(answers_, {})) answer();
}

// An append that was not written whole is cut off again, and then nothing was done.
Appended FileLog::append_now(const std::optional<Head>& expected, const std::string& record) {
  const Appended refused{.outcome = Appended::Outcome::kRefused, .head = {}};
  if (record.size() > kRecordBytesMax) return refused;
  Descriptor locked;
  if (!lock(&locked).ok() || is_broken_) return refused;
  const Head newest = entries_.empty() ? Head{} : entries_.back().head;
  if (expected && *expected != newest) return refused;
  const Head head{.log_index = newest.log_index + 1, .crc = crc64_xz(record)};
  if (!write_at(file_.get(), end_, encode_entry(head, record))) {
    const bool undone = ::ftruncate(file_.get(), static_cast<off_t>(end_)) == 0;
    return undone ? refused : Appended{};
  }
  entries_.push_back({.head = head, .at = end_, .size = static_cast<uint32_t>(record.size())});
  end_ = entries_.back().end();
  return {.outcome = Appended::Outcome::kDone, .head = head};
}

Read FileLog::read_now(const Head& after, size_t bytes_max) {
  if (!is_same_file()) file_ = Descriptor();
  if (!file_.ok() && !open(false).ok()) return outcome_of(Read::Outcome::kFailed);
  if (!look().ok()) return outcome_of(Read::Outcome::kFailed);
  auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.head.log_index >= after.log_index;
  });
  std::vector<Record> rows;
  size_t bytes = 0;
  size_t followers = 0;
  for (; at != entries_.end() && (followers == 0 || bytes < bytes_max); ++at) {
    const bool proves = at->head.log_index == after.log_index;
    rows.push_back(
        {.head = at->head, .bytes = proves ? "" : bytes_at(at->at + kEntryHeadBytes, at->size)});
    if (proves) continue;
    ++followers;
    bytes += at->size;
  }
  const bool at_end = at == entries_.end();
  // What is broken is told once everything before it was read.
  if (at_end && is_broken_ && followers == 0) return outcome_of(Read::Outcome::kDamaged);
  Read read = read_from_rows(after, std::move(rows), at_end && !is_broken_);
  if (bytes_max == 0) {
    read.at_end = read.at_end && read.records.empty();
    read.records.clear();
  }
  return read;
}

Status FileLog::trim_now(uint64_t up_to) {
  Descriptor locked;
  if (Status status = lock(&locked); !status.ok()) return status;
  auto kept = entries_.begin();
  while (kept != entries_.end() && std::next(kept) != entries_.end() &&
         kept->head.log_index <= up_to)
    ++kept;
  if (kept == entries_.begin() || kept == entries_.end()) return {};
  // The rest is written anew, so what goes has to be worth it.
  if (end_ > kRewrittenAlways && kept->at < end_ / 4) return {};
  std::string rest(size_of(file_.get()) - kept->at, '\0');
  if (::pread(file_.get(), rest.data(), rest.size(), static_cast<off_t>(kept->at)) !=
      static_cast<ssize_t>(rest.size()))
    return system_failure("cannot read", path_);
  const std::string shorter = path_ + ".new";
  Status status = write_file(shorter, rest);
  if (status.ok()) status = rename_file(shorter, path_);
  // Else a power cut could bring the longer file back, after the shorter one got new entries.
  const auto folder = std::filesystem::absolute(path_).parent_path();
  return status.ok() ? sync_directory(folder.string()) : status;
}

// Takes the lock of the file that has the name, reads to its end, and cuts off what is unfinished.
Status FileLog::lock(Descriptor* lock) {
  while (true) {
    if (!is_same_file()) file_ = Descriptor();
    if (!file_.ok()) {
      if (Status status = open(true); !status.ok()) return status;
    }
    *lock = Descriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    if (!lock->ok() || !lock_soon(lock->get())) {
      const bool is_held = errno == EWOULDBLOCK;
      Status failure = system_failure("cannot lock", path_);
      trouble_ = is_held ? "another process holds the lock of " + path_ : failure.message();
      return failure;
    }
    struct stat locked {};
    struct stat mine {};
    if (is_same_file() && ::fstat(lock->get(), &locked) == 0 && ::fstat(file_.get(), &mine) == 0 &&
        locked.st_ino == mine.st_ino)
      break;
  }
  trouble_.clear();
  if (Status status = look(); !status.ok()) return status;
  if (!is_broken_ && size_of(file_.get()) > end_ &&
      ::ftruncate(file_.get(), static_cast<off_t>(end_)) != 0)
    return system_failure("cannot cut", path_);
  return {};
}

// A log without a file is an empty one.
Status FileLog::open(bool makes) {
  entries_.clear();
  end_ = 0;
  is_broken_ = false;
  file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC | (makes ? O_CREAT : 0), 0640));
  if (file_.ok() || (!makes && errno == ENOENT)) return {};
  return system_failure("cannot open", path_);
}

bool FileLog::is_same_file() const {
  struct stat named {};
  struct stat opened {};
  return file_.ok() && ::stat(path_.c_str(), &named) == 0 && ::fstat(file_.get(), &opened) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

// Reads the entries that have come. If the last one known is not where it was, the log was cut or
// restored, and is read from its beginning.
Status FileLog::look() {
  if (!file_.ok()) return {};
  const uint64_t size = size_of(file_.get());
  if (!entries_.empty()) {
    const auto last = entry_at(entries_.back().at, size);
    if (!last || last->head != entries_.back().head) {
      entries_.clear();
      end_ = 0;
    }
  }
  is_broken_ = false;
  while (end_ + kEntryHeadBytes <= size) {
    const auto entry = entry_at(end_, size);
    if (!entry) {
      is_broken_ = true;
      break;
    }
    if (entry->end() > size) break;
    entries_.push_back(*entry);
    end_ = entry->end();
  }
  return {};
}

std::optional<FileLog::Entry> FileLog::entry_at(uint64_t at, uint64_t file_bytes) const {
  if (at + kEntryHeadBytes > file_bytes) return std::nullopt;
  const std::string head = bytes_at(at, kEntryHeadBytes);
  if (head.size() != kEntryHeadBytes ||
      load_u32_le(head.data() + kCheckedBytes) != crc32c(head.substr(0, kCheckedBytes)) ||
      load_u32_le(head.data()) > kRecordBytesMax)
    return std::nullopt;
  return Entry{
      .head = {.log_index = load_u64_le(head.data() + 4), .crc = load_u64_le(head.data() + 12)},
      .at = at,
      .size = load_u32_le(head.data())};
}

// Fewer bytes where the file ends.
std::string FileLog::bytes_at(uint64_t at, size_t size) const {
  std::string bytes(size, '\0');
  const ssize_t got = ::pread(file_.get(), bytes.data(), size, static_cast<off_t>(at));
  bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return bytes;
}

}  // namespace weir::storage
