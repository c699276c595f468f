// What Prometheus is told: the metrics that INFO has, and what INFO cannot say:
// histograms, and the verdicts of each policy.
//
// How many metrics there are does not depend on keys. Policies are told apart by their names up to
// a number; what is beyond it is one sum under `other`.
#pragma once

#include <cstddef>
#include <string>

#include "server/report/metrics_text.h"

namespace weir::server {

class Server;

inline constexpr size_t kPolicyMetricsMax = 200;

// Answers the text of a scrape. It changes nothing and waits for nothing.
std::string metrics_text(Server& server, MetricsFormat format);

// Answers why the server is not ready to serve commands that write; empty if it is.
std::string unready_reason(Server& server);

}  // namespace weir::server
