// Draws a picture for each algorithm. The decisions are the real algorithms'. `draw_algorithms
// FOLDER` writes FOLDER/<name>.svg.
//
// A meter is shown the same bursty load as every other: above, each request, admitted (a bar) or
// denied (a dot); below, the permits admitted in all, against what was asked for and the rate.
// LEAKY is shown as the queue that RL.ACQUIRE makes of it: what arrives against what leaves. WARMUP
// is shown under a load that never ends while it lasts, so that its speed can be seen.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "tests/algorithms/map_entries.h"
#include "tools/docs/svg.h"

namespace weir::docs {
namespace {

using namespace weir::algorithms;

constexpr int64_t kStartNs = 1'700'000'000 * kNsPerS;  // a whole number of minutes, and of 20 s

enum class Shown { kMeter, kQueue, kSpeed };

struct Picture {
  const char* file;
  const char* limit;
  Shown shown = Shown::kMeter;
};
// Meters and the queue have the same rate: 10 permits in 10 seconds.
constexpr Picture kPictures[] = {
    {"gcra", "GCRA 10/10s"},
    {"tokenbucket", "TOKENBUCKET 10/10s"},
    {"tokenbucket-interval", "TOKENBUCKET 10/10s REFILL INTERVAL"},
    {"leaky", "LEAKY 10/10s CAPACITY 5", Shown::kQueue},
    {"fixed", "FIXED 10/10s"},
    {"fixed-epoch", "FIXED 10/10s ALIGN EPOCH"},
    {"slidinglog", "SLIDINGLOG 10/10s"},
    {"slidingwindow", "SLIDINGWINDOW 10/10s BUCKETS 5 PERBUCKET 4"},
    {"slidingcounter", "SLIDINGCOUNTER 10/10s"},
    {"bursty", "BURSTY 10/10s MAXBURST 5s"},
    {"warmup", "WARMUP 20/10s OVER 15s", Shown::kSpeed},
    {"concurrency", "CONCURRENCY 10 LEASE 10s"},
};

// Quiet, a burst over a window's boundary, a steady stream above the rate, quiet, a burst.
std::vector<int64_t> load() {
  std::vector<int64_t> instants_ms;
  const auto add = [&](int64_t from_ms, int64_t to_ms, int64_t every_ms) {
    for (int64_t at = from_ms; at < to_ms; at += every_ms) instants_ms.push_back(at);
  };
  add(3'000, 8'000, 2'000);
  add(8'500, 11'500, 100);
  add(20'000, 38'000, 500);
  add(52'000, 54'000, 80);
  return instants_ms;
}

struct Outcome {
  double at_ms;
  bool admitted;
  double leaves_ms;  // of what is admitted to a queue
};

int64_t instant_ns(double at_ms) {
  return kStartNs + static_cast<int64_t>(at_ms * static_cast<double>(kNsPerMs));
}

std::vector<Outcome> decide_load(const Limit& limit) {
  State state = fresh_state(limit, kStartNs);
  algorithms::testing::MapEntries entries;
  std::vector<Outcome> outcomes;
  int64_t lease = 0;
  for (const int64_t at_ms : load()) {
    const auto at = static_cast<double>(at_ms);
    const auto verdict = decide(limit, state,
                                {.now_ns = instant_ns(at),
                                 .entries = limit.algorithm->uses_entries ? &entries : nullptr,
                                 .lease_id = ++lease});
    outcomes.push_back({at, verdict.allowed, at});
  }
  return outcomes;
}

std::vector<Outcome> queue_load(const Limit& limit) {
  State state = fresh_state(limit, kStartNs);
  std::vector<Outcome> outcomes;
  for (const int64_t at_ms : load()) {
    const auto at = static_cast<double>(at_ms);
    const auto booking = reserve(limit, state, {.now_ns = instant_ns(at), .cost = 1});
    const double wait_ms = static_cast<double>(booking.wait_ns) / static_cast<double>(kNsPerMs);
    outcomes.push_back({at, booking.granted, at + wait_ms});
  }
  return outcomes;
}

// The instants at which permits come to a client that always asks for the next one.
std::vector<double> grants_under_pressure(const Limit& limit, State* state, double from_ms,
                                          double to_ms) {
  std::vector<double> grants;
  for (double at_ms = from_ms; at_ms < to_ms;) {
    const auto verdict = decide(limit, *state, {.now_ns = instant_ns(at_ms)});
    if (verdict.allowed) {
      grants.push_back(at_ms);
    } else {
      at_ms += static_cast<double>(verdict.retry_after_ns) / static_cast<double>(kNsPerMs);
    }
  }
  return grants;
}

// A curve that counts: it steps up by one at each instant.
std::string count_up(std::vector<double> instants_ms, double most) {
  std::sort(instants_ms.begin(), instants_ms.end());
  std::string points;
  double count = 0;
  const auto y = [&] { return kBottom - kGraph * count / most; };
  add_point(&points, kLeft, y());
  for (const double at_ms : instants_ms) {
    add_point(&points, x_of(at_ms), y());
    ++count;
    add_point(&points, x_of(at_ms), y());
  }
  add_point(&points, kLeft + kWidth, y());
  return points;
}

void tick_count(Svg& svg, double count, double most) {
  svg.tick(kBottom - kGraph * count / most, std::to_string(static_cast<int>(count)));
}

void draw_meter(Svg& svg, const Limit& limit) {
  std::vector<LegendEntry> legend = {{"a", "admitted"},
                                     {"d", "denied"},
                                     {"sum", "permits admitted in all"},
                                     {"offered", "asked for in all"}};
  if (limit.algorithm->has_rate) legend.push_back({"rate", "the rate: 1 permit a second"});
  svg.legend(legend);
  std::vector<double> asked, admitted;
  for (const Outcome& each : decide_load(limit)) {
    asked.push_back(each.at_ms);
    if (each.admitted) admitted.push_back(each.at_ms);
    each.admitted ? svg.bar("a", each.at_ms) : svg.dot(each.at_ms);
  }
  const auto most = static_cast<double>(asked.size());
  std::string rate;
  add_point(&rate, kLeft, kBottom);
  add_point(&rate, kLeft + kWidth, kBottom - kGraph * static_cast<double>(kPictureSeconds) / most);
  svg.polyline("offered", count_up(asked, most));
  if (limit.algorithm->has_rate) svg.polyline("rate", rate);
  svg.polyline("sum", count_up(admitted, most));
  svg.axes("requests", "permits");
  tick_count(svg, most, most);
  tick_count(svg, static_cast<double>(admitted.size()), most);
  tick_count(svg, 0, most);
}

void draw_queue(Svg& svg, const Limit& limit) {
  svg.legend({{"arrival", "arrives"},
              {"a", "leaves"},
              {"d", "denied: full"},
              {"in", "arrived in all"},
              {"sum", "left in all"},
              {"wait", "in the queue"}});
  std::vector<double> arrived, left;
  for (const Outcome& each : queue_load(limit)) {
    if (!each.admitted) {
      svg.dot(each.at_ms);
      continue;
    }
    svg.bar("arrival", each.at_ms, 0, 11);
    arrived.push_back(each.at_ms);
    left.push_back(each.leaves_ms);
  }
  for (const double at_ms : left) svg.bar("a", at_ms, 13, 33);
  const double most = static_cast<double>(arrived.size());
  for (size_t i = 0; i < arrived.size(); ++i) {
    const double y = kBottom - kGraph * static_cast<double>(i + 1) / most;
    svg.print("<rect class=\"wait\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
              x_of(arrived[i]), y, x_of(left[i]) - x_of(arrived[i]), kGraph / most);
  }
  svg.polyline("in", count_up(arrived, most));
  svg.polyline("sum", count_up(left, most));
  svg.axes("requests", "permits");
  for (const double count : {0.0, most / 2, most}) tick_count(svg, count, most);
}

void draw_speed(Svg& svg, const Limit& limit) {
  svg.legend({{"a", "admitted; the next one waits already"},
              {"sum", "permits a second"},
              {"rate", "warm: the rate"},
              {"cold", "cold: a third of it"}});
  const double full = static_cast<double>(limit.count) * static_cast<double>(kNsPerS) /
                      static_cast<double>(limit.period_ns);
  const auto y_of = [&](double speed) { return kBottom - kGraph * 0.9 * speed / full; };
  State state = fresh_state(limit, kStartNs);
  std::string speeds;
  add_point(&speeds, kLeft, kBottom);
  const std::pair<double, double> busy[] = {{3'000, 30'000}, {48'000, 60'000}};
  for (const auto& [from_ms, to_ms] : busy) {
    const auto grants = grants_under_pressure(limit, &state, from_ms, to_ms);
    add_point(&speeds, x_of(from_ms), kBottom);
    for (size_t i = 0; i < grants.size(); ++i) {
      svg.bar("a", grants[i]);
      if (i == 0) continue;
      const double y = y_of(1000 / (grants[i] - grants[i - 1]));
      add_point(&speeds, x_of(grants[i - 1]), y);
      add_point(&speeds, x_of(grants[i]), y);
    }
    if (to_ms < static_cast<double>(kPictureSeconds) * 1000) {
      add_point(&speeds, x_of(grants.back()), kBottom);
    }
  }
  for (const auto& [shape, speed] : {std::pair("rate", full), std::pair("cold", full / 3)}) {
    std::string line;
    add_point(&line, kLeft, y_of(speed));
    add_point(&line, kLeft + kWidth, y_of(speed));
    svg.polyline(shape, line);
  }
  svg.polyline("sum", speeds);
  svg.axes("requests", "permits a second");
  svg.tick(y_of(full), "2");
  svg.tick(y_of(full / 3), "0.67");
  svg.tick(kBottom, "0");
}

bool draw(const std::string& folder, const Picture& picture) {
  const auto words = weir::split_at_spaces(picture.limit);
  const auto parsed = parse_limits(words);
  if (!parsed || parsed->limits.size() != 1) return false;
  Svg svg(folder + "/" + picture.file + ".svg",
          picture.limit + std::string(picture.shown == Shown::kQueue ? ", as a queue" : ""));
  switch (picture.shown) {
    case Shown::kMeter:
      draw_meter(svg, parsed->limits[0]);
      break;
    case Shown::kQueue:
      draw_queue(svg, parsed->limits[0]);
      break;
    case Shown::kSpeed:
      draw_speed(svg, parsed->limits[0]);
      break;
  }
  return true;
}

}  // namespace
}  // namespace weir::docs

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: draw_algorithms FOLDER\n");
    return 2;
  }
  for (const auto& picture : weir::docs::kPictures) {
    if (weir::docs::draw(argv[1], picture)) continue;
    std::fprintf(stderr, "draw_algorithms: %s\n", picture.limit);
    return 1;
  }
}
