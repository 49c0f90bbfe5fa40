#include "support/data_directory.hpp"

#include <system_error>

namespace edgegpu {

namespace fs = std::filesystem;

fs::path data_directory() {
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    const fs::path beside = (program.parent_path() / EDGEGPU_DATADIR_FROM_BIN).lexically_normal();
    return !program.empty() && fs::is_directory(beside, ignored) ? beside : EDGEGPU_DATADIR;
}

}  // namespace edgegpu
