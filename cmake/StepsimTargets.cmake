# How every target of the project is made: language level, warnings, sanitizers, floating point.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(STEPSIM_CCACHE ccache)
if(STEPSIM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${STEPSIM_CCACHE}")
endif()

add_library(stepsim_options INTERFACE)
target_compile_options(
  stepsim_options
  INTERFACE -Wall -Wextra -Wpedantic
            -Wshadow # a name that hides another is misread sooner or later
            -Wconversion -Wsign-conversion # bytes and picoseconds must not narrow silently
            -Wnon-virtual-dtor -Woverloaded-virtual
            $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> # g++ 12 reports it falsely inside std::string and std::optional
            $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> # g++ 12 reports it falsely for text + std::string (PR 105651)
            -ffp-contract=off # results are equal to the bit between compilers and machines
            $<$<BOOL:${STEPSIM_WARNINGS_AS_ERRORS}>:-Werror>)
if(STEPSIM_SANITIZE)
  target_compile_options(stepsim_options INTERFACE -fsanitize=${STEPSIM_SANITIZE}
                                                   -fno-sanitize-recover=all
                                                   -fno-omit-frame-pointer)
  target_link_options(stepsim_options INTERFACE -fsanitize=${STEPSIM_SANITIZE})
endif()

# Lowest first. A layer links only layers before it; tests/layering checks the same of #include.
set(STEPSIM_LAYERS units documents sim topology workloads calibrate scenarios report cli)

# Stops the configuration when a layer links one that is not below it.
function(stepsim_check_layer_links name)
  list(FIND STEPSIM_LAYERS "${name}" own_place)
  if(own_place EQUAL -1)
    message(FATAL_ERROR "«${name}» is not a layer. The layers are: ${STEPSIM_LAYERS}")
  endif()
  foreach(library IN LISTS ARGN)
    string(REGEX REPLACE "^stepsim::" "" layer "${library}")
    list(FIND STEPSIM_LAYERS "${layer}" place)
    if(NOT place LESS own_place)
      message(FATAL_ERROR "Layer «${name}» links «${library}», which is not below it")
    endif()
  endforeach()
  if(name STREQUAL "sim" AND "stepsim::documents" IN_LIST ARGN)
    message(FATAL_ERROR "The engine links units and errors only, not «stepsim::documents»")
  endif()
endfunction()

# stepsim_add_layer(NAME SOURCES... PUBLIC targets... PRIVATE targets...)
# One static library a layer, named stepsim_NAME with the alias stepsim::NAME. PUBLIC holds only what
# the layer's headers need.
function(stepsim_add_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  stepsim_check_layer_links(${name} ${LAYER_PUBLIC} ${LAYER_PRIVATE})
  add_library(stepsim_${name} STATIC ${LAYER_SOURCES})
  add_library(stepsim::${name} ALIAS stepsim_${name})
  target_include_directories(stepsim_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_link_libraries(stepsim_${name} PUBLIC ${LAYER_PUBLIC}
                        PRIVATE $<BUILD_INTERFACE:stepsim_options> ${LAYER_PRIVATE})
endfunction()
