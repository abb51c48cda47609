add_executable(GpuLayoutTest ${CMAKE_CURRENT_LIST_DIR}/GpuLayoutTest.cpp)
target_link_libraries(GpuLayoutTest PRIVATE GTest::gtest_main)
gtest_discover_tests(GpuLayoutTest)
