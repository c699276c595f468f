#include "server/core/clients/sessions_by_size.h"

#include <algorithm>
#include <bit>

#include "server/session/session.h"

namespace weir::server {
namespace {

constexpr size_t kLooksMax = 64;

}  // namespace

void SessionsBySize::place(Session* session) {
  const size_t bytes = session->kept().counted;
  const bool belongs = bytes > 0 && !session->client().switches().no_evict;
  KeptBytes::Place& place = session->kept().place;
  const auto list =
      belongs ? static_cast<uint8_t>(std::bit_width(bytes) - 1) : KeptBytes::Place::kNowhere;
  if (list == place.list) return;
  take_out(session);
  if (!belongs) return;
  place = {.list = list, .at = lists_[list].size()};
  lists_[list].push_back(session);
  filled_ |= uint64_t{1} << list;
}

void SessionsBySize::take_out(Session* session) {
  KeptBytes::Place& place = session->kept().place;
  if (place.list == KeptBytes::Place::kNowhere) return;
  std::vector<Session*>& list = lists_[place.list];
  list[place.at] = list.back();
  list[place.at]->kept().place.at = place.at;
  list.pop_back();
  if (list.empty()) filled_ &= ~(uint64_t{1} << place.list);
  place = {};
}

Session* SessionsBySize::largest() const {
  if (filled_ == 0) return nullptr;
  const std::vector<Session*>& list = lists_[static_cast<size_t>(std::bit_width(filled_) - 1)];
  const auto end = list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), kLooksMax));
  return *std::max_element(list.begin(), end, [](const Session* a, const Session* b) {
    return a->kept().counted < b->kept().counted;
  });
}

}  // namespace weir::server
