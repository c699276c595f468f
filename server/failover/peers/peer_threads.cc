#include "server/failover/peers/peer_threads.h"

#include <utility>
#include <vector>

#include "base/check.h"

namespace weir::server {

PeerThreads::~PeerThreads() {
  for (const auto& [name, lane] : lanes_) lane->cut_off.cut();
  for (const auto& [name, lane] : lanes_) lane->worker.stop();
}

void PeerThreads::hang_up(Lane* lane) {
  lane->cut_off.let_go();
  lane->client.reset();
}

Peers::Answer PeerThreads::ask_once(const PeerQuestion& question, Lane* lane) const {
  if (lane->client != nullptr && lane->address != question.address) hang_up(lane);
  if (lane->client == nullptr) {
    lane->address = question.address;
    auto made = connect_to_peer(access_, question.address, patience_,
                                [lane](int descriptor) { return lane->cut_off.hold(descriptor); });
    if (!made) {
      lane->cut_off.let_go();
      return made.error();
    }
    lane->client = std::move(*made);
  }
  const std::vector<std::string_view> words(question.words.begin(), question.words.end());
  lane->client->add(words);
  auto replies = lane->client->exchange();
  if (!replies) {
    hang_up(lane);
    return replies.error();
  }
  if (replies->front().is_error()) return question.address + ": " + replies->front().text;
  return std::move(replies->front());
}

// A connection that was kept may have been closed at the other end meanwhile.
Peers::Answer PeerThreads::answer_to(const PeerQuestion& question, Lane* lane) const {
  const bool was_kept = lane->client != nullptr && lane->address == question.address;
  const int64_t begin_ns = clock_.steady_ns();
  Answer answer = ask_once(question, lane);
  const bool was_quick = clock_.steady_ns() - begin_ns < patience_.silence_ms * kNsPerMs / 2;
  if (!answer && was_kept && was_quick && lane->client == nullptr) return ask_once(question, lane);
  return answer;
}

void PeerThreads::ask(PeerQuestion question, Then then, int64_t now_ns) {
  auto& lane = lanes_[question.lane];
  if (lane == nullptr) lane = std::make_unique<Lane>();
  WEIR_REQUIRE(!lane->is_asking);
  lane->is_asking = true;
  lane->asked_at_ns = now_ns;
  lane->then = std::move(then);
  lane->cut_off.mend();
  ++asking_;
  lane->worker.post([this, at = lane.get(), question = std::move(question)] {
    Answer answer = answer_to(question, at);
    const std::lock_guard lock(at->mutex);
    at->answer = std::move(answer);
  });
}

void PeerThreads::deliver(int64_t now_ns) {
  if (asking_ == 0) return;
  for (const auto& [name, lane] : lanes_) {
    if (!lane->is_asking) continue;
    std::optional<Answer> answer;
    {
      const std::lock_guard lock(lane->mutex);
      answer = std::exchange(lane->answer, std::nullopt);
    }
    if (answer) {
      lane->is_asking = false;
      --asking_;
      std::exchange(lane->then, nullptr)(*answer);
    } else if (now_ns - lane->asked_at_ns > kHangNs) {
      lane->cut_off.cut();
    }
  }
}

}  // namespace weir::server
