// What kernels.py tells of an entry of generated code.
#pragma once

#include <cstdint>
#include <vector>

#include "eagle/exec/abi.h"

enum class Type { float64, float32, int64, int32, uint32, boolean };

struct Array {
    const char* name;
    Type type;
    int rows;          // components
    int64_t length;    // of a row; 0: an element for each sample
    int word;          // of the block of arguments, which takes its address
    int stride;        // the word that takes the bytes from one row to the next, or -1
};

struct Given {
    int word;
    int64_t value;
};

struct Subject {
    const char* name;
    eagle_entry entry;
    int64_t lanes;
    bool faults, endless;
    int words;    // the size of the block of arguments
    std::vector<Given> given;
    std::vector<Array> arrays;
};
