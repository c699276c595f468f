// weir-server --check: is a data directory, or a checkpoint, whole, and what is in it?
//
// Four looks, each of which changes nothing:
//  1. the identity, the databases' manifests and the log, as an opening judges them;
//  2. every block of every table against its checksum;
//  3. every record, as of the end of the log, by what decodes it (core/disk/contents.h);
//  4. an opening of the whole server on it, short of listening: policies, scripts, libraries.
// A directory that a server uses is refused, since its files change; one of its checkpoints is not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "server/command/command_table.h"
#include "server/offline/progress.h"

namespace weir::server {

struct CheckReport {
  std::vector<std::string> lines;   // what is there; empty if nothing could be opened
  std::vector<std::string> damage;  // what is wrong, each with a name; empty: all is well
  std::vector<std::string> notes;   // what a start will do about an end that a crash has left
};

CheckReport check_data(const std::string& directory, std::span<const Commands> lists, Clock* clock,
                       Progress* progress);

}  // namespace weir::server
