#include "server/otlp/exporter.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>
#include <vector>

#include "base/time_units.h"
#include "server/core/metrics/metrics.h"
#include "server/os/log.h"
#include "server/otlp/metrics_message.h"
#include "server/otlp/spans_message.h"

namespace weir::server::otlp {

Exporter::Exporter(Server* server, Settings settings)
    : server_(*server), settings_(std::move(settings)), random_(Seeds::fresh().choices) {
  const int64_t now_ns = server_.clock().steady_ns();
  Report& report = server_.report();
  const auto begin = [now_ns](Stream* stream, const std::optional<HttpTarget>& target,
                              int64_t interval_ms, ExportState* state, std::string_view what) {
    if (!target) return;
    stream->sender = std::make_unique<Sender>(*target);
    stream->interval_ns = interval_ms * kNsPerMs;
    stream->due_ns = now_ns + stream->interval_ns;
    stream->state = state;
    stream->what = what;
    *state = ExportState::kStarting;
    log_info("{} go to {} every {} ms", what, target->shown(), interval_ms);
  };
  begin(&metrics_, settings_.metrics, settings_.metrics_interval_ms, &report.exports.metrics,
        "metrics");
  begin(&spans_, settings_.spans, settings_.spans_interval_ms, &report.exports.spans, "spans");
  if (spans_.sender) report.spans.want();
  if (settings_.exports()) name_instance();
}

// Several weirs of one service are told apart by host and port, which stay over a restart.
void Exporter::name_instance() {
  static constexpr std::string_view kInstance = "service.instance.id";
  settings_.resource.emplace_back("service.version", weir_version());
  const auto is_named = [](const auto& pair) { return pair.first == kInstance; };
  if (std::ranges::any_of(settings_.resource, is_named)) return;
  std::array<char, HOST_NAME_MAX + 1> host{};
  (void)gethostname(host.data(), host.size() - 1);
  const Config& config = server_.config();
  const int64_t port = config.port != 0 ? config.port : config.tls_port;
  settings_.resource.emplace_back(kInstance, std::string(host.data()) + ":" + std::to_string(port));
}

void Exporter::tick() {
  const int64_t now_ns = server_.clock().steady_ns();
  if (metrics_.sender && is_due(&metrics_, now_ns))
    metrics_.sender->send(now_ns, collected_metrics());
  if (spans_.sender && is_due(&spans_, now_ns)) send_spans();
}

bool Exporter::is_due(Stream* stream, int64_t now_ns) {
  if (const auto outcome = stream->sender->take_outcome(now_ns)) note(stream, *outcome);
  if (stream->sender->busy() || now_ns < stream->due_ns) return false;
  stream->due_ns = now_ns + stream->interval_ns;
  return true;
}

void Exporter::note(Stream* stream, const Result<void, std::string>& outcome) {
  ExportStatus& status = server_.report().exports;
  const ExportState now = outcome ? ExportState::kOk : ExportState::kFailing;
  const ExportState before = std::exchange(*stream->state, now);
  const size_t spans = std::exchange(stream->spans_on_way, 0);
  if (outcome) {
    ++status.requests;
    status.spans_sent += spans;
    if (status.metrics != ExportState::kFailing && status.spans != ExportState::kFailing)
      status.error.clear();
    if (before == ExportState::kFailing) log_info("{} are exported again", stream->what);
    return;
  }
  ++status.failed;
  server_.report().spans.note_dropped(spans);
  status.error = outcome.error();
  if (before != ExportState::kFailing)
    log_warning("{} cannot be exported, which is tried again and told no more: {}", stream->what,
                outcome.error());
}

Exporter::Make Exporter::collected_metrics() {
  const Period period{.begin_ns = server_.report().started_wall_ns,
                      .now_ns = server_.clock().wall_ns()};
  auto metrics = std::make_shared<const CollectedMetrics>(collect_metrics(server_));
  return [metrics = std::move(metrics), period, this] {
    return metrics_message(*metrics, settings_.resource, period);
  };
}

Exporter::Make Exporter::collected_spans(size_t* count) {
  auto spans = std::make_shared<const std::vector<Span>>(server_.report().spans.take());
  *count = spans->size();
  return [spans = std::move(spans), random = Random(random_.next()), this]() mutable {
    return spans_message(*spans, settings_.resource, &random);
  };
}

void Exporter::send_spans() {
  if (server_.report().spans.empty()) return;
  const Make make = collected_spans(&spans_.spans_on_way);
  spans_.sender->send(server_.clock().steady_ns(), make);
}

void Exporter::collect_last() {
  if (metrics_.sender) metrics_.last = collected_metrics();
  if (spans_.sender && !server_.report().spans.empty())
    spans_.last = collected_spans(&spans_.last_spans);
}

void Exporter::finish() {
  constexpr int64_t kStepNs = 5 * kNsPerMs;
  const int64_t end_ns = server_.clock().steady_ns() + kLastNs;
  while (!send_last() && server_.clock().steady_ns() < end_ns) server_.clock().sleep_ns(kStepNs);
}

bool Exporter::send_last() {
  const int64_t now_ns = server_.clock().steady_ns();
  bool is_done = true;
  for (Stream* const stream : {&metrics_, &spans_}) {
    if (!stream->sender) continue;
    if (const auto outcome = stream->sender->take_outcome(now_ns)) note(stream, *outcome);
    if (!stream->sender->busy() && stream->last) {
      stream->spans_on_way = std::exchange(stream->last_spans, 0);
      stream->sender->send(now_ns, std::exchange(stream->last, {}));
    }
    if (stream->sender->busy()) is_done = false;
  }
  return is_done;
}

}  // namespace weir::server::otlp
