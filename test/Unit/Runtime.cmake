add_executable(RuntimeTest
  ${CMAKE_CURRENT_LIST_DIR}/RuntimeCudaTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/RuntimeTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/RuntimeLengthsTest.cpp)
target_link_libraries(RuntimeTest PRIVATE AttnRuntime GTest::gtest_main)
# The compiler that makes the fixture's shared object while the test runs.
target_compile_definitions(RuntimeTest PRIVATE
  ATTN_TEST_CC="${CMAKE_C_COMPILER}")
gtest_discover_tests(RuntimeTest)
