// A file's content changed at once: after a crash it is the old one or the new one.
#pragma once

#include <string>

namespace weir::server {

// Keeps the mode, since the file may hold passwords; a new file is the owner's alone. A link stays
// a link: what it points to is replaced. Answers 0, or the errno of the step that failed.
int replace_file(const std::string& path, const std::string& text);

}  // namespace weir::server
