add_executable(BundleTest ${CMAKE_CURRENT_LIST_DIR}/BundleTest.cpp)
target_link_libraries(BundleTest PRIVATE AttnBundle GTest::gtest_main)
target_compile_definitions(BundleTest PRIVATE
  ATTN_TEST_CXX="${CMAKE_CXX_COMPILER}")
# The launcher header is compiled where the driver API's header is.
find_path(ATTN_CUDA_INCLUDE cuda.h
  PATHS /usr/local/cuda/include $ENV{CUDA_HOME}/include)
if(ATTN_CUDA_INCLUDE)
  target_compile_definitions(BundleTest PRIVATE
    ATTN_TEST_CUDA_INCLUDE="${ATTN_CUDA_INCLUDE}")
else()
  message(STATUS "cuda.h not found: the launcher header's compile test is off")
endif()
gtest_discover_tests(BundleTest)
# Tests of one process share what the first of them made: signal handlers, threads.
add_test(NAME BundleTestInOneProcess
  COMMAND BundleTest "--gtest_filter=*Scratch*:*Interrupt*")
