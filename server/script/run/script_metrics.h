// The metrics of scripts and functions.
#pragma once

#include <cstddef>

#include "server/report/metrics.h"

namespace weir::server::script {

class Functions;
class Scripts;

// Of both Lua states, scripts and libraries.
size_t memory_bytes(const Scripts& scripts, Functions& functions);
void write_metrics(const Scripts& scripts, Functions& functions, MetricWriter& out);

}  // namespace weir::server::script
