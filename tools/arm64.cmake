# A build for ARM64 by Debian's cross-compiler (the preset arm64), with libraries of that processor from the system that it
# runs on: tools/install-deps build-arm64. What tests run for it, they run by qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# pkg-config would answer for the processor that it runs on.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
find_program(WEIR_EMULATOR NAMES qemu-aarch64-static qemu-aarch64)
if(WEIR_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${WEIR_EMULATOR})
endif()
