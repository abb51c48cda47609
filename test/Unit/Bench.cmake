add_executable(BenchTest
  ${CMAKE_CURRENT_LIST_DIR}/BenchBindsTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../../tools/attn-bench/Binds.cpp)
target_link_libraries(BenchTest PRIVATE AttnRuntime AttnSpec GTest::gtest_main)
target_compile_definitions(BenchTest PRIVATE
  ATTN_TEST_KERNELS="${CMAKE_CURRENT_LIST_DIR}/../../kernels")
gtest_discover_tests(BenchTest)
