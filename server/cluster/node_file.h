// The file NODE in the data directory: which node of a cluster the directory belongs to, and what
// it has seen of the cluster's topology.
//
//     <40 hexadecimal digits>        the node's id
//     name NAME                      its name in the topology; no line: it has had none
//     topology EPOCH DIGEST          the newest topology it has served; no line: none
//
// It is a file of its own, outside the store, so that a checkpoint has none: a copy of the data is
// not the same node. DO NOT CHANGE: storage/FORMAT.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::server {

struct NodeFile {
  std::string id;      // 40 lower-case digits
  std::string name;    // "": none
  int64_t epoch = 0;   // 0: none
  std::string digest;  // 16 digits, if there is an epoch
  bool operator==(const NodeFile&) const = default;
};

std::string node_file_text(const NodeFile& node);
// Refuses whatever node_file_text() does not write.
Result<NodeFile, std::string> parse_node_file(std::string_view text);

}  // namespace weir::server
