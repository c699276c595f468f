#include "server/net/connection.h"

#include <algorithm>
#include <utility>

#include "base/heap_bytes.h"

namespace weir::server {
namespace {

// While more than this is unsent, no more is read from the peer.
constexpr size_t kUnsentMax = 1 << 20;
// With more than this received, no more is read from a peer that a pause holds up.
constexpr size_t kHeldInputMax = 64 << 10;

}  // namespace

void Connection::open(std::unique_ptr<ByteStream> stream, Session* session, ConnectionOwner* owner,
                      Watcher* watcher, std::unique_ptr<ProtocolAdapter> adapter) {
  std::unique_ptr<Connection> made(
      new Connection(std::move(stream), session, owner, watcher, std::move(adapter)));
  Connection* connection = made.get();
  connection->self_ = std::move(made);
  session->set_transport(connection);
  session->count_bytes();
  connection->count_adapter();
  const bool at_once = connection->stream_->holds_input();
  if (!connection->watch({.read = true, .at_once = at_once})) connection->close();
}

void Connection::count_adapter() {
  if (adapter_ == nullptr) [[likely]]
    return;
  session_->kept().set(Kept::kProtocolAdapter, adapter_->memory_bytes());
  session_->count_bytes();
}

size_t Connection::memory_bytes() const {
  return block_bytes(sizeof(*this)) + stream_->memory_bytes();
}

// Of a peer whose request CLIENT PAUSE holds up a little is read all the same: so it is seen when
// it leaves.
bool Connection::takes_more() const {
  if (adapter_ != nullptr) [[unlikely]]
    return adapter_->takes_more() && !session_->closing();
  if (session_->closing() || session_->replies().unsent_bytes() >= kUnsentMax) return false;
  if (session_->hold() == Hold::kPause) return session_->input().size() < kHeldInputMax;
  return !session_->runnable();
}

inline bool Connection::has_more() const { return adapter_ != nullptr && adapter_->has_more(); }

inline std::string_view Connection::output() const {
  if (adapter_ != nullptr) [[unlikely]]
    return adapter_->output();
  return session_->output();
}

inline void Connection::mark_sent(size_t bytes) {
  if (adapter_ != nullptr) [[unlikely]]
    return adapter_->mark_sent(bytes);
  session_->mark_sent(bytes);
}

bool Connection::watch(Interest interest) {
  if (interest == interest_) return true;
  return watcher_->watch(stream_->descriptor(), std::exchange(interest_, interest), interest, this);
}

void Connection::on_ready(Interest can, std::span<char> buffer, size_t commands_max) {
  if (self_ == nullptr) return;  // the connection has ended
  const bool crossed = recv_wants_write_ || send_wants_read_;
  const bool reads = !buffer.empty() && (crossed ? takes_more() : can.read);
  const bool received = (ahead_ || reads) && receive(buffer, commands_max);
  if (!received) flush();  // else the turn's end does
}

size_t Connection::read_ahead(std::span<char> buffer) {
  const Transfer transfer = stream_->recv(buffer);
  ahead_ = {.transfer = transfer, .bytes = buffer.data()};
  return transfer.bytes;
}

inline void Connection::hand_over(std::string_view bytes, size_t commands_max) {
  if (adapter_ != nullptr) [[unlikely]]
    return adapter_->receive(bytes);
  session_->receive(bytes, commands_max);
}

bool Connection::receive(std::span<char> buffer, size_t commands_max) {
  if (adapter_ != nullptr) [[unlikely]] {
    if (adapter_->has_more()) {
      adapter_->receive({});
      return true;
    }
    buffer = buffer.first(std::min(buffer.size(), adapter_->receive_bytes_max()));
  }
  if (!ahead_) read_ahead(buffer);
  const auto [transfer, bytes] = *std::exchange(ahead_, std::nullopt);
  recv_wants_write_ = transfer.result == Transfer::Result::kWantsWrite;
  if (transfer.result == Transfer::Result::kMoved) {
    owner_->note_received(transfer.bytes);
    hand_over({bytes, transfer.bytes}, commands_max);
    return true;
  }
  if (transfer.result == Transfer::Result::kEnded) session_->close_after_reply();
  if (transfer.result == Transfer::Result::kBroken) session_->kill();
  return false;
}

bool Connection::send_released() {
  size_t left = std::max(owner_->send_bytes_max(), bytes_to_repeat_);
  while (left > 0) {
    const std::string_view next = output().substr(0, left);
    if (next.empty()) break;
    const Transfer transfer = stream_->send(next);
    const bool moved = transfer.result == Transfer::Result::kMoved;
    send_wants_read_ = transfer.result == Transfer::Result::kWantsRead;
    bytes_to_repeat_ = moved ? 0 : next.size();
    if (!moved) return transfer.result != Transfer::Result::kBroken;
    mark_sent(transfer.bytes);
    left -= transfer.bytes;
  }
  return true;
}

void Connection::flush() {
  if (self_ == nullptr) return;
  const bool is_whole = !session_->dead() && send_released();
  count_adapter();
  if (session_->dead() || !is_whole) return close();
  if (session_->closing() && session_->replies().unsent_bytes() == 0 && output().empty())
    return close();
  if (!wait_for_more()) close();
}

bool Connection::wait_for_more() {
  const bool receives = takes_more();
  const bool is_unsent = adapter_ != nullptr || session_->replies().unsent_bytes() > 0;
  const bool sends = is_unsent && !output().empty();
  return watch({.read = (receives && !recv_wants_write_) || (sends && send_wants_read_),
                .write = (sends && !send_wants_read_) || (receives && recv_wants_write_),
                .at_once = receives && (stream_->holds_input() || has_more())});
}

void Connection::close() {
  watch({});
  owner_->on_closed(std::move(self_));
}

}  // namespace weir::server
