#include "server/types/random_picks.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace weir::server {
namespace {

// R. Floyd's algorithm for a sample (J. Bentley, Programming Pearls: A Sample of Brilliance, 1987):
// as many draws as wanted elements, whatever the size.
std::vector<size_t> distinct_ranks(Call& call, size_t size, size_t wanted) {
  std::unordered_set<size_t> seen;
  std::vector<size_t> ranks;
  for (size_t last = size - wanted; last < size; ++last) {
    const size_t drawn = call.host.random() % (last + 1);
    ranks.push_back(seen.insert(drawn).second ? drawn : last);
    seen.insert(ranks.back());
  }
  return ranks;
}

}  // namespace

storage::Element pick(Call& call, const Collection& collection) {
  return collection.elements().at(call.host.random() % collection.size());
}

Result<size_t, ErrorReplied> picks_of(Call& call, const Collection& collection, int64_t count) {
  if (!collection.exists()) return 0;
  if (count >= 0) return std::min(static_cast<uint64_t>(count), uint64_t{collection.size()});
  if (count >= -kRepeatedPicksMax) return static_cast<size_t>(-count);
  return reply_error(call, "ERR value is out of range");
}

void pick_some(Call& call, const Collection& collection, int64_t count,
               const std::function<void(const storage::Element&)>& visit) {
  const size_t size = collection.size();
  if (size == 0) return;
  if (count < 0) {
    call.work().charge_entries(static_cast<size_t>(-count));
    for (int64_t i = count; i < 0; ++i) visit(pick(call, collection));
    return;
  }
  if (static_cast<uint64_t>(count) >= size) {
    collection.walk([&visit](const storage::Element& element) {
      visit(element);
      return true;
    });
    return;
  }
  call.work().charge_entries(static_cast<size_t>(count));
  for (const size_t rank : distinct_ranks(call, size, static_cast<size_t>(count)))
    visit(collection.elements().at(rank));
}

}  // namespace weir::server
