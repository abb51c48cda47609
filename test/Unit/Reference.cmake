add_executable(ReferenceTest
  ${CMAKE_CURRENT_LIST_DIR}/ReferenceCompareTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ReferenceEvaluateTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ReferenceFloatTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ReferenceInputsTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ReferenceStepsTest.cpp)
target_link_libraries(ReferenceTest PRIVATE AttnReference AttnSpec GTest::gtest_main)
gtest_discover_tests(ReferenceTest)
