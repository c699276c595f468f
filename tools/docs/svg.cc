#include "tools/docs/svg.h"

#include <cstdlib>
#include <cstring>

namespace weir::docs {
namespace {

constexpr double kMargin = 16, kHeight = kBottom + 48, kTotalWidth = kLeft + kWidth + kMargin;

// First the colours of a light page. What a dark page changes comes after.
constexpr const char* kStyle =
    ".card{fill:#ffffff;stroke:#d0d7de}text{fill:#24292f}.small{fill:#57606a}"
    ".a{stroke:#2a6fc9;stroke-width:2}.arrival{stroke:#8c959f;stroke-width:2}.d{fill:#d1332e}"
    ".axis{stroke:#8c959f;stroke-width:1}"
    ".offered,.in{fill:none;stroke:#6e7781;stroke-width:1.5}.offered{stroke-dasharray:2 3}"
    ".rate{fill:none;stroke:#12805a;stroke-width:1.5;stroke-dasharray:6 4}"
    ".cold{fill:none;stroke:#8250df;stroke-width:1.5;stroke-dasharray:2 3}"
    ".sum{fill:none;stroke:#2a6fc9;stroke-width:2.5}.wait{fill:#2a6fc9;fill-opacity:.2}"
    "@media(prefers-color-scheme:dark){"
    ".card{fill:#0d1117;stroke:#30363d}text{fill:#e6edf3}.small{fill:#9da7b3}"
    ".a,.sum{stroke:#58a6ff}.arrival{stroke:#9da7b3}.d{fill:#ff7b72}.axis{stroke:#6e7681}"
    ".offered,.in{stroke:#9da7b3}.rate{stroke:#3fb68b}.cold{stroke:#bc8cff}.wait{fill:#58a6ff}}";

// About as wide as the words are shown.
double width_of(const char* words) { return 6.3 * static_cast<double>(std::strlen(words)); }

}  // namespace

double x_of(double at_ms) {
  return kLeft + kWidth * at_ms / static_cast<double>(kPictureSeconds * 1000);
}

Svg::Svg(const std::string& path, const std::string& title) : file_(std::fopen(path.c_str(), "w")) {
  if (file_ == nullptr) {
    std::perror(path.c_str());
    std::exit(1);
  }
  print(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>%s</title>\n<style>%s</style>\n",
      kTotalWidth, kHeight, title.c_str(), kStyle);
  print("<rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"%.0f\" height=\"%.0f\" rx=\"6\"/>\n",
        kTotalWidth - 1, kHeight - 1);
  print("<text x=\"%.0f\" y=\"22\" font-weight=\"bold\">%s</text>\n", kMargin, title.c_str());
}

Svg::~Svg() {
  print("%s\n", "</svg>");
  std::fclose(file_);
}

void Svg::legend(const std::vector<LegendEntry>& entries) {
  double x = kMargin;
  const double y = 40;
  for (const LegendEntry& entry : entries) {
    const std::string shape = entry.shape;
    if (shape == "a" || shape == "arrival") {
      print("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", entry.shape,
            x + 8, y + 5, x + 8, y - 7);
    } else if (shape == "d") {
      print("<circle class=\"d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\"/>\n", x + 8, y);
    } else if (shape == "wait") {
      print("<rect class=\"wait\" x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"11\"/>\n", x, y - 6);
    } else {
      print("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", entry.shape,
            x, y, x + 18, y);
    }
    print("<text class=\"small\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 23, y + 4, entry.words);
    x += 23 + width_of(entry.words) + 14;
  }
}

void Svg::bar(const char* shape, double at_ms, double from, double to) {
  const double x = x_of(at_ms);
  print("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", shape, x,
        kBarsBase - from, x, kBarsBase - to);
}

void Svg::dot(double at_ms) {
  print("<circle class=\"d\" cx=\"%.1f\" cy=\"%.1f\" r=\"1.8\"/>\n", x_of(at_ms), kBarsBase - 3);
}

void Svg::polyline(const char* shape, const std::string& points) {
  print("<polyline class=\"%s\" points=\"%s\"/>\n", shape, points.c_str());
}

void Svg::axes(const char* strip_name, const char* graph_name) {
  const double y_of_name = kBottom - kGraph / 2;
  for (const double y : {kBarsBase, kBottom}) {
    print("<line class=\"axis\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>\n", kLeft, y,
          kLeft + kWidth, y);
  }
  print("<line class=\"axis\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>\n", kLeft, kBottom,
        kLeft, kBottom - kGraph);
  for (int64_t second = 0; second <= kPictureSeconds; second += 10) {
    const double x = x_of(static_cast<double>(second) * 1000);
    print("<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x, kBottom, x,
          kBottom + 4);
    print("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d</text>\n", x, kBottom + 18,
          static_cast<int>(second));
  }
  print(
      "<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">time, in "
      "seconds</text>\n",
      kLeft + kWidth / 2, kBottom + 36);
  print("<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", kLeft - 6,
        kBarsBase - 8, strip_name);
  print(
      "<text class=\"small\" text-anchor=\"middle\" transform=\"translate(20 %.1f) rotate(-90)\">"
      "%s</text>\n",
      y_of_name, graph_name);
}

void Svg::tick(double y, const std::string& text) {
  print("<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kLeft - 4, y,
        kLeft, y);
  print("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", kLeft - 7, y + 4,
        text.c_str());
}

void add_point(std::string* points, double x, double y) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f,%.1f ", x, y);
  *points += text;
}

}  // namespace weir::docs
