# Finds LLVM and MLIR 22 and sets up table generation. The distribution's MLIR
# package is not on CMake's default path, so ask llvm-config where it lives.
if(NOT MLIR_DIR)
  find_program(LLVM_CONFIG NAMES llvm-config-22 llvm-config)
  if(NOT LLVM_CONFIG)
    message(FATAL_ERROR "llvm-config-22 not found. Run tools/quickstart.sh, which "
      "installs LLVM 22, or pass -DMLIR_DIR=<prefix>/lib/cmake/mlir, or "
      "-DATTN_RUNNER_ONLY=ON to build attn-bench alone.")
  endif()
  execute_process(COMMAND ${LLVM_CONFIG} --prefix
    OUTPUT_VARIABLE LLVM_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(MLIR_DIR ${LLVM_PREFIX}/lib/cmake/mlir)
endif()
# The package accepts only an exact version, so compare the major by hand.
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "attn needs MLIR 22, found ${LLVM_VERSION} at ${MLIR_DIR}. "
    "Pass -DMLIR_DIR=<prefix>/lib/cmake/mlir of an MLIR 22.")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
# LLVM_DEFINITIONS is one string; passed as it is, CMake would mangle it.
separate_arguments(LLVM_DEFINITION_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${LLVM_DEFINITION_LIST})

# attn_mlir_library(name sources...): a static library of ours on MLIR.
function(attn_mlir_library name)
  add_library(${name} STATIC ${ARGN})
  # Only ever the shared libraries: two copies of MLIR in one process is the
  # alternative.
  target_link_libraries(${name} PUBLIC MLIR LLVM)
endfunction()
