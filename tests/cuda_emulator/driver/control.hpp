// What tests set and ask.
#pragma once

namespace eagle::emu {

int driver_version();  // what it poses as: 12040 is 12.4

}  // namespace eagle::emu
