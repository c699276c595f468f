// What one request asks of /v1/, and what it is answered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http/json.h"
#include "server/http/message.h"
#include "server/http/v1/endpoint.h"

namespace weir::server::http {

class Calls {
 public:
  using Words = std::vector<std::string>;

  // Tells whether there is such a path.
  static bool has(std::string_view path);

  // Reads what a path is asked for. REQUIRES: has(path).
  Result<Words, Fault> read(std::string_view path, std::string_view body);
  // The answer to the reply, which is in RESP3.
  Answer answer_to(std::string_view reply) const;

 private:
  const Endpoint* row_ = nullptr;
};

}  // namespace weir::server::http
