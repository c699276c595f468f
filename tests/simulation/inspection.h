// What a disk holds, read by a keyspace of its own over a copy, so that the server under test and
// the disk stay as they are.
#pragma once

#include <array>
#include <map>
#include <string>

#include "storage/memory/memory_store.h"
#include "tests/simulation/model.h"
#include "tests/simulation/request_maker.h"

namespace weir::simulation {

struct Inspection {
  Model model;
  std::array<uint64_t, kDatabases> sizes{};
  int64_t instant_ns = 0;  // the newest that any turn used
};

Inspection inspect(const storage::MemoryDisk& disk);

// Of every limiter in the audited database, what is charged at an instant.
std::map<std::string, int64_t> audited_charges(const Model& model, int64_t now_ns);

}  // namespace weir::simulation
