// Numbers in a small text file of the system, such as those below /sys. By C's calls: a C++ library that is linked in
// statically may take the locales of another in the process for its own, and a stream then ends in a segmentation fault.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace nearfield {

// Whole numbers up to the first other word; none where there is no such file.
inline std::vector<int> numbers_in_file(const std::string& path) {
    std::vector<int> numbers;
    if (std::FILE* const file = std::fopen(path.c_str(), "re")) {
        for (int number; std::fscanf(file, "%d", &number) == 1;) numbers.push_back(number);
        std::fclose(file);
    }
    return numbers;
}

}  // namespace nearfield
