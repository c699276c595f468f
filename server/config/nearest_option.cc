// What whoever mistypes an option probably meant.
#include <algorithm>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "server/config/config_options.h"

namespace weir::server {
namespace {

// Counts the insertions, deletions, replacements and swaps of neighbours that make `a` into `b`:
// the distance of Damerau (1964) and Levenshtein (1966), in which nothing is changed twice.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({replaced, cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

const Option* nearest_option(std::string_view name) {
  constexpr size_t kNameMax = 64;
  if (name.size() > kNameMax) return nullptr;
  std::string wanted = to_lower(name);
  const Option* nearest = nullptr;
  size_t distance_max = name.size() < 6 ? 1 : name.size() / 4 + 1;
  for (const Option& option : config_options()) {
    for (std::string_view candidate : {option.name, option.alias}) {
      size_t distance = edit_distance(wanted, candidate);
      if (candidate.empty() || distance > distance_max) continue;
      nearest = &option;
      distance_max = distance - 1;
      if (distance == 0) return nearest;
    }
  }
  return nearest;
}

}  // namespace weir::server
