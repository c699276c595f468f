// Replaces a file's content at once: after a crash the file has the old content or the new one.
#pragma once

#include <string>

namespace weir::server {

// The file keeps its mode, since it may hold passwords; a new file can be read by its owner only.
// If the path is a link, what it points to is replaced. Answers 0, or the errno of the step that
// failed.
int replace_file(const std::string& path, const std::string& text);

}  // namespace weir::server
