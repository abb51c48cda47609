# The polynomial's definition is a header; its code generation is lit's.
add_executable(Exp2PolynomialTest ${CMAKE_CURRENT_LIST_DIR}/Exp2PolynomialTest.cpp)
target_link_libraries(Exp2PolynomialTest PRIVATE GTest::gtest_main)
gtest_discover_tests(Exp2PolynomialTest)
