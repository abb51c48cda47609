add_executable(TargetTest ${CMAKE_CURRENT_LIST_DIR}/TargetTest.cpp)
target_link_libraries(TargetTest PRIVATE AttnTarget GTest::gtest_main)
gtest_discover_tests(TargetTest)
