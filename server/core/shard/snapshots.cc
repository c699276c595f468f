#include "server/core/shard/snapshots.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "server/os/log.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= Snapshots::kIdBytesMax &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// In the order of their paths; false if they cannot be listed.
bool list_files(const std::string& folder, std::vector<SnapshotFile>* files) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    files->push_back(
        {.path = fs::relative(at->path(), folder, error).string(), .bytes = at->file_size(error)});
  }
  std::sort(files->begin(), files->end(),
            [](const SnapshotFile& a, const SnapshotFile& b) { return a.path < b.path; });
  return !error && !files->empty();
}

}  // namespace

Snapshots::Snapshots(std::string folder, Checkpoints* checkpoints, Clock* clock, Place place)
    : folder_(std::move(folder)),
      checkpoints_(*checkpoints),
      clock_(*clock),
      place_(std::move(place)) {
  std::vector<std::string> left;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error))
    left.push_back(at->path());
  remover_.remove(std::move(left));
}

Result<Snapshots::Begun, std::string> Snapshots::begin(std::string_view id) {
  if (!is_id(id)) return "ERR the id of a snapshot has up to 40 hexadecimal digits";
  if (!snapshots_.contains(id)) {
    if (snapshots_.size() >= kAtOnceMax)
      return "ERR others take snapshots already, as many as may at once: " +
             std::to_string(kAtOnceMax);
    const auto place = place_();
    if (!place) return place.error();
    std::error_code ignored;
    fs::create_directories(folder_, ignored);
    const auto asked = checkpoints_.ask_in(
        directory_of(id), [this, name = std::string(id)](bool is_made) { made(name, is_made); });
    if (!asked) return asked.error();
    snapshots_[std::string(id)].place = *place;
    log_info("another member takes a snapshot, {}", id);
  }
  const auto snapshot = use(id);
  if (!snapshot) return snapshot.error();
  return Begun{.is_made = (*snapshot)->state == State::kMade,
               .place = (*snapshot)->place,
               .files = &(*snapshot)->files};
}

void Snapshots::made(const std::string& id, bool is_made) {
  const auto found = snapshots_.find(id);
  if (found == snapshots_.end()) return remover_.remove({directory_of(id)});
  const bool is_there = is_made && list_files(directory_of(id), &found->second.files);
  found->second.state = is_there ? State::kMade : State::kFailed;
}

Result<Snapshots::Snapshot*, std::string> Snapshots::use(std::string_view id) {
  const auto found = snapshots_.find(id);
  if (found == snapshots_.end() || found->second.state == State::kEnded)
    return std::string("ERR no such snapshot: it was ended, or not read of for a minute");
  if (found->second.state == State::kFailed) {
    remover_.remove({directory_of(id)});
    snapshots_.erase(found);
    return std::string("ERR the snapshot could not be made; the server's log says why");
  }
  found->second.used_ns = clock_.boot_ns();
  return &found->second;
}

Result<SnapshotPiece, std::string> Snapshots::read(std::string_view id, std::string_view path,
                                                   uint64_t offset, uint64_t length) {
  const auto used = use(id);
  if (!used) return used.error();
  Snapshot& snapshot = **used;
  const bool is_listed = std::any_of(snapshot.files.begin(), snapshot.files.end(),
                                     [&](const SnapshotFile& file) { return file.path == path; });
  if (snapshot.state != State::kMade || !is_listed)
    return std::string("ERR the snapshot has no such file");
  const size_t left = kTurnBytesMax - std::min(kTurnBytesMax, read_this_turn_);
  std::string bytes(std::min<uint64_t>({length, kPieceBytesMax, left}), '\0');
  if (bytes.empty()) return SnapshotPiece{};
  const std::string whole = directory_of(id) + "/" + std::string(path);
  if (snapshot.open_path != path) {
    snapshot.open = storage::Descriptor(::open(whole.c_str(), O_RDONLY | O_CLOEXEC));
    snapshot.open_path = path;
  }
  const ssize_t got = snapshot.open.ok() ? ::pread(snapshot.open.get(), bytes.data(), bytes.size(),
                                                   static_cast<off_t>(offset))
                                         : -1;
  if (got < 0) {
    snapshot.open_path.clear();
    return "ERR cannot read " + whole + ": " + std::strerror(errno);
  }
  bytes.resize(static_cast<size_t>(got));
  read_this_turn_ += bytes.size();
  return SnapshotPiece{std::move(bytes)};
}

Result<void, std::string> Snapshots::end(std::string_view id) {
  const auto used = use(id);
  if (!used) return used.error();
  if ((*used)->state == State::kMade) remover_.remove({directory_of(id)});
  (*used)->state = State::kEnded;
  (*used)->open = storage::Descriptor();
  return {};
}

void Snapshots::begin_turn() {
  read_this_turn_ = 0;
  if (snapshots_.empty()) return;
  const int64_t now_ns = clock_.boot_ns();
  for (auto at = snapshots_.begin(); at != snapshots_.end();) {
    const Snapshot& snapshot = at->second;
    if (snapshot.state == State::kMaking || now_ns - snapshot.used_ns < kIdleNs) {
      ++at;
      continue;
    }
    if (snapshot.state == State::kMade) {
      log_warning("the snapshot {} was not read of for a minute, and is removed", at->first);
      remover_.remove({directory_of(at->first)});
    }
    at = snapshots_.erase(at);
  }
}

SnapshotPlace Snapshots::oldest() const {
  SnapshotPlace oldest;
  for (const auto& [id, snapshot] : snapshots_) {
    const bool is_older = oldest.log_index == 0 || snapshot.place.log_index < oldest.log_index;
    if (is_older) oldest = snapshot.place;
  }
  return oldest;
}

}  // namespace weir::server
