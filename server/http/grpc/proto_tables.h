// What is served over gRPC, as a client without files of its own is told of it.
#pragma once

#include <vector>

#include "server/http/grpc/proto_file.h"

namespace weir::server::grpc {

// All files, each after those that it imports.
const std::vector<ProtoFile>& proto_files();

}  // namespace weir::server::grpc
