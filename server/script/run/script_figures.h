// The figures of scripts and functions.
#pragma once

#include "server/report/figures.h"

namespace weir::server::script {

class Functions;
class Scripts;

void write_figures(const Scripts& scripts, Functions& functions, FigureWriter& out);

}  // namespace weir::server::script
