#pragma once
// Text of any bytes through a parser of UTF-8, and back unchanged: JSON of Slurm's programs holds
// users' comments and folders as they are. Each byte that is not part of UTF-8 becomes a character
// that Unicode leaves to private use (U+10FF00 and the byte), as do the bytes of these characters.

#include <string>
#include <string_view>

namespace allot {

std::string HideForeignBytes(std::string_view text);    // -> UTF-8
std::string ShowForeignBytes(std::string_view hidden);  // and back

}  // namespace allot
