// The words after weir-server --import.
#pragma once

#include <string>

#include "base/result.h"
#include "server/peer/redis_url.h"
#include "server/tls/tls_client.h"

namespace weir::server {

struct ImportOptions {
  RedisUrl source;
  RedisUrl target;       // the weir that is filled
  std::string match;     // "": every key
  bool replace = false;  // overwrite keys that weir has
  std::string progress;  // the file by which an import is resumed; "": none
  TlsClientOptions tls;  // of both
};

// Reads them, takes passwords from files or from the environment, and hides those of `argv`.
// argv[0] is the word --import.
Result<ImportOptions, std::string> read_import_options(int argc, char** argv);

// The options, for --help.
const char* import_usage();

}  // namespace weir::server
