if(TARGET AttnCodegen)
  add_executable(RunningMaxTest ${CMAKE_CURRENT_LIST_DIR}/RunningMaxTest.cpp
    ${CMAKE_CURRENT_LIST_DIR}/CpuProgram.cpp)
  target_compile_definitions(RunningMaxTest PRIVATE
    ATTN_TEST_CODEGEN_DIR="${CMAKE_CURRENT_LIST_DIR}/../Codegen")
  target_link_libraries(RunningMaxTest PRIVATE AttnCodegen AttnSchedule TileDialect
    GTest::gtest_main ${CMAKE_DL_LIBS})
  gtest_discover_tests(RunningMaxTest)
endif()
