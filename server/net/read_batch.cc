#include "server/net/read_batch.h"

#include <algorithm>
#include <utility>

namespace weir::server {

void ReadBatch::set_read_bytes_max(size_t bytes) {
  if (!is_empty() || bytes == read_bytes_max_) return;
  read_bytes_max_ = bytes;
  buffer_ = std::make_unique_for_overwrite<char[]>(kBytesMax + 2 * bytes);
}

void ReadBatch::add(Connection* connection, Interest can) {
  connections_[end_++] = {.connection = connection, .can = can};
  used_ += connection->read_ahead(room());
  is_expected_ = false;
}

void ReadBatch::expect(SessionHost* host) {
  if (end_ - begin_ < 2 || std::exchange(is_expected_, true)) return;
  for (const Poller::Ready& each : rest())
    host->expect_first(*each.connection->session(), each.connection->bytes_ahead());
  host->fetch_expected();
}

std::span<const Poller::Ready> ReadBatch::without_rest(std::span<Poller::Ready> ready) const {
  const auto is_left = [this](const Poller::Ready& each) {
    return std::any_of(rest().begin(), rest().end(), [&each](const Poller::Ready& left) {
      return left.connection == each.connection;
    });
  };
  if (is_empty()) return ready;
  const auto end = std::remove_if(ready.begin(), ready.end(), is_left);
  return ready.first(static_cast<size_t>(end - ready.begin()));
}

Poller::Ready ReadBatch::take() {
  const Poller::Ready taken = connections_[begin_++];
  if (is_empty()) begin_ = end_ = used_ = 0;
  return taken;
}

void ReadBatch::forget(const Connection* connection) {
  const auto begin = connections_.begin() + begin_;
  const auto end = connections_.begin() + end_;
  end_ -= static_cast<size_t>(end - std::remove_if(begin, end, [&](const Poller::Ready& each) {
                                return each.connection == connection;
                              }));
  if (is_empty()) begin_ = end_ = used_ = 0;
}

}  // namespace weir::server
