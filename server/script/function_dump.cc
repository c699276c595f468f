#include "server/script/function_dump.h"

#include <deque>

#include "server/rdb/envelope.h"
#include "server/rdb/reader.h"
#include "server/rdb/writer.h"

namespace weir::server::script {
namespace {

constexpr uint8_t kLibrary = 245;

}  // namespace

std::string dump_libraries(const std::vector<std::string_view>& codes) {
  std::string payload;
  for (const std::string_view code : codes) {
    payload.push_back(static_cast<char>(kLibrary));
    rdb::put_bytes(&payload, code);
  }
  rdb::seal(&payload);
  return payload;
}

std::optional<std::vector<std::string>> parse_dump(std::string_view payload, std::string* error) {
  const auto body = rdb::open_any(payload);
  if (!body) {
    *error = rdb::kNotWhole;
    return std::nullopt;
  }
  std::deque<std::string> owned;
  rdb::Reader reader(*body, &owned);
  std::vector<std::string> codes;
  while (!reader.at_end()) {
    if (reader.byte() != kLibrary) {
      *error = "ERR given type is not a function";
      return std::nullopt;
    }
    codes.emplace_back(reader.text());
    if (reader.ok()) continue;
    *error = "ERR failed loading functions payload";
    return std::nullopt;
  }
  return codes;
}

}  // namespace weir::server::script
