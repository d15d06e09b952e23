# What find_package(eagle_exec) reads: it defines the target eagle::exec.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/eagle_execTargets.cmake")
