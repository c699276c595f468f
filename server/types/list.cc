#include "server/types/list.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weir::server {
namespace {

using storage::Element;
using storage::Elements;

constexpr uint64_t kMiddle = uint64_t{1} << 63;
constexpr uint64_t kLastPlace = std::numeric_limits<uint64_t>::max();
// A row may be moved apart if its gaps then are this many times as wide as it has elements.
constexpr uint64_t kRoom = 2;

uint64_t mixed(uint64_t number) {
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27) * 0x94d049bb133111eb;
  return number ^ number >> 31;
}

bool add_as(Elements* elements, uint64_t number, uint64_t place, std::string_view value) {
  std::string member;
  storage::put_u64_be(&member, number);
  return elements->add(member, place, value);
}

// The state of the list is mixed in, so that one place draws new numbers each time.
void add_scattered(Elements* elements, uint64_t place, std::string_view value) {
  uint64_t number = mixed(place ^ mixed(elements->size()));
  if (!elements->empty()) {
    number = mixed(number ^ elements->at(0).order);
    number = mixed(number ^ elements->at(elements->size() - 1).order);
  }
  while (!add_as(elements, number, place, value)) ++number;
}

struct Row {
  size_t first_rank;
  size_t count;
};

// Places the elements of a row `gap` apart after `lowest`.
void spread(Elements* elements, const Row& row, uint64_t lowest, uint64_t gap) {
  std::vector<std::pair<std::string, std::string>> moved;
  moved.reserve(row.count);
  elements->walk(row.first_rank, [&](const Element& element) {
    moved.emplace_back(element.member, element.value);
    return moved.size() < row.count;
  });
  for (const auto& [member, value] : moved) elements->put(member, lowest += gap, value);
}

void centre(Elements* elements) {
  const size_t count = elements->size();
  spread(elements, {0, count}, kMiddle - (count / 2 + 1) * kPlaceStep, kPlaceStep);
}

// Widens the gap before a rank that is neither the first nor past the last.
void make_room(Elements* elements, size_t rank) {
  const uint64_t lowest = elements->at(rank - 1).order;
  for (size_t count = 1; rank + count < elements->size(); count *= 2) {
    const uint64_t gap = (elements->at(rank + count).order - lowest) / (count + 1);
    if (gap >= kRoom * count) return spread(elements, {rank, count}, lowest, gap);
  }
  const size_t count = elements->size() - rank;
  if (kLastPlace - lowest <= (count + 1) * kPlaceStep) return centre(elements);
  spread(elements, {rank, count}, lowest, kPlaceStep);
}

uint64_t place_beyond_first(Elements* elements) {
  if (elements->at(0).order <= kPlaceStep) centre(elements);
  return elements->at(0).order - kPlaceStep;
}

uint64_t place_beyond_last(Elements* elements) {
  const size_t last = elements->size() - 1;
  if (kLastPlace - elements->at(last).order <= kPlaceStep) centre(elements);
  return elements->at(last).order + kPlaceStep;
}

uint64_t place_at(Elements* elements, size_t rank) {
  if (elements->empty()) return kMiddle;
  if (rank == 0) return place_beyond_first(elements);
  if (rank == elements->size()) return place_beyond_last(elements);
  const auto gap = [&] { return elements->at(rank).order - elements->at(rank - 1).order; };
  if (gap() < 2) make_room(elements, rank);
  return elements->at(rank - 1).order + gap() / 2;
}

}  // namespace

void push(Collection* list, End end, std::string_view value) {
  Elements elements = list->create_if_absent();
  insert_at(list, end == End::kLeft ? 0 : elements.size(), value);
}

std::string pop(Collection* list, End end) {
  Elements elements = list->elements();
  const Element element = elements.at(end == End::kLeft ? 0 : elements.size() - 1);
  std::string value(element.value);
  elements.erase(element.member);
  return value;
}

void insert_at(Collection* list, size_t rank, std::string_view value) {
  Elements elements = list->elements();
  const bool at_end = rank == 0 || rank == elements.size();
  const uint64_t place = place_at(&elements, rank);
  // An element that was born at this place may have moved since, and keeps the member.
  if (!at_end || !add_as(&elements, place, place, value)) add_scattered(&elements, place, value);
}

std::optional<size_t> rank_of_index(const Collection& list, int64_t index) {
  const auto size = static_cast<int64_t>(list.size());
  const int64_t rank = index < 0 ? index + size : index;
  if (rank < 0 || rank >= size) return std::nullopt;
  return static_cast<size_t>(rank);
}

Stretch stretch_of(const Collection& list, const Indices& indices) {
  const auto size = static_cast<int64_t>(list.size());
  const auto from_front = [size](int64_t index) { return index < 0 ? index + size : index; };
  const int64_t first = std::max<int64_t>(from_front(indices.first), 0);
  const int64_t last = std::min(from_front(indices.last), size - 1);
  if (first > last) return {};
  return {static_cast<size_t>(first), static_cast<size_t>(last - first + 1)};
}

}  // namespace weir::server
