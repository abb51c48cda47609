if(TARGET AttnCodegen)
  add_executable(CodegenCpuTest ${CMAKE_CURRENT_LIST_DIR}/CodegenCpuTest.cpp
    ${CMAKE_CURRENT_LIST_DIR}/CpuProgram.cpp)
  target_compile_definitions(CodegenCpuTest PRIVATE
    ATTN_TEST_CODEGEN_DIR="${CMAKE_CURRENT_LIST_DIR}/../Codegen")
  target_link_libraries(CodegenCpuTest PRIVATE AttnCodegen TileDialect
    GTest::gtest_main ${CMAKE_DL_LIBS})
  gtest_discover_tests(CodegenCpuTest)
endif()
