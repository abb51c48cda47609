add_executable(BenchTest
  ${CMAKE_CURRENT_LIST_DIR}/BenchBindsTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/BenchInputTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/BenchMemoryTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ProgressTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../../tools/attn-bench/Binds.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../../tools/attn-bench/Compile.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../../tools/attn-bench/Input.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../../tools/attn-bench/Memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../../tools/Progress.cpp)
target_link_libraries(BenchTest PRIVATE AttnRuntime AttnSpec
  fmt::fmt-header-only GTest::gtest_main)
target_compile_definitions(BenchTest PRIVATE
  ATTN_TEST_BUNDLE="${CMAKE_CURRENT_LIST_DIR}/../Tools/Inputs/bench"
  ATTN_TEST_KERNELS="${CMAKE_CURRENT_LIST_DIR}/../../kernels")
gtest_discover_tests(BenchTest)
