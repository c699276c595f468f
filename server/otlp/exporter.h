// Sends metrics and spans to a collector, from time to time.
//
// The loop only collects: it reads the numbers, as for a scrape, and takes the spans. A thread for
// each of the two encodes them, looks the collector's name up, and waits for it. Asio on the loop
// would need no thread, but it would encode there, it would need a look-up and a TLS client that do
// not wait, and both are here for clients that do (peer/). What is given up are two threads, which
// are there only if something is sent.
//
// Invariants
// 1. tick() waits for nothing. There is one request of a kind at a time, so what a collector that
//    is away costs is one set of metrics and Spans::kMax spans, twice.
// 2. A request that fails is not sent again. The next metrics tell all that it told, and its spans
//    are counted as dropped. What is given up are the spans of that time.
// 3. A collector that fails is told of in the log once, and once when it works again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/time_units.h"
#include "server/core/run/server.h"
#include "server/os/random.h"
#include "server/otlp/sender.h"
#include "server/otlp/settings.h"

namespace weir::server::otlp {

inline constexpr int64_t kLastNs = kNsPerS;

class Exporter {
 public:
  // Sends nothing, and makes no thread, if the settings name no endpoint.
  Exporter(Server* server, Settings settings);
  Exporter(const Exporter&) = delete;

  // Sends what is due and notes what has become of what was sent. Call it some times a second.
  void tick();

  // Collects what there is, for the end of the process; the server may be closed afterwards.
  void collect_last();
  // Sends that, after what is on its way, and waits until it is known what has become of it, for
  // kLastNs at most. REQUIRES: tick() is called no more.
  void finish();

 private:
  using Make = std::function<std::string()>;

  // One of the two kinds.
  struct Stream {
    std::unique_ptr<Sender> sender;  // null: the kind is not sent
    int64_t interval_ns = 0;
    int64_t due_ns = 0;
    ExportState* state = nullptr;
    std::string_view what;    // they are
    size_t spans_on_way = 0;  // in the request that is being made
    Make last = {};           // makes what collect_last() has found
    size_t last_spans = 0;    // in it
  };

  bool is_due(Stream* stream, int64_t now_ns);
  void note(Stream* stream, const Result<void, std::string>& outcome);
  Make collected_metrics();
  Make collected_spans(size_t* count);
  void send_spans();
  bool send_last();  // true: all is done
  void name_instance();

  Server& server_;
  Settings settings_;
  Random random_;
  Stream metrics_;
  Stream spans_;
};

}  // namespace weir::server::otlp
