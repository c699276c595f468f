// An append or a read that somebody waits for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "storage/replication/shared_log.h"

namespace weir::storage::postgres {

struct AppendRequest {
  std::optional<replication::Head> expected;
  std::string record;  // until it is sent
  uint64_t crc = 0;
  size_t bytes = 0;
  std::function<void(replication::Appended)> answer;
};

struct ReadRequest {
  replication::Head after;
  size_t bytes_max = 0;
  bool is_second = false;  // what was read first was damaged
  std::function<void(replication::Read)> answer;
};

struct Request {
  std::variant<AppendRequest, ReadRequest> what;
  // When it is given up. Nothing until the backend is told the time again.
  std::optional<int64_t> deadline_ns;

  AppendRequest* append() { return std::get_if<AppendRequest>(&what); }
  ReadRequest* read() { return std::get_if<ReadRequest>(&what); }
};

}  // namespace weir::storage::postgres
