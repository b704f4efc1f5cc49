# Writes report/build_info.cpp with the commit that is checked out now. Run on every build; the file
# changes, and is compiled again, only when the commit does.
execute_process(
  COMMAND git describe --always --dirty --abbrev=12
  WORKING_DIRECTORY "${SOURCE_DIRECTORY}"
  OUTPUT_VARIABLE STEPSIM_COMMIT
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT STEPSIM_COMMIT)
  set(STEPSIM_COMMIT "no commit")
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
