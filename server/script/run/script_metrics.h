// The metrics of scripts and functions.
#pragma once

#include "server/report/metrics.h"

namespace weir::server::script {

class Functions;
class Scripts;

void write_metrics(const Scripts& scripts, Functions& functions, MetricWriter& out);

}  // namespace weir::server::script
