// weir-bench: loads a server that speaks RESP, measures it and checks every reply.
//
// Ends with 0 when every reply was right, 1 when not, 2 when it was called wrongly.
#include <cstdio>

#include "tools/weir_bench/collection_load.h"
#include "tools/weir_bench/load.h"

int main(int argc, char** argv) {
  using namespace weir::bench;
  const auto options = parse_options(argc, argv);
  if (!options) {
    std::fprintf(stderr, "weir-bench: %s\n\n%s", options.error().c_str(), usage().c_str());
    return 2;
  }
  const Report report =
      is_collection(options->kind) ? CollectionLoad(*options).run() : Load(*options).run();
  const std::string text = options->json ? to_json(*options, report) : to_text(*options, report);
  std::fputs(text.c_str(), stdout);
  return report.all_good() ? 0 : 1;
}
