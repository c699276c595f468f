#include "server/script/run/function_dump.h"

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

Result<std::vector<std::string>, std::string> parse_dump(std::string_view payload) {
  const auto body = rdb::open_any(payload);
  if (!body) return std::string(rdb::kNotWhole);
  std::deque<std::string> owned;
  rdb::Reader reader(*body, &owned);
  std::vector<std::string> codes;
  while (!reader.at_end()) {
    if (reader.byte() != kLibrary) return std::string("ERR given type is not a function");
    codes.emplace_back(reader.text());
    if (!reader.ok()) return std::string("ERR failed loading functions payload");
  }
  return codes;
}

}  // namespace weir::server::script
