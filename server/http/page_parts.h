// The files of server/http/page/, compiled in (tools/embed_page.cmake).
#pragma once

#include <span>
#include <string_view>

namespace weir::server::http {

struct PagePart {
  std::string_view path;  // "/" is index.html, any other "/page/NAME"
  std::string_view content_type;
  std::string_view body;
};
std::span<const PagePart> page_parts();

}  // namespace weir::server::http
