#include "server/http/grpc/field_items.h"

#include <algorithm>

#include "resp/numbers.h"

namespace weir::server::grpc {
namespace {

size_t end_of_name(std::string_view item) {
  const size_t end = item.find('"', 1);
  return end == item.npos ? item.size() : end + 1;
}

}  // namespace

std::string_view cut_items(size_t count, std::string_view* list) {
  constexpr std::string_view kBetween = ", ";
  const std::string_view whole = *list;
  size_t cut_bytes = 0;
  for (size_t i = 0; i < count && !list->empty(); ++i) {
    const size_t end = std::min(list->find(kBetween, end_of_name(*list)), list->size());
    cut_bytes = whole.size() - list->size() + end;
    list->remove_prefix(std::min(end + kBetween.size(), list->size()));
  }
  return whole.substr(0, cut_bytes);
}

int64_t item_parameter(std::string_view list, size_t place, std::string_view name) {
  cut_items(place, &list);
  std::string_view item = cut_items(1, &list);
  item.remove_prefix(end_of_name(item));
  const size_t at = item.find(name);
  if (at == item.npos) return -1;
  item.remove_prefix(at + name.size());
  return resp::parse_int64(item.substr(0, item.find(';'))).value_or(-1);
}

}  // namespace weir::server::grpc
