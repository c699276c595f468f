// Draws one picture per algorithm: the same bursty load, and what is admitted of it over time. The
// decisions are the real algorithms'. `draw_algorithms FOLDER` writes FOLDER/<name>.svg.
//
// Above: every request, admitted (a bar upwards) or denied (a dot). Below: permits admitted in all,
// against the requests offered and the rate's own line. Colours are readable on light and dark.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "tests/algorithms/map_entries.h"

namespace {

using namespace weir::algorithms;
using weir::kNsPerMs;
using weir::kNsPerS;

constexpr int64_t kSecond = kNsPerS;
constexpr int64_t kStartNs = 1'700'000'000 * kSecond;  // a whole number of minutes, and of 20 s
constexpr int64_t kSeconds = 60;

struct Picture {
  const char* file;
  const char* limit;
};
// The same rate for all: 10 permits in 10 seconds.
constexpr Picture kPictures[] = {
    {"gcra", "GCRA 10/10s"},
    {"tokenbucket", "TOKENBUCKET 10/10s"},
    {"tokenbucket-interval", "TOKENBUCKET 10/10s REFILL INTERVAL"},
    {"leaky", "LEAKY 10/10s CAPACITY 5"},
    {"fixed", "FIXED 10/10s"},
    {"fixed-epoch", "FIXED 10/10s ALIGN EPOCH"},
    {"slidinglog", "SLIDINGLOG 10/10s"},
    {"slidingwindow", "SLIDINGWINDOW 10/10s BUCKETS 5 PERBUCKET 4"},
    {"slidingcounter", "SLIDINGCOUNTER 10/10s"},
    {"bursty", "BURSTY 10/10s MAXBURST 5s"},
    {"warmup", "WARMUP 10/10s OVER 15s"},
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
  int64_t at_ms;
  bool admitted;
};

std::vector<Outcome> run(const Limit& limit) {
  State state = fresh_state(limit, kStartNs);
  testing::MapEntries entries;
  std::vector<Outcome> outcomes;
  int64_t lease = 0;
  for (const int64_t at_ms : load()) {
    const auto verdict = decide(limit, state,
                                {.now_ns = kStartNs + at_ms * kNsPerMs,
                                 .entries = limit.algorithm->uses_entries ? &entries : nullptr,
                                 .lease_id = ++lease});
    outcomes.push_back({at_ms, verdict.allowed});
  }
  return outcomes;
}

constexpr double kLeft = 46, kWidth = 640, kTop = 26, kBars = 34, kGap = 16, kGraph = 150;

double x_of(int64_t at_ms) { return kLeft + kWidth * double(at_ms) / double(kSeconds * 1000); }

class Svg {
 public:
  explicit Svg(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
    if (file_ == nullptr) {
      std::perror(path.c_str());
      std::exit(1);
    }
  }
  ~Svg() { std::fclose(file_); }
  Svg(const Svg&) = delete;
  Svg& operator=(const Svg&) = delete;

  template <typename... Values>
  void print(const char* format, Values... values) {
    std::fprintf(file_, format, values...);
  }

 private:
  FILE* file_;
};

void print_head(Svg& svg, const std::string& title) {
  const double height = kTop + kBars + kGap + kGraph + 30;
  svg.print(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"sans-serif\" "
      "font-size=\"12\">\n<title>%s</"
      "title>\n<style>text{fill:#777}.a{stroke:#2a78d6;stroke-width:2}"
      ".d{fill:#e34948}.axis{stroke:#999;stroke-width:1}.offered{fill:none;stroke:#999;"
      "stroke-dasharray:2 3;stroke-width:1.5}.rate{stroke:#1baf7a;stroke-width:1.5;"
      "stroke-dasharray:6 4}.sum{fill:none;stroke:#2a78d6;stroke-width:2.5}</style>\n",
      kLeft + kWidth + 20, height, title.c_str());
  svg.print("<text x=\"%.0f\" y=\"16\" font-weight=\"bold\">%s</text>\n", kLeft, title.c_str());
}

void print_requests(Svg& svg, const std::vector<Outcome>& outcomes) {
  const double base = kTop + kBars;
  for (const Outcome& each : outcomes) {
    const double x = x_of(each.at_ms);
    if (each.admitted) {
      svg.print("<line class=\"a\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x, base, x,
                base - 24);
    } else {
      svg.print("<circle class=\"d\" cx=\"%.1f\" cy=\"%.1f\" r=\"1.6\"/>\n", x, base - 3);
    }
  }
}

void print_sums(Svg& svg, const std::vector<Outcome>& outcomes) {
  const double bottom = kTop + kBars + kGap + kGraph;
  const double most = double(outcomes.size());
  const auto y_of = [&](double count) { return bottom - kGraph * count / most; };
  std::string admitted, offered;
  char point[64];
  double in = 0, of = 0;
  const auto add = [&](std::string* path, double x, double y) {
    std::snprintf(point, sizeof point, "%.1f,%.1f ", x, y);
    *path += point;
  };
  add(&admitted, kLeft, bottom);
  add(&offered, kLeft, bottom);
  for (const Outcome& each : outcomes) {
    const double x = x_of(each.at_ms);
    add(&offered, x, y_of(of));
    add(&offered, x, y_of(++of));
    add(&admitted, x, y_of(in));
    if (each.admitted) add(&admitted, x, y_of(++in));
  }
  add(&admitted, kLeft + kWidth, y_of(in));
  add(&offered, kLeft + kWidth, y_of(of));
  svg.print("<polyline class=\"offered\" points=\"%s\"/>\n", offered.c_str());
  svg.print("<line class=\"rate\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kLeft,
            bottom, kLeft + kWidth, y_of(double(kSeconds)));
  svg.print("<polyline class=\"sum\" points=\"%s\"/>\n", admitted.c_str());
  svg.print("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%.0f</text>\n", kLeft - 6,
            y_of(of) + 4, of);
  svg.print("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%.0f</text>\n", kLeft - 6,
            y_of(in) + 4, in);
}

void print_axis(Svg& svg) {
  const double bottom = kTop + kBars + kGap + kGraph;
  svg.print("<line class=\"axis\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>\n", kLeft,
            bottom, kLeft + kWidth, bottom);
  for (int64_t second = 0; second <= kSeconds; second += 10) {
    svg.print("<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
              x_of(second * 1000), bottom, x_of(second * 1000), bottom + 4);
    svg.print("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d s</text>\n",
              x_of(second * 1000), bottom + 18, int(second));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: draw_algorithms FOLDER\n");
    return 2;
  }
  for (const Picture& picture : kPictures) {
    const auto words = weir::split_at_spaces(picture.limit);
    const auto parsed = parse_limits(words);
    if (!parsed || parsed->limits.size() != 1) {
      std::fprintf(stderr, "draw_algorithms: %s\n", picture.limit);
      return 1;
    }
    const auto outcomes = run(parsed->limits[0]);
    Svg svg(std::string(argv[1]) + "/" + picture.file + ".svg");
    print_head(svg, picture.limit);
    print_requests(svg, outcomes);
    print_sums(svg, outcomes);
    print_axis(svg);
    svg.print("%s\n", "</svg>");
  }
}
