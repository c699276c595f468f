# Writes the file that says of which commit a program was built:
#     cmake -D SOURCE=. -D VERSION=0.1.0 -D TARGET=built_version.cc -P tools/built_version.cmake
#
# No two commits have one version, and dpkg sorts them as they follow one another:
#     0.1.0                        the commit that the tag v0.1.0 names, or a tree without git
#     0.1.0+12.g115dc5711          12 commits after that tag
#     0.1.0~1234.g115dc5711        1234 commits, and no tag of that version yet: it sorts before 0.1.0
#     0.1.0~rc1                    the tag v0.1.0-rc1; after it 0.1.0~rc1+3.g115dc5711
#     ... .dirty                   with changes that are in no commit
# Where git is not, as in an image's build, WEIR_REVISION in the environment may name the commit:
#     0.1.0~0.g115dc5711           it sorts as older than any other of 0.1.0
# The file is written only if it changes, so that nothing is linked anew without need.
function(ask_git answer)
  # A build may run as another user than the one who owns the clone, and must not lock its index.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0 git -c safe.directory=* -C ${SOURCE} ${ARGN}
                  OUTPUT_VARIABLE text ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(text "")
  endif()
  set(${answer} "${text}" PARENT_SCOPE)
endfunction()

# Answers nothing where there is no commit. A tree that was unpacked inside somebody else's repository is
# none of its commits.
function(find_version answer)
  set(${answer} "" PARENT_SCOPE)
  ask_git(top rev-parse --show-toplevel)
  file(REAL_PATH "${SOURCE}" place)
  if(NOT "${top}" STREQUAL "${place}")
    return()
  endif()
  ask_git(described describe --tags --long --always --dirty --abbrev=9 --match "v[0-9]*")
  if(NOT described MATCHES "^(v(.*)-([0-9]+)-g)?([0-9a-f]+)(-dirty)?$")
    return()
  endif()
  set(tag "${CMAKE_MATCH_2}")
  set(commits "${CMAKE_MATCH_3}")
  set(commit "g${CMAKE_MATCH_4}")
  string(REPLACE "-" "." dirty "${CMAKE_MATCH_5}")
  if(tag STREQUAL "")
    ask_git(commits rev-list --count HEAD)
  endif()
  string(REGEX REPLACE "-.*" "" tagged "${tag}")
  string(REPLACE "-" "~" tag "${tag}")
  if(NOT tagged STREQUAL VERSION)
    set(version "${VERSION}~${commits}.${commit}${dirty}")
  elseif(commits EQUAL 0 AND dirty STREQUAL "")
    set(version "${tag}")
  else()
    set(version "${tag}+${commits}.${commit}${dirty}")
  endif()
  set(${answer} "${version}" PARENT_SCOPE)
endfunction()

find_version(version)
set(revision "$ENV{WEIR_REVISION}")
if(version STREQUAL "" AND revision MATCHES "^[0-9a-f]+$")
  string(SUBSTRING "${revision}" 0 9 revision)
  set(version "${VERSION}~0.g${revision}")
elseif(version STREQUAL "")
  set(version "${VERSION}")
endif()
string(CONCAT text
  "// Written by tools/built_version.cmake.\n"
  "#include \"server/os/version.h\"\n\n"
  "namespace weir::server {\n\n"
  "std::string_view built_version() { return \"${version}\"; }\n\n"
  "}  // namespace weir::server\n")
file(CONFIGURE OUTPUT ${TARGET} CONTENT "${text}" @ONLY)
