#pragma once
// Which process of this machine listens at a TCP port, for the message of a daemon that cannot.

#include <cstdint>
#include <string>

namespace allot {

// "process 4711 (python3) of user eve", or less where the system shows this user less of others:
// "a process of user eve", "an unknown process". IPv4. Reads /proc.
std::string PortHolder(std::uint16_t port);

}  // namespace allot
