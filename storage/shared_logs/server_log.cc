#include "storage/shared_logs/server_log.h"

#include <algorithm>
#include <utility>

#include "base/crc64.h"

namespace weir::storage {

using replication::Appended;
using replication::Head;
using replication::LogTrouble;
using replication::Read;

namespace {

constexpr size_t kBytesOfASecond = 4 << 20;

}  // namespace

int64_t ServerLog::transfer_ns(size_t bytes) {
  return static_cast<int64_t>(bytes / kBytesOfASecond) * kNsPerS;
}

void ServerLog::append(std::optional<Head> expected, std::string record,
                       std::function<void(Appended)> answer) {
  const uint64_t crc = crc64_xz(record);
  const size_t bytes = record.size();
  LogRequest request{.what = AppendRequest{.expected = expected,
                                           .record = std::move(record),
                                           .crc = crc,
                                           .answer = std::move(answer)},
                     .allowed_ns = allowed_ns(bytes),
                     .deadline_ns = std::nullopt};
  if (bytes > append_bytes_max_) return requests_.give_up(std::move(request), false);
  enqueue(std::move(request));
}

void ServerLog::read(Head after, size_t bytes_max, std::function<void(Read)> answer) {
  enqueue({.what = ReadRequest{.after = after,
                               .bytes_max = bytes_max,
                               .is_second = false,
                               .answer = std::move(answer)},
           .allowed_ns = allowed_ns(0),
           .deadline_ns = std::nullopt});
}

LogTrouble ServerLog::trouble() const {
  if (!troubles_.connection.text.empty()) return troubles_.connection;
  for (const std::string* text : {&troubles_.append, &troubles_.read})
    if (!text->empty()) return {.text = *text, .needs_person = false};
  return own_trouble();
}

void ServerLog::tick(int64_t boot_ns) {
  now_ns_ = boot_ns;
  note_all_times();
  work();
  if (requests_.expire(now_ns_)) waited_in_vain();
  requests_.deliver();
  note_all_times();
}

int64_t ServerLog::next_deadline() const {
  return std::min(requests_.next_deadline(), own_deadline());
}

void ServerLog::enqueue(LogRequest request) {
  requests_.push(std::move(request));
  send_waiting();
}

// What was asked since the last tick began at an unknown time: it counts from now on.
void ServerLog::note_all_times() {
  note_time();
  requests_.note_time(now_ns_);
}

}  // namespace weir::storage
