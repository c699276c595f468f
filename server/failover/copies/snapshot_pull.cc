#include "server/failover/copies/snapshot_pull.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/crc64.h"
#include "base/one_line.h"
#include "base/time_units.h"
#include "server/failover/copies/copy_check.h"
#include "server/failover/copies/snapshot_list.h"
#include "storage/format/file.h"
#include "storage/rocks/rocks_directory.h"

namespace weir::server {

using resp::Value;
using storage::Status;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPieceBytes = "262144";
constexpr int64_t kPullLookNs = 100 * kNsPerMs;
constexpr int64_t kPatienceNs = 30 * kNsPerMinute;  // of the checkpoint that is made
constexpr int64_t kTellNs = 2 * kNsPerS;
constexpr int64_t kWithinNs = kNsPerMinute;  // and the last piece is synced
constexpr int64_t kSilenceS = 10;
constexpr int kEmptyPiecesMax = 1000;
// What a member that means no good may take of this one.
constexpr uint64_t kRoomBytes = 64 << 20;  // that stay on the disk
constexpr int64_t kProgressNs = kNsPerMinute;
constexpr uint64_t kProgressBytes = 1 << 20;  // in that time
constexpr size_t kToldBytesMax = 200;

std::string incoming(const std::string& directory) { return directory + "/incoming"; }

// An error of another member, as a line may have it.
std::string told(std::string_view text) { return one_line(text, kToldBytesMax); }

// One snapshot of one member.
class Copy {
 public:
  Copy(const PullPlan& plan, std::string id, RedisClient* client, Clock* clock,
       const std::atomic<bool>* stops)
      : plan_(plan),
        id_(std::move(id)),
        target_(incoming(plan.directory) + ".tmp"),
        client_(*client),
        clock_(*clock),
        stops_(*stops) {}

  Result<Pulled, std::string> make() {
    const auto list = begin();
    if (!list) return list.error();
    if (auto made = make_target(); !made) return made.error();
    Pulled pulled;
    for (const ListedFile& file : *list) whole_ += file.bytes;
    if (auto fits = look_for_room(); !fits) return fits.error();
    progress_at_ns_ = clock_.steady_ns();
    for (const ListedFile& file : *list) {
      if (auto copied = copy(file); !copied) return copied.error();
      ++pulled.files;
      pulled.bytes += file.bytes;
    }
    (void)client_.ask({"WEIR", "SNAPSHOT", "END", id_});
    if (auto ended = finish(); !ended) return ended.error();
    return pulled;
  }

 private:
  Result<Value, std::string> ask(std::initializer_list<std::string_view> words) {
    if (stops_) return std::string("the server stops");
    auto reply = client_.ask(words);
    if (reply && reply->is_error()) return told(reply->text);
    return reply;
  }

  // Waits until the checkpoint is made. It begins later where another one is being made.
  Result<std::vector<ListedFile>, std::string> begin() {
    const int64_t end_ns = clock_.steady_ns() + kPatienceNs;
    while (true) {
      auto reply = client_.ask({"WEIR", "SNAPSHOT", "BEGIN", id_});
      if (!reply) return reply.error();
      const bool is_busy =
          reply->is_error() && reply->text.find("already in progress") != std::string::npos;
      if (reply->is_error() && !is_busy) return told(reply->text);
      if (is_made(*reply)) return read_snapshot_list(*reply);
      tell("waiting for another member's checkpoint");
      if (stops_) return std::string("the server stops");
      if (clock_.steady_ns() > end_ns) return std::string("its checkpoint takes too long");
      clock_.sleep_ns(kPullLookNs);
    }
  }

  Result<void, std::string> make_target() {
    Status status = storage::remove_tree(target_);
    for (const std::string_view folder : kDataFolders) {
      if (status.ok()) status = storage::make_directory(target_ + "/" + std::string(folder));
    }
    if (!status.ok()) return status.message();
    return {};
  }

  // All files together are not more than was listed.
  Result<void, std::string> look_for_room() const {
    std::error_code error;
    const uint64_t free = fs::space(target_, error).available;
    if (error || whole_ + kRoomBytes <= free) return {};
    return "its data has " + std::to_string(whole_ >> 20) + " MB, and " + plan_.directory +
           " has room for " + std::to_string((free - std::min(free, kRoomBytes)) >> 20);
  }

  Result<void, std::string> look_at_progress() {
    const int64_t now_ns = clock_.steady_ns();
    if (now_ns < progress_at_ns_ + kProgressNs) return {};
    if (copied_ < progress_bytes_ + kProgressBytes)
      return std::string("it gives less than 1 MB a minute");
    progress_at_ns_ = now_ns;
    progress_bytes_ = copied_;
    return {};
  }

  Result<void, std::string> copy(const ListedFile& file) {
    const std::string path = target_ + "/" + file.path;
    const storage::Descriptor to(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
    if (!to.ok()) return "cannot make " + path + ": " + std::strerror(errno);
    int empty = 0;
    for (uint64_t at = 0; at < file.bytes;) {
      auto piece = read_piece(file.path, at);
      if (!piece) return piece.error();
      if (auto goes_on = look_at_progress(); !goes_on) return goes_on.error();
      const std::string& bytes = piece->text;
      if (bytes.size() > file.bytes - at) return file.path + " has more bytes than were listed";
      if (bytes.empty() && ++empty > kEmptyPiecesMax) return file.path + " ends too early";
      if (bytes.empty()) clock_.sleep_ns(kPullLookNs / 10);
      for (size_t written = 0; written < bytes.size();) {
        const ssize_t put = ::write(to.get(), bytes.data() + written, bytes.size() - written);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return "cannot write " + path + ": " + std::strerror(errno);
        written += static_cast<size_t>(put);
      }
      at += bytes.size();
      copied_ += bytes.size();
      tell("copying another member's data: " + std::to_string(copied_ >> 20) + " of " +
           std::to_string(whole_ >> 20) + " MB");
    }
    return {};
  }

  void tell(const std::string& line) {
    const int64_t now_ns = clock_.steady_ns();
    if (!plan_.tell || now_ns < tell_at_ns_) return;
    tell_at_ns_ = now_ns + kTellNs;
    plan_.tell(line, kWithinNs);
  }

  Result<Value, std::string> read_piece(const std::string& path, uint64_t at) {
    auto reply = ask({"WEIR", "SNAPSHOT", "READ", id_, path, std::to_string(at), kPieceBytes});
    if (!reply) return reply.error();
    if (reply->elements.size() != 2) return std::string("it answers a piece that is none");
    uint64_t crc = 0;
    const std::string& digits = reply->elements[0].text;
    std::from_chars(digits.data(), digits.data() + digits.size(), crc, 16);
    if (crc != crc64_xz(reply->elements[1].text))
      return "a piece of " + path + " has another checksum than it was sent with";
    return std::move(reply->elements[1]);
  }

  // What was copied gets its name when it is whole, synced, of this shard, and can be.
  Result<void, std::string> finish() {
    std::string text;
    storage::DirectoryIdentity identity;
    const std::string path = target_ + "/" + std::string(kIdentityFile);
    Status status = storage::read_file(path, &text);
    if (status.ok()) status = storage::parse_identity(text, path, &identity);
    if (!status.ok()) return status.message();
    if (!identity.shard || identity.shard->name != plan_.shard)
      return "its data is not of shard " + plan_.shard;
    const auto tell_records = [this](uint64_t records) {
      tell("looking at what was copied: " + std::to_string(records) + " records");
    };
    if (auto good = check_copy(target_, tell_records, stops_); !good) return told(good.error());
    status = storage::sync_tree(target_);
    if (status.ok()) status = storage::remove_tree(incoming(plan_.directory));
    if (status.ok()) status = storage::rename_file(target_, incoming(plan_.directory));
    if (status.ok()) status = storage::sync_directory(plan_.directory);
    if (!status.ok()) return status.message();
    return {};
  }

  const PullPlan& plan_;
  const std::string id_;
  const std::string target_;
  RedisClient& client_;
  Clock& clock_;
  const std::atomic<bool>& stops_;
  uint64_t whole_ = 0;   // bytes
  uint64_t copied_ = 0;  // of them
  // When it was looked at last, and how much was copied then.
  int64_t progress_at_ns_ = 0;
  uint64_t progress_bytes_ = 0;
  int64_t tell_at_ns_ = 0;
};

Result<Pulled, std::string> pull_from(const PullPlan& plan, const Source& source,
                                      const std::string& id, Clock* clock,
                                      const std::atomic<bool>& stops) {
  auto client = connect_to_peer(plan.peers, source, kSilenceS);
  if (!client) return told(client.error());
  auto pulled = Copy(plan, id, client->get(), clock, &stops).make();
  if (!pulled) {
    (void)storage::remove_tree(incoming(plan.directory) + ".tmp");
    return "member " + source + ": " + pulled.error();
  }
  pulled->from = source;
  return pulled;
}

std::string hex_of(uint64_t number) {
  char digits[17] = {};
  std::to_chars(digits, digits + 16, number, 16);
  return digits;
}

}  // namespace

Result<Pulled, std::string> pull_snapshot(const PullPlan& plan, const std::vector<Source>& from,
                                          uint64_t random, Clock* clock,
                                          const std::atomic<bool>& stops) {
  std::string why = "no other member is there to copy the data of";
  for (const Source& source : from) {
    auto pulled = pull_from(plan, source, hex_of(random), clock, stops);
    if (pulled) return pulled;
    why = pulled.error();
  }
  return why;
}

bool holds_copy(const std::string& directory) { return storage::file_exists(incoming(directory)); }

std::string data_set_aside(const std::string& directory) { return directory + "/set-aside"; }

// WEIR comes last. What `incoming` has no more has been put in place already.
Result<void, std::string> install_snapshot(const std::string& directory) {
  if (!holds_copy(directory)) return {};
  const std::string from = incoming(directory);
  const std::string aside = data_set_aside(directory);
  Status status = storage::make_directory(aside);
  for (const std::string_view folder : kDataFolders) {
    const std::string name = "/" + std::string(folder);
    if (!status.ok() || !storage::file_exists(from + name)) continue;
    if (storage::file_exists(directory + name)) {
      status = storage::remove_tree(aside + name);
      if (status.ok()) status = storage::rename_file(directory + name, aside + name);
    }
    if (status.ok()) status = storage::rename_file(from + name, directory + name);
  }
  const std::string identity = "/" + std::string(kIdentityFile);
  if (status.ok() && storage::file_exists(from + identity))
    status = storage::rename_file(from + identity, directory + identity);
  if (status.ok()) status = storage::sync_directory(directory);
  if (status.ok()) status = storage::remove_tree(from);
  if (!status.ok()) return "what was copied cannot be put in place: " + status.message();
  return {};
}

void SnapshotPull::start(std::vector<Source> from, uint64_t random) {
  if (!worker_) worker_ = std::make_unique<storage::WorkerThread>();
  running_ = true;
  worker_->post([this, from = std::move(from), random] {
    auto ended = pull_snapshot(plan_, from, random, &clock_, stops_);
    const std::lock_guard lock(mutex_);
    ended_ = std::move(ended);
  });
}

std::optional<Result<Pulled, std::string>> SnapshotPull::take() {
  const std::lock_guard lock(mutex_);
  if (ended_) running_ = false;
  return std::exchange(ended_, std::nullopt);
}

}  // namespace weir::server
