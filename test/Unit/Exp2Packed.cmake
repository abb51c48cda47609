# The arithmetic is a header; its code generation is lit's.
add_executable(Exp2PackedTest ${CMAKE_CURRENT_LIST_DIR}/Exp2PackedTest.cpp)
target_link_libraries(Exp2PackedTest PRIVATE GTest::gtest_main)
gtest_discover_tests(Exp2PackedTest)
