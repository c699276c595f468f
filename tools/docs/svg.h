// An SVG file, and the parts that all pictures of an algorithm have: a card with a title, a legend
// in words, a strip of requests and a graph below it, both over the same seconds.
//
// A picture has a background of its own, light or dark as the page asks for it, so that it can be
// read on either, also where nobody asks.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace weir::docs {

inline constexpr int64_t kPictureSeconds = 60;
inline constexpr double kLeft = 62, kWidth = 640, kTop = 64, kBars = 34, kGap = 18, kGraph = 150;
inline constexpr double kBarsBase = kTop + kBars, kBottom = kTop + kBars + kGap + kGraph;

// Where an instant, in milliseconds from the left end, stands across.
double x_of(double at_ms);

// One entry of a legend. `shape` is a class of the style sheet, and says how it is drawn: a bar
// (a, arrival), a dot (d), an area (wait) or a line.
struct LegendEntry {
  const char* shape;
  const char* words;
};

class Svg {
 public:
  // Opens the file, or ends the program with what is wrong.
  Svg(const std::string& path, const std::string& title);
  ~Svg();
  Svg(const Svg&) = delete;
  Svg& operator=(const Svg&) = delete;

  template <typename... Values>
  void print(const char* format, Values... values) {
    std::fprintf(file_, format, values...);
  }
  void legend(const std::vector<LegendEntry>& entries);
  // A request: a bar in the strip, between two heights above its base, or a dot.
  void bar(const char* shape, double at_ms, double from = 0, double to = 24);
  void dot(double at_ms);
  void polyline(const char* shape, const std::string& points);
  // The x axis with its seconds, and the name of the graph's y axis.
  void axes(const char* strip_name, const char* graph_name);
  // A number at the y axis.
  void tick(double y, const std::string& text);

 private:
  std::FILE* file_;
};

// Adds a point to a polyline.
void add_point(std::string* points, double x, double y);

}  // namespace weir::docs
