// Replaces a file's content at once: after a crash the file has the old content or the new one.
#pragma once

#include <string>

namespace weir::server {

// The file keeps its mode, since it may hold passwords; a new file can be read by its owner only.
// Answers 0, or the errno of the step that failed.
//
// If the path is a link, what it points to is replaced: a configuration may be kept elsewhere. A
// file that only weir writes has no business elsewhere, and who may put a link into its directory
// must not choose what else is written over: there the link itself is replaced.
enum class Links { kAreFollowed, kAreReplaced };
int replace_file(const std::string& path, const std::string& text,
                 Links links = Links::kAreFollowed);

}  // namespace weir::server
