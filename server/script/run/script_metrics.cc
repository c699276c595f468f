#include "server/script/run/script_metrics.h"

#include "server/script/run/functions.h"
#include "server/script/run/scripts.h"

namespace weir::server::script {
namespace {

size_t library_bytes(Functions& functions) {
  size_t bytes = 0;
  for (const auto& [name, library] : functions.libraries()) {
    bytes += sizeof(Library) + name.size() + library->code.size();
    for (const auto& function : library->functions)
      bytes += sizeof function + function.name.size() + function.description.value_or("").size();
  }
  return bytes;
}

}  // namespace

size_t memory_bytes(const Scripts& scripts, Functions& functions) {
  const ScriptMetrics metrics = scripts.metrics();
  return metrics.engine_bytes + metrics.body_bytes + functions.engine_bytes() +
         library_bytes(functions);
}

void write_metrics(const Scripts& scripts, Functions& functions, MetricWriter& out) {
  const ScriptMetrics metrics = scripts.metrics();
  const size_t functions_vm_bytes = functions.engine_bytes();
  const size_t functions_bytes = library_bytes(functions);
  constexpr MetricUnit kBytes = MetricUnit::kBytes;
  constexpr MetricUnit kMemory = MetricUnit::kMemory;
  out.gauge({"used_memory_lua", "Bytes of the Lua state of scripts, by its old name.", kMemory},
            metrics.engine_bytes);
  out.gauge({"used_memory_vm_eval", "Bytes of the Lua state of scripts.", kBytes},
            metrics.engine_bytes);
  out.gauge({"used_memory_scripts_eval", "Bytes of the scripts that are kept.", kBytes},
            metrics.body_bytes);
  out.gauge({"number_of_cached_scripts", "Scripts that are kept."}, metrics.scripts);
  out.gauge({"number_of_functions", "Functions of all libraries."}, functions.function_count());
  out.gauge({"number_of_libraries", "Libraries of functions."}, functions.libraries().size());
  out.gauge({"used_memory_vm_functions", "Bytes of the Lua state of functions.", kBytes},
            functions_vm_bytes);
  out.gauge({"used_memory_vm_total", "Bytes of both Lua states.", kMemory},
            metrics.engine_bytes + functions_vm_bytes);
  out.gauge({"used_memory_functions", "Bytes of the libraries of functions.", kBytes},
            functions_bytes);
  out.gauge({"used_memory_scripts", "Bytes of scripts and libraries.", kMemory},
            metrics.body_bytes + functions_bytes);
  out.counter({"evicted_scripts", "Scripts of EVAL that were given up."}, metrics.evicted);
}

}  // namespace weir::server::script
