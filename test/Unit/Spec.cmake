add_executable(SpecTest 
  ${CMAKE_CURRENT_LIST_DIR}/SpecDiagnosticsTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/SpecRecoveryTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/SpecWordsTest.cpp)
target_link_libraries(SpecTest PRIVATE AttnSpec GTest::gtest_main)
gtest_discover_tests(SpecTest)
