/// The program that libFuzzer drives: EDGEGPU_FUZZ_TARGET names the target. scripts/fuzz runs it.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuzz/targets.hpp"

namespace {

const edgegpu::fuzz::Target& chosen() {
    const char* const name = std::getenv("EDGEGPU_FUZZ_TARGET");
    for (const edgegpu::fuzz::Target& target : edgegpu::fuzz::targets()) {
        if (name != nullptr && target.name == std::string_view(name)) {
            return target;
        }
    }
    std::fputs("EDGEGPU_FUZZ_TARGET has to be one of:", stderr);
    for (const edgegpu::fuzz::Target& target : edgegpu::fuzz::targets()) {
        std::fprintf(stderr, " %s", target.name);
    }
    std::fputs("\n", stderr);
    std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const edgegpu::fuzz::Target& target = chosen();
    target.one_input({reinterpret_cast<const char*>(data), size});
    return 0;
}
