// The figures of a Report, in the groups in which INFO shows them.
#pragma once

#include "server/report/figures.h"
#include "server/report/report.h"

namespace weir::server {

// Connections and commands, with their rates.
void write_traffic_figures(const Report& report, FigureWriter& out);
void write_look_up_figures(const Report& report, FigureWriter& out);
void write_socket_figures(const Report& report, FigureWriter& out);
void write_turn_figures(const Report& report, FigureWriter& out);
void write_loop_figures(const Report& report, FigureWriter& out);
// A row for each word with which errors began.
void write_error_figures(const Report& report, FigureWriter& out);

}  // namespace weir::server
